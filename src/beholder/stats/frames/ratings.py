"""Ratings of generators, or of any groups or items, with t intervals over raters, and comparisons of all pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Label
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.clustered_t import (
    FEWEST_RATERS,
    METHOD,
    RaterInfluence,
    clustered_t,
    standard_errors,
)
from beholder.stats.significance.separation import VERDICT_RATERS, separate

MOST_CELLS = 50_000_000
"""Votes × items up to which every vote may be a rater of its own: 400 MB."""

INDEPENDENT = (
    "No rater column: answers are taken as independent. Several answers by one rater are not, and make these "
    "intervals too narrow."
)
"""The note where no raters were named."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Ratings(ResultTable):
    """Ratings, the best first, with confidence intervals and rank ranges over raters.

    Columns: the rated item, ``estimate``, ``low``, ``high``, ``se``, ``rank_low``, ``rank_high``, ``raters`` and
    ``answers``. :meth:`pairs` compares every two.
    """

    names: tuple[Label, ...]
    cells: RaterInfluence
    higher_is_better: bool = True

    def pairs(self) -> ResultTable:
        """Compare every two: differences, simultaneous confidence intervals, and which pairs are separated.

        The confidence intervals hold together at the level, and two are separated exactly where the interval of
        their difference excludes 0.

        Returns:
            One row per pair, the higher rated first: ``difference``, ``low``, ``high``, ``se``, ``degrees`` of
            freedom, ``p_value`` of this pair alone, ``p_adjusted`` for all pairs, ``separated``, and
            ``more_raters`` needed to separate a difference as large with a power of 80 %.
        """
        if len(self.names) < 2:
            raise StatisticsError(f"a comparison needs two rows; found {len(self.names)}")
        level = 0.95 if self.level is None else self.level
        compared = separate(self.cells, level=level, higher_is_better=self.higher_is_better).higher_first()
        order = np.lexsort((compared.second, compared.first, -compared.difference))
        key = self.rows.columns[0]
        rows = {
            key: [self.names[cell] for cell in compared.first[order]],
            "other": [self.names[cell] for cell in compared.second[order]],
            "difference": compared.difference[order],
            "low": compared.low[order],
            "high": compared.high[order],
            "se": compared.standard_error[order],
            "degrees": compared.degrees[order],
            "p_value": compared.p_value[order],
            "p_adjusted": compared.p_adjusted[order],
            "separated": compared.separated[order],
            "more_raters": _integers(compared.more_raters[order]),
        }
        if self.raters is None:
            rows["more_answers"] = rows.pop("more_raters")
        return ResultTable(
            title=f"{self.title}: differences",
            rows=frame_of(rows),
            method=f"{self.method}, simultaneous for all pairs",
            keys=2,
            level=level,
            raters=self.raters,
            items=self.items,
            answers=self.answers,
            ties=self.ties,
            notes=self.notes,
            reference=0.0,
            signed=True,
            unit=f"difference in {self.unit or self.title}",
            backend=self.backend,
        )


def ratings_table(
    cells: RaterInfluence,
    names: Sequence[Label],
    answers: NDArray[np.integer],
    *,
    key: str,
    title: str,
    total: int,
    level: float,
    backend: str,
    independent: bool,
    ties: str | None = None,
    unit: str = "",
    reference: float | None = None,
    higher_is_better: bool = True,
    notes: Sequence[str] = (),
) -> Ratings:
    """Return ratings with t intervals over raters.

    Args:
        cells: The ratings, and how far each rater moves each.
        names: The name of each cell.
        answers: Answers behind each cell (cells,).
        key: The head of the column of names.
        title: What the table is.
        total: Answers in all.
        level: Of each interval.
        backend: The library of the frame that came in.
        independent: Whether every answer counts as a rater's own, as no raters were named.
        ties: The rule for ties.
        unit: Of the ratings.
        reference: A rating that means something by itself.
        higher_is_better: Whether rank 1 is the highest.
        notes: What a reader must know.

    Returns:
        The table, the best first.
    """
    estimates = clustered_t(cells, level=level)
    separation = separate(cells, level=level, higher_is_better=higher_is_better)
    order = np.argsort(-estimates.value if higher_is_better else estimates.value, kind="stable")
    rater_count = int(np.count_nonzero(cells.answers.any(axis=1)))
    rows: dict[str, object] = {
        key: [names[cell] for cell in order],
        "estimate": estimates.value[order],
        "low": estimates.low[order],
        "high": estimates.high[order],
        "se": standard_errors(cells)[order],
        "rank_low": separation.rank_low[order],
        "rank_high": separation.rank_high[order],
        "raters": cells.raters[order],
        "answers": np.asarray(answers)[order],
    }
    if independent:
        del rows["raters"]
    caution = [INDEPENDENT] if independent else _few(int(cells.raters.min()))
    return Ratings(
        title=title,
        rows=frame_of(rows),
        method="t over answers, taken as independent" if independent else METHOD,
        level=level,
        raters=None if independent else rater_count,
        answers=total,
        ties=ties,
        notes=(*notes, *caution),
        reference=reference,
        signed=reference == 0,
        unit=unit,
        backend=backend,
        names=tuple(names),
        cells=cells,
        higher_is_better=higher_is_better,
    )


def each_its_own(rows: int, cells: int) -> NDArray[np.int64]:
    """Return a rater number for every answer, as if each were another rater's (rows,)."""
    if rows * cells > MOST_CELLS:
        raise StatisticsError(
            f"{rows:,} answers about {cells:,} items are too many to take every answer as another rater's; name "
            "the column of raters with rater="
        )
    return np.arange(rows)


def _few(fewest: int) -> list[str]:
    if fewest < FEWEST_RATERS:
        return [f"Fewer than {FEWEST_RATERS} raters say too little of how raters vary: no confidence interval."]
    if fewest < VERDICT_RATERS:
        return [f"With fewer than {VERDICT_RATERS} raters a verdict depends on one or two of them."]
    return []


def _integers(numbers: NDArray[np.float64]) -> list[int | None]:
    return [None if np.isnan(number) else int(number) for number in numbers]
