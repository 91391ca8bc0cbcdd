"""The difference between two groups of prompts, by one measure, with its error over prompts and raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import FEWEST, contrast_errors, crossed_means


@dataclass(frozen=True, slots=True)
class Contrast:
    """The first group less the second; higher is better."""

    first: float
    second: float
    standard_error: float
    degrees: float  # for levels far out, as many contrasts are tested together
    alone_degrees: float  # for this contrast alone
    prompts: int  # clusters of the smaller group
    raters: int  # 0 where a program scores

    @property
    def estimate(self) -> float:
        """The difference."""
        return self.first - self.second


def scored(measure: Measure) -> Measure:
    """Return a measure with one value per row: a vote is 1 for the winner, 0 for the loser and ½ in a tie.

    Values are turned so that higher is better.
    """
    if not measure.votes:
        rows = measure.rows.with_columns(value=pl.col("value").cast(pl.Float64) * measure.sign)
        return Measure(measure.name, measure.source, "higher", rows, measure.proportion, measure.bounds)
    won = (1 + pl.col("value").sign()) / 2
    both = [
        measure.rows.select("rater", "prompt", "entry", value=won),
        measure.rows.select("rater", "prompt", entry="other", value=1 - won),
    ]
    return Measure(measure.name, measure.source, "higher", pl.concat(both), proportion=True, bounds=(0.0, 1.0))


def contrast_of(
    rows: pl.DataFrame, group_of: Mapping[str, int], cluster_of: Mapping[str, str] | None = None
) -> Contrast | None:
    """Return group 0 less group 1 of the prompts.

    Args:
        rows: ``prompt`` and ``value``, of raters also ``rater``.
        group_of: Prompt -> 0 or 1; others do not count.
        cluster_of: Prompt -> what it varies with, such as its counterfactual pair; by default the prompt itself.

    Returns:
        The contrast; ``None`` where a group is empty or has fewer than five clusters.
    """
    part = rows.filter(pl.col("prompt").is_in(list(group_of)))
    if part.is_empty():
        return None
    groups = part["prompt"].replace_strict(group_of, return_dtype=pl.Int64).to_numpy()
    names = (
        part["prompt"] if cluster_of is None else part["prompt"].replace_strict(cluster_of, return_dtype=pl.String)
    )
    raters = _codes(part["rater"]) if "rater" in part.columns else None
    if len(np.unique(groups)) < 2:
        return None
    cells = crossed_means(raters, _codes(names), groups, part["value"].to_numpy(), cell_count=2)
    errors = contrast_errors(cells, [[1.0, -1.0]])
    prompts, people = int(errors.prompts[0]), int(errors.raters[0])
    if prompts < FEWEST or (raters is not None and people < FEWEST):
        return None
    return Contrast(
        first=float(cells.values[0]),
        second=float(cells.values[1]),
        standard_error=float(errors.standard_error[0]),
        degrees=float(errors.tail_degrees[0]),
        alone_degrees=float(errors.degrees[0]),
        prompts=prompts,
        raters=people,
    )


def by_entry(measure: Measure) -> dict[str, pl.DataFrame]:
    """Return the rows of all entries together and of each entry, by name.

    Votes, and scores less the mean of their prompt, have no mean of all entries.
    """
    rows = scored(measure).rows
    parts = {} if measure.votes or _is_centred(rows) else {"all": rows}
    entries: Sequence[str] = sorted(rows["entry"].unique())
    return parts | {entry: rows.filter(pl.col("entry") == entry) for entry in entries}


def _is_centred(rows: pl.DataFrame) -> bool:
    means = rows.group_by("prompt").agg(pl.col("value").mean())["value"].to_numpy()
    return bool(np.allclose(means, 0.0, atol=1e-9 * max(float(np.abs(rows["value"].to_numpy()).max()), 1e-300)))


def _codes(names: pl.Series) -> np.ndarray:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
