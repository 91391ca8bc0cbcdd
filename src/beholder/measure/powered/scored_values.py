"""Judged images with their scores, and scored images that nobody judged: the sample of a powered rating."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.judgements.generator_values import GeneratorValues
from beholder.measure.joined import dense_codes
from beholder.stats.prediction.prediction_powered import Powered, powered

LEAST = 2
"""Labels, raters, judged units and further units that prediction-powered inference needs at least, of each."""


@dataclass(frozen=True, eq=False)
class ScoredValues:
    """One generator: its labels with their scores, the scores of what nobody judged, and how much there is."""

    generator: str
    sample: Powered
    raters: int
    units: int
    """Judged images; of comparisons, judged prompts."""


def scored_values(
    values: GeneratorValues, scores: pl.DataFrame, images: pl.DataFrame, *, directed: bool
) -> list[ScoredValues]:
    """Join the values of generators with a score of their images.

    The unit is the image, or of comparisons the prompt: judged ones are the labelled rows, scored ones that
    nobody judged the others. For a comparison, the score is that of the image less that of its rival; a prompt
    that nobody judged has the mean of these differences, weighted as often as raters met each rival. Scores are
    brought to the spread of the generator's values, so that λ from 0 to 1 is about their
    correlation, whichever the generator.

    Args:
        values: Judgements as values of generators.
        scores: ``image`` and ``score``, of generated images.
        images: The table ``images``.
        directed: Whether higher scores are known to be better; if not, the sign of their covariance with the
            values within generators decides.

    Returns:
        One entry per generator that has at least two of everything, in the order of their names.
    """
    compared = values.rows["rival"].is_not_null().any()
    generated = images.filter(~pl.col("real") & ~pl.col("gold")).select("image", "generator", "prompt")
    scored = generated.join(scores.select("image", "score"), on="image", maintain_order="left")
    labelled = _compared_rows(values.rows, scored) if compared else _single_rows(values.rows, scored)
    if labelled.is_empty():
        return []
    judged = pl.concat([values.rows["image"], values.rows["other"]]).drop_nulls().unique()
    sign = 1.0 if directed else _sign(labelled)
    rater, unit = dense_codes(labelled["rater"]), dense_codes(labelled["unit"])
    labels, scores_of_rows = _column(labelled, "value"), _column(labelled, "score")
    samples: list[ScoredValues] = []
    for generator in labelled["generator"].unique().sort():
        rows = (labelled["generator"] == generator).to_numpy()
        further = (
            _further_prompts(generator, labelled, scored, judged)
            if compared
            else scored.filter((pl.col("generator") == generator) & ~pl.col("image").is_in(judged.implode()))[
                "score"
            ]
        )
        raters, units = len(np.unique(rater[rows])), len(np.unique(unit[rows]))
        if min(raters, units, len(further)) >= LEAST:
            clusters = np.stack([rater[rows], unit[rows]], axis=1)
            factor = sign * _scale(labels[rows], scores_of_rows[rows])
            sample = powered(
                labels[rows],
                factor * scores_of_rows[rows],
                factor * further.to_numpy(),
                clusters=clusters,
            )
            samples.append(ScoredValues(generator, sample, raters, units))
    return samples


def _single_rows(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    joined = rows.join(scored.select("image", "score"), on="image", maintain_order="left")
    return joined.with_columns(unit="image")


def _compared_rows(rows: pl.DataFrame, scored: pl.DataFrame) -> pl.DataFrame:
    """Return the comparisons whose images both have a score, and one prompt."""
    first = scored.select("image", "score", unit="prompt")
    second = scored.select(other="image", rival_score="score", rival_prompt="prompt")
    return (
        rows.join(first, on="image", maintain_order="left")
        .join(second, on="other", maintain_order="left")
        .filter(pl.col("unit") == pl.col("rival_prompt"))
        .with_columns(score=pl.col("score") - pl.col("rival_score"))
    )


def _further_prompts(generator: str, labelled: pl.DataFrame, scored: pl.DataFrame, judged: pl.Series) -> pl.Series:
    """Return the score difference of each prompt that nobody judged and for which all rivals made an image."""
    votes = labelled.filter(pl.col("generator") == generator)
    weights = votes.group_by("rival").agg(weight=pl.len() / votes.height)
    judged_prompts = scored.filter(pl.col("image").is_in(judged.implode()))["prompt"].unique()
    means = (
        scored.filter(pl.col("prompt").is_not_null() & ~pl.col("prompt").is_in(judged_prompts.implode()))
        .group_by("prompt", "generator")
        .agg(pl.col("score").mean())
    )
    own = means.filter(pl.col("generator") == generator).select("prompt", own="score")
    rivals = means.join(weights, left_on="generator", right_on="rival").join(own, on="prompt")
    differences = (
        rivals.sort("prompt", "generator")  # in one order, so that sums are the same to the last bit
        .group_by("prompt")
        .agg(
            score=((pl.col("own") - pl.col("score")) * pl.col("weight")).sum(),
            complete=pl.len() == weights.height,
        )
        .filter("complete")
    )
    return differences.sort("prompt")["score"]


def _sign(labelled: pl.DataFrame) -> float:
    """Return 1 where higher scores go with higher values within generators, otherwise −1."""
    within = labelled.select(
        (pl.col(name) - pl.col(name).mean()).over("generator").alias(name) for name in ("value", "score")
    )
    return 1.0 if float(_column(within, "value") @ _column(within, "score")) >= 0 else -1.0


def _scale(values: NDArray[np.float64], scores: NDArray[np.float64]) -> float:
    """Return what brings scores to the spread of the values; 0 where scores do not vary."""
    spread = float(scores.std())
    return float(values.std()) / spread if spread > 1e-12 else 0.0


def _column(frame: pl.DataFrame, name: str) -> NDArray[np.float64]:
    return frame[name].to_numpy().astype(np.float64)
