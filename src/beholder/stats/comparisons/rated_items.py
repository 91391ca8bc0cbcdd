"""From votes or rankings to ratings with each rater's influence, for confidence intervals and tests over raters.

The command ``rank`` and the functions on data frames both rate through here, so their numbers are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.item_ratings import ItemRatings
from beholder.stats.comparisons.plackett_luce import ABSENT, plackett_luce
from beholder.stats.comparisons.plackett_luce import TIE_RULE as NO_TIES
from beholder.stats.comparisons.thurstone import thurstone
from beholder.stats.comparisons.vote_table import OUTCOMES, tally_votes
from beholder.stats.comparisons.win_graph import comparison_components
from beholder.stats.intervals.clustered_t import RaterInfluence

Model = Literal["bradley-terry", "thurstone"]
"""Of votes on pairs."""

TIE_RULES: dict[Model, str] = {
    "bradley-terry": "Davidson's model: a tie has a probability of its own",
    "thurstone": "half a vote for each",
}


@dataclass(frozen=True, eq=False)
class RatedItems:
    """Ratings of all items, and what stands behind them."""

    fit: ItemRatings
    influence: RaterInfluence
    naive_errors: NDArray[np.float64]  # (items,) standard errors if all answers were independent
    ties: str
    side: float | None = None
    """The advantage of being shown first, in the unit of the ratings, where it was fitted."""


def rate_votes(
    raters: NDArray[np.integer],
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    outcomes: NDArray[np.integer],
    *,
    names: Sequence[object],
    model: Model = "bradley-terry",
    side_effect: bool | None = None,
) -> RatedItems:
    """Rate items by votes on pairs.

    Args:
        raters: Who voted (votes,), numbered from 0.
        first: The item shown first (votes,), numbered as ``names``.
        second: The item shown second (votes,).
        outcomes: 0 where the first won, 1 where the second did, 2 for a tie (votes,).
        names: The items, for messages.
        model: Bradley–Terry with Davidson's ties, or Thurstone's Case V.
        side_effect: Whether being shown first has a term of its own; by default where pairs were shown in both
            orders. Thurstone's model has none.

    Returns:
        The ratings. Items that were never compared, even through others, are an error that names them.
    """
    pairs, counts = tally_votes(raters, first, second, outcomes)
    _require_connected(pairs, names)
    totals = np.asarray(counts.sum(axis=0)).reshape(-1, OUTCOMES)
    if model == "thurstone":
        probit = thurstone(pairs, counts, items=len(names))
        unclustered: ItemRatings = thurstone(pairs, totals, items=len(names))
        return RatedItems(probit, probit.rater_influence(), unclustered.standard_errors, TIE_RULES[model])
    if side_effect is None:
        side_effect = bool({(int(a), int(b)) for a, b in pairs} & {(int(b), int(a)) for a, b in pairs})
    fit = bradley_terry(pairs, counts, items=len(names), side_effect=side_effect)
    unclustered = bradley_terry(pairs, totals, items=len(names), side_effect=side_effect)
    return RatedItems(fit, fit.rater_influence(), unclustered.standard_errors, TIE_RULES[model], fit.side)


def rate_rankings(
    raters: NDArray[np.int64], rankings: NDArray[np.int64], *, names: Sequence[object]
) -> RatedItems:
    """Rate items by rankings, with Plackett and Luce's model.

    Args:
        raters: Who ranked (rankings,), numbered from 0.
        rankings: Items, best first, filled up with −1 (rankings, longest).
        names: The items, for messages.

    Returns:
        The ratings.
    """
    pairs = np.stack([rankings[:, :-1].ravel(), rankings[:, 1:].ravel()], axis=1)
    _require_connected(np.unique(pairs[(pairs != ABSENT).all(axis=1)], axis=0), names)
    fit = plackett_luce(raters, rankings, items=len(names))
    # each ranking as if it were another rater's
    unclustered = plackett_luce(np.arange(len(rankings)), rankings, items=len(names))
    return RatedItems(fit, fit.rater_influence(), unclustered.standard_errors, NO_TIES)


def _require_connected(pairs: NDArray[np.int64], names: Sequence[object]) -> None:
    groups = comparison_components(pairs, len(names))
    if len(groups) > 1:
        named = "; ".join(", ".join(str(names[cell]) for cell in group) for group in groups)
        raise StatisticsError(
            "generators that were never compared, even through others, cannot be rated together: "
            f"found {len(groups)} separate groups ({named}). Collect pairs between them, or ask about each group "
            "in a question of its own"
        )
