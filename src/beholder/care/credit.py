"""Credit among contributors: everybody gives points to others, and PageRank over the points orders them.

Points from somebody whom others credit count more (PageRank, damping .85). Two ways to cheat: a *ring*, whose
members give their points to each other, and *quid pro quo*, the ring of two. Both show in the walk along the
points: from a member of a ring it comes back far more often than the contributor's standing with all others
explains. What others think is estimated by a median polish of the log points (giver + receiver), which a
minority cannot move. Who comes back more than ``LIMIT`` times as often as that is flagged, then whoever
exchanges points with flagged contributors at such a rate; the points that a flagged contributor gave are
replaced by what all others think. Points that they received from others still count: a ring gains nothing, and
loses nothing that it earned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError

DAMPING = 0.85
LIMIT = 1.5
LEAST = 5
"""Contributors from which on rings are looked for: among fewer, there is no majority of others."""

POLISHES = 10
TOLERANCE = 1e-12

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Credit:
    """The proportion of the credit of each contributor, and whose points were not counted."""

    names: tuple[str, ...]
    proportion: Matrix  # (contributors,) sums to 1
    plain: Matrix  # (contributors,) PageRank without protection
    flagged: NDArray[np.bool_]  # (contributors,) whose given points were replaced
    returns: Matrix  # (contributors,) how often the walk returns, relative to the standing with all others
    damping: float

    @property
    def order(self) -> tuple[str, ...]:
        """Names, most credit first."""
        return tuple(self.names[place] for place in np.argsort(-self.proportion, kind="stable"))


def share_credit(
    names: Sequence[str], points: ArrayLike, *, damping: float = DAMPING, limit: float = LIMIT
) -> Credit:
    """Return the credit of each contributor by PageRank over points, protected against rings.

    Args:
        names: The contributors.
        points: What each (row) gave each other (column); what somebody gives themselves does not count.
        damping: Of PageRank.
        limit: How much more often than expected a walk may return to a contributor.

    Returns:
        The credit.

    Example:
        >>> points = 10 - np.abs(np.subtract.outer(range(6), range(6)))
        >>> points[:2] = 0
        >>> points[0, 1] = points[1, 0] = 100
        >>> credit = share_credit("abcdef", points)
        >>> credit.flagged.tolist(), bool(credit.plain[0] > 1.5 * credit.proportion[0])
        ([True, True, False, False, False, False], True)
    """
    table = _points(names, points)
    gave = table.sum(axis=1) > 0
    count = len(table)
    rows = np.where(gave[:, None], table / np.where(gave, table.sum(axis=1), 1.0)[:, None], 1.0 / count)
    walks = np.linalg.inv(np.eye(count) - damping * rows) - np.eye(count)
    returning = walks.diagonal() * (1 - damping) / damping
    trusted, standing = gave.copy(), polished_standing(rows, gave)
    returns = returning / standing
    while count >= LEAST and trusted.sum() > gave.sum() / 2:
        suspicion = np.where(
            trusted, np.maximum(returning / standing, _exchange(rows, standing, gave & ~trusted)), 0
        )
        worst = int(np.argmax(suspicion))
        if suspicion[worst] <= limit:
            break
        trusted[worst] = False
        standing = polished_standing(rows, trusted)
    return Credit(
        names=tuple(names),
        proportion=_pagerank(np.where(trusted[:, None], rows, _without_self(standing)), damping),
        plain=_pagerank(rows, damping),
        flagged=gave & ~trusted,
        returns=returns,
        damping=damping,
    )


def polished_standing(rows: Matrix, counted: NDArray[np.bool_]) -> Matrix:
    """Return what the counted givers think of each receiver: a median polish of the log proportions they gave.

    Args:
        rows: Proportions that each gave (givers, receivers); 0 where somebody gave nothing, which says nothing.
        counted: Givers who count (givers,).

    Returns:
        Proportions (receivers,), sum 1.

    Example:
        >>> rows = np.array([[0, 0.5, 0.5], [0.8, 0, 0.2], [0.8, 0.2, 0]])
        >>> polished_standing(rows, np.ones(3, bool)).round(2).tolist()
        [0.67, 0.17, 0.17]
    """
    logs = np.full(rows.shape, np.nan)
    usable = (rows > 0) & counted[:, None]
    logs[usable] = np.log(rows[usable])
    receiver = _median(logs, axis=0, empty=np.log(TOLERANCE))
    for _ in range(POLISHES):
        giver = _median(logs - receiver[None], axis=1, empty=0.0)
        receiver = _median(logs - giver[:, None], axis=0, empty=np.log(TOLERANCE))
    weights = np.exp(receiver - receiver.max())
    return np.asarray(weights / weights.sum(), np.float64)


def credit_statement(credit: Credit, roles: Mapping[str, Sequence[str]]) -> str:
    """Return a statement of contributions in the form of CRediT: names in order of credit, with their roles.

    Args:
        credit: By :func:`share_credit`.
        roles: Of each contributor, such as ``{"ada": ["investigation"]}``.

    Returns:
        One line per contributor.

    Example:
        >>> credit = share_credit(["ada", "bo", "cy"], [[0, 5, 5], [8, 0, 2], [8, 2, 0]])
        >>> print(credit_statement(credit, {"ada": ["methodology", "investigation"]}))
        ada (43 %): methodology, investigation
        bo (28 %): investigation
        cy (28 %): investigation
    """
    places = {name: place for place, name in enumerate(credit.names)}
    return "\n".join(
        f"{name} ({credit.proportion[places[name]]:.0%}".replace("%", " %)")
        + f": {', '.join(roles.get(name, ('investigation',)))}"
        for name in credit.order
    )


def _points(names: Sequence[str], points: ArrayLike) -> Matrix:
    table = np.array(points, np.float64)
    if table.shape != (len(names), len(names)) or len(names) < 3 or not np.all(np.isfinite(table) & (table >= 0)):
        raise StatisticsError(
            f"credit needs points from each of at least 3 contributors to each, 0 or more; found {table.shape} "
            f"for {len(names)} contributors"
        )
    np.fill_diagonal(table, 0.0)
    return table


def _exchange(rows: Matrix, standing: Matrix, flagged: NDArray[np.bool_]) -> Matrix:
    """Return at what rate each exchanges points with flagged contributors: the lesser of giving and getting."""
    if not flagged.any():
        return np.zeros(len(rows))
    giving = rows[:, flagged].sum(axis=1) / max(float(standing[flagged].sum()), TOLERANCE)
    getting = rows[flagged].mean(axis=0) / standing
    return np.asarray(np.minimum(giving, getting), np.float64)


def _without_self(standing: Matrix) -> Matrix:
    """Return rows of the standing of all others, 0 for oneself (contributors, contributors)."""
    table = np.tile(standing, (len(standing), 1))
    np.fill_diagonal(table, 0.0)
    return np.asarray(table / table.sum(axis=1, keepdims=True), np.float64)


def _pagerank(rows: Matrix, damping: float) -> Matrix:
    """Solve r = d · r · rows + (1 − d)/n."""
    count = len(rows)
    rank = np.linalg.solve(np.eye(count) - damping * rows.T, np.full(count, (1 - damping) / count))
    return np.asarray(rank / rank.sum(), np.float64)


def _median(table: Matrix, *, axis: int, empty: float) -> Matrix:
    """Return medians without nan; ``empty`` where there is nothing else."""
    ordered = np.sort(table, axis=axis)  # nan last
    count = np.sum(~np.isnan(table), axis=axis)
    below, above = (np.expand_dims(np.maximum(place, 0), axis) for place in ((count - 1) // 2, count // 2))
    above = np.minimum(above, table.shape[axis] - 1)
    low, high = (np.take_along_axis(ordered, place, axis).squeeze(axis) for place in (below, above))
    return np.where(count > 0, (low + high) / 2, empty)
