"""Votes on pairs in a data frame: as winner and loser, or as first, second and outcome."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.comparisons.vote_table import FIRST, SECOND, TIE
from beholder.stats.frames.columns import Columns, Frame, Label, code_labels, read_columns

WORDS = {"first": FIRST, "left": FIRST, "second": SECOND, "right": SECOND, "tie": TIE, "equal": TIE}
"""Outcomes in words, whatever their case."""

NO_RATER = "or rater=None, if no rater voted twice"


@dataclass(frozen=True, eq=False)
class Votes:
    """Votes as numbers from 0, and the names of what they are about."""

    names: list[Label]
    raters: NDArray[np.int64]  # (votes,)
    first: NDArray[np.int64]  # (votes,)
    second: NDArray[np.int64]  # (votes,)
    outcomes: NDArray[np.int64]  # (votes,) 0 the first won, 1 the second, 2 tie
    ordered: bool
    """Whether ``first`` stands for what was shown first; otherwise it is the winner."""
    independent: bool
    """Whether no raters were named."""
    backend: str


def read_votes(
    frame: Frame,
    *,
    winner: str = "winner",
    loser: str = "loser",
    tie: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
    rater: str | None = "rater",
) -> Votes:
    """Read votes; see :func:`beholder.stats.frames.bradley_terry.bradley_terry` for the columns.

    Example:
        >>> votes = read_votes({"first": ["a", "b"], "second": ["b", "a"], "said": ["a", "tie"]},
        ...                    first="first", second="second", outcome="said", rater=None)
        >>> votes.names, votes.outcomes.tolist()
        (['a', 'b'], [0, 2])
    """
    sided = [name for name in (first, second, outcome) if name is not None]
    if sided and len(sided) < 3:
        raise StatisticsError("votes by first=, second= and outcome= need all three columns; found " + str(sided))
    if sided and tie is not None:
        raise StatisticsError("with first=, second= and outcome=, ties are outcomes: tie= is for winner and loser")
    sides = {"first": first, "second": second} if sided else {"winner": winner, "loser": loser}
    columns = read_columns(
        frame,
        labels=sides | {"outcome": outcome, "rater": rater},
        flags={"tie": tie},
        hints={"rater": NO_RATER},
    )
    names, (left, right) = code_labels(*(columns.labels[side] for side in sides))
    same = np.flatnonzero(left == right)
    if len(same):
        noun = "vote" if len(same) == 1 else "votes"
        raise StatisticsError(
            f"a vote needs two different items; found {len(same):,} {noun} on one, the first in row {same[0]:,} "
            f"({names[left[same[0]]]!r}); leave them out"
        )
    if sided:
        outcomes = _outcomes(columns)
    else:
        outcomes = np.where(columns.flags["tie"], TIE, FIRST) if tie else np.zeros(columns.rows, np.int64)
    who = code_labels(columns.labels["rater"])[1][0] if rater else np.arange(columns.rows)
    return Votes(names, who, left, right, outcomes.astype(np.int64), bool(sided), rater is None, columns.backend)


def _outcomes(columns: Columns) -> NDArray[np.int64]:
    """Return 0, 1 or 2 for every vote: from words, names of winners, true and false, or numbers."""
    said = columns.labels["outcome"]
    if all(isinstance(entry, bool | np.bool_) for entry in said):
        return np.where(np.array(said, np.bool_), FIRST, SECOND)
    if all(isinstance(entry, int | float | np.number) and not isinstance(entry, bool) for entry in said):
        return _from_numbers(np.array(said, np.float64))
    sides = zip(said, columns.labels["first"], columns.labels["second"], strict=True)
    coded = [_from_words(entry, first, second) for entry, first, second in sides]
    unknown = sorted({str(entry) for entry, code in zip(said, coded, strict=True) if code is None})
    if unknown:
        raise StatisticsError(
            "an outcome is 'first', 'second' or 'tie', or the name of the winner; found "
            f"{', '.join(map(repr, unknown[:5]))}"
        )
    return np.array(coded, np.int64)


def _from_words(entry: Label, first: Label, second: Label) -> int | None:
    if entry == first:
        return FIRST
    if entry == second:
        return SECOND
    return WORDS.get(str(entry).lower())


def _from_numbers(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Above 0 the first won and below 0 the second; or, where ½ stands for ties, 1 and 0."""
    if (numbers < 0).any():
        return np.select([numbers > 0, numbers < 0], [FIRST, SECOND], TIE)
    if (numbers == 0.5).any() and np.isin(numbers, (0, 0.5, 1)).all():
        return np.select([numbers == 1, numbers == 0], [FIRST, SECOND], TIE)
    raise StatisticsError(
        "outcomes as numbers are 1, 0 and −1 (first, tie, second) or 1, ½ and 0; found "
        f"{', '.join(f'{number:g}' for number in np.unique(numbers)[:5])}, which could be either. Cast 1 and 0 to "
        "true and false (first, second), or write 'first', 'second' and 'tie'"
    )
