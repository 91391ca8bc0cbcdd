"""What a board lists: measures of entries by raters, by scorers and by trained models, with their prompts.

A measure holds single judgements or scores, so that it can be estimated on any subset of the prompts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from beholder.judgements.coding import PAIRED
from beholder.judgements.rankings import RANK
from beholder.judgements.votes import votes_of
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import FIRST, SECOND, TIE, tally_votes
from beholder.stats.intervals.crossed_t import CrossedInfluence, crossed_means
from beholder.tables.schemas.learn import OUT_OF_FOLD

Source = Literal["people", "scorer", "model"]
Direction = Literal["higher", "lower"]

TAKEN_FOR_REAL, PASSED, PREFERENCE = "taken for real", "pass rate", "preference"
"""What measures of detections, sweeps and votes are called after their question."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure of all entries."""

    name: str
    source: Source
    better: Direction | None
    """Which values are better; None where that is not known, and nothing is ranked."""
    rows: pl.DataFrame
    """One row per score (``prompt``, ``entry``, ``value``, of people also ``rater``) or per vote (``rater``,
    ``prompt``, ``entry``, ``other``, ``value``)."""
    proportion: bool = False
    bounds: tuple[float, float] | None = None
    """The ends of the scale, where it has any."""

    @property
    def votes(self) -> bool:
        """Whether rows compare two entries; then the measure is a Bradley–Terry rating."""
        return "other" in self.rows.columns

    def on(self, prompts: pl.Series) -> "Measure":
        """Return the measure on some of the prompts."""
        return replace(self, rows=self.rows.filter(pl.col("prompt").is_in(prompts.implode())))

    @property
    def sign(self) -> float:
        """What values are multiplied by so that higher is better; 1 where neither is."""
        return -1.0 if self.better == "lower" else 1.0

    @property
    def by_prompt(self) -> pl.DataFrame:
        """Mean ``value`` of every ``prompt`` and ``entry`` over raters and images; votes have none."""
        return self.rows.group_by("prompt", "entry").agg(pl.col("value").mean()).sort("prompt", "entry")

    @property
    def spread(self) -> float:
        """Standard deviation between the prompts of an entry, pooled over entries; of votes 1, in log odds."""
        if self.votes:
            return 1.0
        groups = self.by_prompt.group_by("entry").agg(
            squares=pl.col("value").var() * (pl.len() - 1), degrees=pl.len() - 1
        )
        squares, degrees = (float(np.nansum(groups[name].to_numpy())) for name in ("squares", "degrees"))
        return float(np.sqrt(squares / degrees)) if degrees > 0 else 0.0


