"""How well a model agrees with raters on images it was not trained on, with confidence intervals.

Every figure comes with two bounds: the *generator-mean baseline*, which knows only which generator made an image,
and the *human ceiling*, how well other raters agree. The 95 % confidence intervals resample prompts; a second
interval, over raters, says how far the figure would vary with other raters.
"""

from collections.abc import Mapping

import polars as pl

from beholder.learn.examples import LabelledImages
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.figures.pairs import pair_figures, vote_figures
from beholder.learn.figures.ratings import rating_figures
from beholder.learn.figures.soft_labels import soft_label_figures
from beholder.learn.recipe import Data
from beholder.stats.correlation.paper_accuracy import tune_threshold

Predictions = Mapping[str, Mapping[str, float]]
"""Aspect -> image -> score."""


def evaluate(
    labelled: LabelledImages,
    data: Data,
    predictions: Predictions,
    votes: pl.DataFrame,
    settings: EvaluationSettings,
    *,
    threshold: float = 0.0,
) -> list[Figure]:
    """Return all figures of the predicted images.

    ``votes`` are single answers on pairs (:func:`beholder.learn.examples.read_votes`); ``threshold`` is
    PickScore's tie threshold, tuned on other images (:func:`tune_tie_threshold`).
    """
    figures: list[Figure] = []
    for aspect in labelled.aspects:
        scores = scores_for(predictions, aspect)
        aspect_labels = labelled.labels.filter(pl.col("aspect") == aspect)
        if data.labels == "pairs":
            figures += pair_figures(_scored_pairs(aspect_labels, labelled, scores), aspect, threshold, settings)
            figures += vote_figures(_scored_pairs(votes, labelled, scores), aspect, settings)
        else:
            images = _scored_images(aspect_labels, labelled, scores)
            figures += rating_figures(images, aspect, data, settings)
            figures += soft_label_figures(images, aspect, settings) if data.labels == "shares" else ()
    return figures


def scores_for(predictions: Predictions, aspect: str) -> Mapping[str, float]:
    """Return the scores of an aspect: those under its name, or the only ones there are."""
    return (
        predictions[aspect] if aspect in predictions or len(predictions) > 1 else next(iter(predictions.values()))
    )


def tune_tie_threshold(labelled: LabelledImages, predictions: Predictions) -> float:
    """Return PickScore's tie threshold, tuned on the pairs both of whose images were predicted."""
    aspect = labelled.aspects[0]
    pairs = _scored_pairs(
        labelled.labels.filter(pl.col("aspect") == aspect), labelled, scores_for(predictions, aspect)
    )
    if pairs.is_empty():
        return 0.0
    return tune_threshold(pairs["score"].to_numpy(), pairs["other_score"].to_numpy(), pairs["lead"].to_numpy())


def _scored_pairs(labels: pl.DataFrame, labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return pairs within a prompt with both scores, the raters' lead, and prompt and generators as numbers."""
    images = _predicted_images(labelled, scores)
    others = images.select(other="image", other_score="score", other_generator="generator", other_prompt="prompt")
    lead = pl.col("value") - 0.5 if "value" in labels.columns else pl.col("lead")
    joined = labels.join(images, on="image", maintain_order="left").join(others, on="other", maintain_order="left")
    return joined.filter(pl.col("prompt") == pl.col("other_prompt")).with_columns(
        lead=lead, prompt=pl.col("prompt").rank("dense").cast(pl.Int64) - 1
    )


def _scored_images(labels: pl.DataFrame, labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return rated images with their scores, and prompt and generator as numbers."""
    joined = labels.join(_predicted_images(labelled, scores), on="image", maintain_order="left")
    return joined.with_columns(pl.col("prompt", "generator").rank("dense").cast(pl.Int64) - 1)


def _predicted_images(labelled: LabelledImages, scores: Mapping[str, float]) -> pl.DataFrame:
    """Return score, generator and prompt of the predicted images; an image without a prompt is its own cluster."""
    numbers = {name: number for number, name in enumerate(sorted({item.generator for item in labelled.items}))}
    return pl.DataFrame(
        [
            (item.image, scores[item.image], numbers[item.generator], item.prompt or f"\n{item.image}")
            for item in labelled.items
            if item.image in scores
        ],
        schema={"image": pl.String, "score": pl.Float64, "generator": pl.Int64, "prompt": pl.String},
        orient="row",
    )
