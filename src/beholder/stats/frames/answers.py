"""Answers in a data frame, one row per rater and item, as numbers from 0 with their names."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, Label, code_labels, read_columns


@dataclass(frozen=True, eq=False)
class Answers:
    """Who answered what about which item; each rater answered each item at most once."""

    raters: list[Label]
    items: list[Label]
    who: NDArray[np.int64]  # (answers,)
    what: NDArray[np.int64]  # (answers,)
    labels: list[Label]
    """The answers as they stand in the frame; empty where they are numbers."""
    numbers: NDArray[np.float64]  # (answers,); empty where they are labels
    backend: str


def read_answers(frame: Frame, *, rater: str, item: str, answer: str, numeric: bool) -> Answers:
    """Read answers; a rater who answered an item twice is an error that names both.

    Example:
        >>> read = read_answers({"rater": ["bo", "ann"], "item": [7, 7], "answer": ["yes", "no"]},
        ...                     rater="rater", item="item", answer="answer", numeric=False)
        >>> read.raters, read.who.tolist(), read.items, read.labels
        (['ann', 'bo'], [1, 0], [7], ['yes', 'no'])
    """
    named = {"rater": rater, "item": item}
    if numeric:
        columns = read_columns(frame, labels=named, numbers={"answer": answer})
    else:
        columns = read_columns(frame, labels=named | {"answer": answer})
    raters, (who,) = code_labels(columns.labels["rater"])
    items, (what,) = code_labels(columns.labels["item"])
    _, first, times = np.unique(who * len(items) + what, return_index=True, return_counts=True)
    if len(first) < len(who):
        row = int(first[times > 1][0])
        extra = len(who) - len(first)
        raise StatisticsError(
            f"each rater may answer each item once; found {extra:,} further answer{'s' if extra > 1 else ''}, the "
            f"first by {raters[who[row]]!r} about {items[what[row]]!r}; keep one answer of each"
        )
    return Answers(
        raters,
        items,
        who,
        what,
        columns.labels.get("answer", []),
        columns.numbers.get("answer", np.empty(0)),
        columns.backend,
    )