def collect_measures(
    judgements: pl.DataFrame,
    images: pl.DataFrame,
    scores: pl.DataFrame,
    predictions: pl.DataFrame,
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> Iterator[Measure]:
    """Yield the measures by raters, then by scorers, then by models trained on the study's labels.

    An image without a prompt is a prompt of its own. Real images, and those that check raters, are no entries.
    ``scales`` are the ends of the scale of questions that have one.
    """
    entries = images.filter(~pl.col("gold") & ~pl.col("real")).select(
        "image", entry="generator", prompt=pl.coalesce("prompt", pl.lit("image ") + pl.col("image"))
    )
    used = judgements.filter("used")
    questions = used.select("question", "aspect").unique(maintain_order=True).sort("question", "aspect")
    for question, aspect in questions.iter_rows():
        part = used.filter((pl.col("question") == question) & (pl.col("aspect") == aspect))
        yield from _by_raters(question, aspect, part, entries, (scales or {}).get(question))
    yield from _by_programs("scorer", scores.rename({"scorer": "name"}), entries)
    held_out = predictions.filter("held_out").with_columns(name=pl.col("model") + OUT_OF_FOLD)
    yield from _by_programs("model", held_out, entries)


def influence_of(measure: Measure, entries: list[str]) -> CrossedInfluence:
    """Return the rating of each entry by this measure, with the influence of every rater and prompt.

    Args:
        measure: Scores or votes.
        entries: The names of the entries, in the order of the ratings; all of them have rows.

    Returns:
        Means, or Bradley–Terry ratings of votes, for intervals and tests over raters and prompts.
    """
    rows = measure.rows
    prompt = _codes(rows["prompt"])
    rater = _codes(rows["rater"]) if "rater" in rows.columns else None
    entry = rows["entry"].replace_strict(entries, list(range(len(entries))), return_dtype=pl.Int64).to_numpy()
    if not measure.votes or rater is None:
        return crossed_means(
            rater,
            prompt,
            entry,
            rows["value"].to_numpy(),
            cell_count=len(entries),
            proportions=measure.proportion,
        )
    other = rows["other"].replace_strict(entries, list(range(len(entries))), return_dtype=pl.Int64).to_numpy()
    keys, row = np.unique(np.stack([rater, prompt], axis=1), axis=0, return_inverse=True)
    outcome = np.select([rows["value"] > 0, rows["value"] < 0], [FIRST, SECOND], TIE).astype(np.int64)
    pairs, counts = tally_votes(row.reshape(-1), entry, other, outcome)
    orders = {(int(a), int(b)) for a, b in pairs}
    fit = bradley_terry(pairs, counts, items=len(entries), side_effect=any((b, a) in orders for a, b in orders))
    return CrossedInfluence(
        fit.ratings,
        fit.influence,
        fit.answers_by_rater,
        keys[:, 1],
        keys[:, 0],
        floor=fit.model_covariance if fit.prior_used else None,
    )


def _by_raters(
    question: str,
    aspect: str,
    judgements: pl.DataFrame,
    entries: pl.DataFrame,
    scale: tuple[float, float] | None,
) -> Iterator[Measure]:
    """Yield the measure of one question and aspect; none where no entry was judged."""
    kind = str(judgements["value_kind"][0])
    name = question if aspect in (question, PREFERENCE) else f"{question}: {aspect}"
    if kind in (*PAIRED, RANK):
        votes = (
            votes_of(judgements)
            .select("rater", "image", "value", other_image="other")
            .join(entries, on="image")
            .join(entries.select(other_image="image", other="entry"), on="other_image")
            .filter(pl.col("entry") != pl.col("other"))
            .select("rater", "prompt", "entry", "other", "value")
        )
        if not votes.is_empty():
            yield Measure(name, "people", "higher", votes)
        return
    if kind == "category":  # no option is better than another
        return
    value, suffix, proportion = {
        "detection": (1.0 - pl.col("value"), f": {TAKEN_FOR_REAL}", True),
        "credit": (1.0 - pl.col("value"), f": {PASSED}", True),
    }.get(kind, (pl.col("value"), "", False))
    rows = judgements.join(entries, on="image").select("rater", "prompt", "entry", value=value)
    if not rows.is_empty():
        yield Measure(name + suffix, "people", "higher", rows, proportion, (0.0, 1.0) if proportion else scale)


def _by_programs(source: Source, scores: pl.DataFrame, entries: pl.DataFrame) -> Iterator[Measure]:
    """Yield one measure per scorer and aspect."""
    aspects = scores.group_by("name").agg(pl.col("aspect").n_unique())
    several = set(aspects.filter(pl.col("aspect") > 1)["name"])
    for name, aspect in scores.select("name", "aspect").unique().sort("name", "aspect").iter_rows():
        part = scores.filter((pl.col("name") == name) & (pl.col("aspect") == aspect))
        rows = part.join(entries, on="image").select("prompt", "entry", value="score")
        if rows.is_empty():
            continue
        better = part["better"].drop_nulls().unique().to_list()
        direction: Direction | None = better[0] if better and better[0] in ("higher", "lower") else None
        yield Measure(f"{name}: {aspect}" if name in several else name, source, direction, rows)


def _codes(names: pl.Series) -> np.ndarray:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
