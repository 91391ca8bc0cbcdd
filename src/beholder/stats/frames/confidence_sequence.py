"""Anytime-valid inference on a data frame: confidence sequences, and which groups are separated so far."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from beholder.stats.frames.columns import Columns, Frame, Label, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.confidence_sequence import asymptotic_sequence, betting_sequence
from beholder.stats.significance.sequential_separation import sequential_separation as separate_sequentially

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sequences(ResultTable):
    """An interval after each rater, all of which hold together; :meth:`latest` has those of all raters so far."""

    group: str | None

    def latest(self) -> ResultTable:
        """Return the last interval of each group.

        Returns:
            One row per group, with the number of raters so far.
        """
        rows = self.rows.group_by(self.group, maintain_order=True).last() if self.group else self.rows.tail(1)
        return ResultTable(
            title=self.title,
            rows=rows.drop("rater") if self.group else rows,
            method=self.method,
            level=self.level,
            raters=self.raters,
            answers=self.answers,
            unit=self.unit,
            estimate="estimate",
            backend=self.backend,
        )

    def plot(self, *, width: int = 420) -> "alt.LayerChart":
        """Return a chart of the intervals over the number of raters.

        Args:
            width: Pixels of the plot.

        Returns:
            An Altair chart.
        """
        # Altair takes a second to load, and only plots need it.
        from beholder.stats.frames.display.sequence_plot import sequence_plot  # noqa: PLC0415

        return sequence_plot(self.rows, group=self.group, title=self.unit, width=width)


def confidence_sequence(
    scores: Frame,
    *,
    score: str = "score",
    rater: str = "rater",
    group: str | None = None,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    level: float = 0.95,
) -> Sequences:
    """Return a confidence interval of the mean after every rater; one may look at each, and stop at will.

    A plain 95 % interval that is looked at after every rater misses the true mean at some time in far more than
    5 % of studies; a confidence sequence misses it at any time in at most 5 %. A rater counts once, with the mean
    of their scores, in the order in which raters finished: that of their last row.

    Args:
        scores: A data frame with one row per score, in the order of time.
        score: The column of numbers (or of true and false).
        rater: The column of raters.
        group: The column of groups, such as generators, each with a sequence of its own.
        bounds: The least and the greatest score there can be; the sequence then holds for any number of raters
            (betting, Waudby-Smith and Ramdas 2024). None where there are no bounds: it then holds for many raters
            (asymptotic, Waudby-Smith et al. 2021), and is infinite for the first 49.
        level: The chance that all intervals hold together.

    Returns:
        One row per rater (and group): ``raters`` so far, ``estimate``, ``low``, ``high``. ``.latest()`` has the
        last ones, ``.plot()`` shows how they narrow.

    Example:
        >>> answers = {"rater": [f"r{n}" for n in range(60)], "score": [1, 1, 0] * 20}
        >>> confidence_sequence(answers).latest()
        confidence sequence of mean score
        rater  raters  estimate       95 % CI
        ─────────────────────────────────────
        r59        60      0.67  [0.47, 0.86]
        95 % CI: confidence sequence (betting), valid at every look · 60 raters · 60 answers
    """
    columns = read_columns(scores, labels={"rater": rater, "group": group}, numbers={"score": score})
    table = _by_arrival(columns)
    rows: dict[str, list[object]] = {name: [] for name in ("group", "rater", "raters", "estimate", "low", "high")}
    method = ""
    for number, name in enumerate(table.groups):
        there = np.flatnonzero(~np.isnan(table.means[:, number]))
        means = table.means[there, number]
        if bounds is None:
            sequence = asymptotic_sequence(means, level=level)
        else:
            sequence = betting_sequence(means, bounds=bounds, level=level)
        method = sequence.method
        rows["group"] += [name] * len(there)
        rows["rater"] += [table.raters[row] for row in there]
        rows["raters"] += range(1, len(there) + 1)
        rows["estimate"] += sequence.mean.tolist()
        rows["low"] += sequence.low.tolist()
        rows["high"] += sequence.high.tolist()
    named = {group: rows.pop("group")} if group else {}
    if not group:
        del rows["group"]
    return Sequences(
        title=f"confidence sequence of mean {score}",
        rows=frame_of(named | rows),
        method=f"confidence sequence ({method}), valid at every look",
        estimate="estimate",
        keys=2 if group else 1,
        level=level,
        raters=len(table.raters),
        answers=columns.rows,
        unit=f"mean {score}",
        backend=columns.backend,
        group=group,
    )


def sequential_separation(
    scores: Frame,
    *,
    score: str = "score",
    rater: str = "rater",
    group: str = "generator",
    within: bool = True,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> ResultTable:
    """Say which groups are separated so far, in a study that is looked at again and again.

    The chance that any two are *ever* declared different wrongly is at most 1 − level, however often one looks;
    what is separated stays so. Each pair is tested by betting, adjusted by Holm.

    Args:
        scores: A data frame with one row per score, in the order of time.
        score: The column of numbers (or of true and false).
        rater: The column of raters.
        group: The column of groups, such as generators.
        within: Whether raters judge several groups, so that their own scores are compared; otherwise each judges
            one, and the k-th rater of one is set against the k-th of the other.
        bounds: The least and the greatest score there can be.
        level: The chance that no pair is ever separated wrongly.

    Returns:
        One row per pair: ``difference``, ``raters``, ``p_value`` and ``p_holm`` (valid at every look),
        ``separated``, and ``after``: how many raters had finished when it was.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> pairs = sequential_separation(example_ratings(raters=40), bounds=(1, 5))
        >>> pairs.to_frame().filter("separated").select("generator", "other", "after").rows()
        [('aurora', 'ember', 24), ('cirrus', 'ember', 31), ('dune', 'ember', 39)]
    """
    columns = read_columns(scores, labels={"rater": rater, "group": group}, numbers={"score": score})
    table = _by_arrival(columns)
    pairs = separate_sequentially(table.means, within=within, bounds=bounds, level=level)
    return ResultTable(
        title=f"mean {score} by {group}: differences so far",
        rows=frame_of(
            {
                group: [table.groups[number] for number in pairs.first],
                "other": [table.groups[number] for number in pairs.second],
                "difference": pairs.difference,
                "raters": pairs.raters,
                "p_value": pairs.p_value,
                "p_holm": pairs.p_holm,
                "separated": pairs.separated,
                "after": [None if rows < 0 else int(rows) for rows in pairs.after],
            }
        ),
        method=f"betting, valid at every look; level {level:g} for all pairs",
        keys=2,
        raters=len(table.raters),
        answers=columns.rows,
        reference=0.0,
        signed=True,
        unit=f"difference in mean {score}",
        backend=columns.backend,
    )


@dataclass(frozen=True, eq=False)
class _Arrivals:
    """Each rater's mean score in each group, raters in the order in which they finished."""

    raters: list[Label]
    groups: list[Label]
    means: NDArray[np.float64]  # (raters, groups); nan where a rater has none


def _by_arrival(columns: Columns) -> _Arrivals:
    names, (who,) = code_labels(columns.labels["rater"])
    groups, (cell,) = code_labels(columns.labels.get("group", ["all"] * columns.rows))
    last = np.zeros(len(names), np.int64)
    np.maximum.at(last, who, np.arange(columns.rows))
    size = len(names) * len(groups)
    place = who * len(groups) + cell
    counts = np.bincount(place, minlength=size)
    totals = np.bincount(place, columns.numbers["score"], size)
    means = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan).reshape(len(names), len(groups))
    order = np.argsort(last)
    return _Arrivals([names[number] for number in order], groups, means[order])
