"""The difference between two groups of prompts, by one measure, with its error over prompts and raters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.judgements.measures import Measure
from beholder.stats.intervals.crossed_t import FEWEST, contrast_errors, crossed_means
from beholder.stats.intervals.crossed_variance import ContrastErrors


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


@dataclass(frozen=True, eq=False)
class JudgedPrompts:
    """Values of one entry, or of all, with the prompt and the rater of each as numbers."""

    names: tuple[str, ...]  # of the prompts
    prompts: NDArray[np.int64]  # (rows,) places in ``names``
    raters: NDArray[np.int64] | None  # (rows,); None where a program scores
    values: NDArray[np.float64]  # (rows,) higher is better
    proportion: bool = False


def judged_prompts(rows: pl.DataFrame, *, proportion: bool = False) -> JudgedPrompts:
    """Number the prompts and raters of rows with ``prompt`` and ``value``, of raters also ``rater``."""
    names = rows["prompt"].unique().sort()
    raters = _codes(rows["rater"]) if "rater" in rows.columns else None
    values = rows["value"].cast(pl.Float64).to_numpy()
    return JudgedPrompts(tuple(names), _codes(rows["prompt"]), raters, values, proportion)


def contrast_of(
    judged: JudgedPrompts, group_of: Mapping[str, int], cluster_of: Mapping[str, str] | None = None
) -> Contrast | None:
    """Return group 0 less group 1 of the prompts.

    Args:
        judged: From :func:`judged_prompts`.
        group_of: Prompt -> 0 or 1; others do not count.
        cluster_of: Prompt -> what it varies with, such as its counterfactual pair; by default the prompt itself.

    Returns:
        The contrast; ``None`` where a group is empty or has fewer than five clusters.
    """
    groups = np.array([group_of.get(name, -1) for name in judged.names], np.int64)
    if len(np.unique(groups[groups >= 0])) < 2:
        return None
    clusters = np.arange(len(groups))
    if cluster_of is not None:
        clusters = np.unique([cluster_of.get(name, "") for name in judged.names], return_inverse=True)[1].reshape(
            -1
        )
    counted = groups[judged.prompts] >= 0
    prompts = judged.prompts[counted]
    raters = None if judged.raters is None else judged.raters[counted]
    cells = crossed_means(raters, clusters[prompts], groups[prompts], judged.values[counted], cell_count=2)
    errors = contrast_errors(cells, [[1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    variance = float(errors.standard_error[0] ** 2) + (_lacking(errors) if judged.proportion else 0.0)
    behind, people = int(errors.prompts[0]), int(errors.raters[0])
    if behind < FEWEST or (raters is not None and people < FEWEST):
        return None
    return Contrast(
        first=float(cells.values[0]),
        second=float(cells.values[1]),
        standard_error=float(np.sqrt(variance)),
        degrees=float(errors.tail_degrees[0]),
        alone_degrees=float(errors.degrees[0]),
        prompts=behind,
        raters=people,
    )


def by_entry(measure: Measure) -> dict[str, JudgedPrompts]:
    """Return the values of all entries together and of each entry, by name.

    Votes, and scores less the mean of their prompt, have no mean of all entries.
    """
    rows = scored(measure).rows
    parts = {} if measure.votes or _is_centred(rows) else {"all": rows}
    entries: Sequence[str] = sorted(rows["entry"].unique())
    parts |= {entry: rows.filter(pl.col("entry") == entry) for entry in entries}
    proportion = scored(measure).proportion
    return {entry: judged_prompts(part, proportion=proportion) for entry, part in parts.items()}


def _lacking(errors: ContrastErrors) -> float:
    """Return the variance that a group of prompts lacks where nearly all of its few answers are alike.

    A proportion near 0 or 1 in a small group has hardly any variance, by luck. No prompt of one group is believed
    to vary less than a prompt of the other.
    """
    each = errors.over_prompts[1:] ** 2 * errors.prompts[1:]  # variance of one prompt in either group
    return float(((each.max() - each) / errors.prompts[1:]).sum())


def _is_centred(rows: pl.DataFrame) -> bool:
    means = rows.group_by("prompt").agg(pl.col("value").mean())["value"].to_numpy()
    return bool(np.allclose(means, 0.0, atol=1e-9 * max(float(np.abs(rows["value"].to_numpy()).max()), 1e-300)))


def _codes(names: pl.Series) -> NDArray[np.int64]:
    return (names.rank("dense").cast(pl.Int64) - 1).to_numpy()
