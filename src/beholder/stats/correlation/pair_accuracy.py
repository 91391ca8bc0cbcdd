"""How often a scorer prefers the image that raters prefer: over all pairs (micro), or by prompt, averaged (macro).

The tie rule is part of the number. Pairs that raters call equal are always left out, and counted. A pair to which
the scorer gives equal scores is by the rule *half* right, *wrong*, or left out (*drop*).
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import clustered_ratio

Ties = Literal["half", "wrong", "drop"]
"""What equal scores count as."""


@dataclass(frozen=True, eq=False)
class PairAccuracy:
    """Right answers and pairs by group, and the two averages; nan where no pair is left."""

    micro: float  # right pairs over pairs
    macro: float  # mean over groups of the same
    right: NDArray[np.float64]  # (groups,)
    pairs: NDArray[np.float64]  # (groups,) that count, 0 where all were ties
    rater_ties: int  # pairs left out because raters had no preference
    score_ties: int  # pairs that count, or would, with equal scores
    ties: str  # the rule

    def micro_estimate(self, weights: NDArray[np.integer], *, level: float = 0.95) -> Estimate:
        """The micro accuracy with an expanded BCa confidence interval; ``weights`` are (replicates, groups)."""
        return clustered_ratio(self.right[:, None], self.pairs[:, None], weights, level=level)[0]

    def macro_estimate(self, weights: NDArray[np.integer], *, level: float = 0.95) -> Estimate:
        """The macro accuracy likewise; groups without a pair that counts are left out."""
        counts = (self.pairs > 0).astype(np.float64)
        proportion = np.where(self.pairs > 0, self.right / np.maximum(self.pairs, 1e-300), 0.0)
        return clustered_ratio(proportion[:, None], counts[:, None], weights, level=level)[0]


def pair_accuracy(
    first_scores: ArrayLike,
    second_scores: ArrayLike,
    preferences: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    ties: Ties = "half",
) -> PairAccuracy:
    """Compare scores of the first and second image of each pair with raters' preference.

    ``preferences`` is above 0 where raters prefer the first, below 0 the second, and 0 for a tie (votes for the
    first less votes for the second will do). ``groups`` is the prompt of each pair as an index from 0; each pair
    its own by default. The confidence intervals of the result resample groups.
    """
    first, second, lead = (np.asarray(column, np.float64) for column in (first_scores, second_scores, preferences))
    if first.ndim != 1 or not first.shape == second.shape == lead.shape or len(first) == 0:
        raise StatisticsError(
            "pair accuracy needs three columns of one length; found shapes "
            f"{first.shape}, {second.shape}, {lead.shape}"
        )
    if not np.all(np.isfinite(first) & np.isfinite(second) & np.isfinite(lead)):
        raise StatisticsError("pair accuracy needs finite scores and preferences; leave the others out")
    if ties not in ("half", "wrong", "drop"):
        raise StatisticsError(f"equal scores count as half, wrong, or drop; found {ties!r}")
    group = np.arange(len(first)) if groups is None else np.asarray(groups)
    if group.shape != first.shape or group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(f"groups need one integer index from 0 per pair; found {group.dtype} {group.shape}")

    decided, equal = lead != 0, first == second
    agree = np.where(equal, 0.5 if ties == "half" else 0.0, np.sign(first - second) == np.sign(lead))
    counts = decided & ~(equal & (ties == "drop"))
    size = int(group.max()) + 1
    right = np.bincount(group, np.where(counts, agree, 0.0), size).astype(np.float64)
    pairs = np.bincount(group, counts, size).astype(np.float64)
    nonempty = pairs > 0
    return PairAccuracy(
        micro=float(right.sum() / pairs.sum()) if nonempty.any() else float(np.nan),
        macro=float(np.mean(right[nonempty] / pairs[nonempty])) if nonempty.any() else float(np.nan),
        right=right,
        pairs=pairs,
        rater_ties=int((~decided).sum()),
        score_ties=int((decided & equal).sum()),
        ties=ties,
    )


def pairs_within(groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of every two rows of one group: the first and the second of each pair."""
    order = np.argsort(groups, kind="stable")
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    pairs = [pair for rows in np.split(order, cuts) for pair in combinations(rows.tolist(), 2)]
    pair_indices = np.array(pairs, np.int64).reshape(-1, 2)
    return pair_indices[:, 0], pair_indices[:, 1]
