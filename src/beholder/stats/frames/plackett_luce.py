"""Plackett–Luce ratings of a data frame of rankings."""

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.comparisons.plackett_luce import ABSENT
from beholder.stats.comparisons.rated_items import rate_rankings
from beholder.stats.frames.bradley_terry import PRIOR
from beholder.stats.frames.columns import Frame, Label, code_labels, read_columns
from beholder.stats.frames.ratings import Ratings, each_its_own, ratings_table


def plackett_luce(
    rankings: Frame,
    *,
    ranking: str = "ranking",
    item: str = "item",
    rank: str = "rank",
    rater: str | None = "rater",
    level: float = 0.95,
) -> Ratings:
    """Rate generators (or any items) by rankings of some or all of them, with confidence intervals over raters.

    A ranking is a row of choices, the best of all, then the best of the rest; each is made with odds e^θ. For two
    items this is Bradley–Terry, and ratings are natural-log odds around 0.

    Args:
        rankings: A data frame with one row per ranked item.
        ranking: The column that says which rows form one ranking.
        item: The column of what was ranked; each at most once in a ranking.
        rank: The column of ranks, 1 for the best. Ties are refused: use
            :func:`~beholder.stats.frames.bradley_terry.bradley_terry` on the pairs instead.
        rater: The column of raters; None takes all rankings as independent.
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per item, the best first, as for Bradley–Terry; ``answers`` counts rankings.

    Example:
        >>> orders = {"a": "xyz", "b": "xzy", "c": "yxz", "d": "xyz", "e": "zxy", "f": "xyz"}
        >>> columns = {
        ...     "rater": [rater for rater in orders for _ in range(3)],
        ...     "item": [item for order in orders.values() for item in order],
        ...     "rank": [1, 2, 3] * 6,
        ... }
        >>> ratings = plackett_luce(columns, ranking="rater")  # one ranking by each rater
        >>> ratings.to_frame()["item"].to_list(), ratings["estimate"].round(2).tolist()
        (['x', 'y', 'z'], [1.13, -0.22, -0.92])
    """
    columns = read_columns(
        rankings,
        labels={"ranking": ranking, "item": item, "rater": rater},
        numbers={"rank": rank},
        hints={"rater": "or rater=None, if nobody ranked twice"},
    )
    names, (items,) = code_labels(columns.labels["item"])
    identities, (row,) = code_labels(columns.labels["ranking"])
    _check(row, items, columns.numbers["rank"], identities, names)
    order = np.lexsort((columns.numbers["rank"], row))
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    place = np.arange(len(row)) - np.repeat(starts, np.diff(np.append(starts, len(row))))
    table = np.full((len(identities), int(place.max()) + 1), ABSENT, np.int64)
    table[row[order], place] = items[order]
    if rater is None:
        who = each_its_own(len(identities), len(names))
    else:
        by_row = code_labels(columns.labels["rater"])[1][0]
        who = by_row[order][starts]
        _check_raters(row, by_row, who, identities)
    rated = rate_rankings(who, table, names=names)
    return ratings_table(
        rated.influence,
        names,
        rated.fit.answers,
        key="item",
        title="Plackett–Luce ratings, log odds",
        total=len(identities),
        level=level,
        backend=columns.backend,
        independent=rater is None,
        ties=rated.ties,
        unit="Plackett–Luce rating (log odds)",
        reference=0.0,
        notes=[PRIOR] if rated.fit.prior_used else [],
    )


def _check(
    row: NDArray[np.int64],
    items: NDArray[np.int64],
    ranks: NDArray[np.float64],
    identities: list[Label],
    names: list[Label],
) -> None:
    """Refuse two ranks alike in a ranking, and an item that is in it twice."""
    for values, words in (
        (ranks, "ties, which Plackett–Luce has no room for: use bradley_terry on the pairs"),
        (items.astype(np.float64), "the same item twice"),
    ):
        order = np.lexsort((values, row))
        same = (np.diff(row[order]) == 0) & (np.diff(values[order]) == 0)
        if same.any():
            example = order[1:][same][0]
            count = len(np.unique(row[order[1:][same]]))
            raise StatisticsError(
                f"{count:,} {'rankings have' if count > 1 else 'ranking has'} {words}; the first is "
                f"{identities[row[example]]!r}, at {names[items[example]]!r}"
            )


def _check_raters(
    row: NDArray[np.int64], by_row: NDArray[np.int64], who: NDArray[np.int64], identities: list[Label]
) -> None:
    mixed = np.unique(row[by_row != who[row]])
    if len(mixed):
        raise StatisticsError(
            f"a ranking is by one rater; found {len(mixed):,} by several, the first is {identities[mixed[0]]!r}: "
            "give each ranking of each rater a name of its own"
        )
