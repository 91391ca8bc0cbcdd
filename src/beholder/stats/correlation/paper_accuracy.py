"""Pair accuracy as three papers count it: their rules for ties differ, and move the figure by up to five points.

- *HPD v2* (Wu et al. 2023): of all pairs of a prompt, 1 − the proportion of inverted ones, averaged over prompts.
  A tie, of raters or of scores, is not inverted, so it counts as right.
- *ImageReward* (Xu et al. 2023): pairs that raters call equal are dropped; pooled over prompts. Equal scores are
  wrong.
- *PickScore* (Kirstain et al. 2023): scores whose chances differ by less than a threshold are called a tie. A
  point where raters and scores say the same, half a point where one of them alone says tie. The threshold is tuned
  on other pairs than those it is applied to.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.correlation.pair_accuracy import PairAccuracy, pair_accuracy

Paper = Literal["hpd-v2", "imagereward", "pickscore"]

AVERAGED: dict[Paper, str] = {"hpd-v2": "macro", "imagereward": "micro", "pickscore": "micro"}
"""Which average each paper reports."""

TIES: dict[Paper, str] = {
    "hpd-v2": "any tie right",
    "imagereward": "raters dropped, scores wrong",
    "pickscore": "one-sided ties half, by a threshold",
}
"""Their rules in words."""


def paper_accuracy(
    paper: Paper,
    first_scores: ArrayLike,
    second_scores: ArrayLike,
    preferences: ArrayLike,
    *,
    groups: NDArray[np.int64],
    threshold: float = 0.0,
) -> PairAccuracy:
    """Compare the scores of pairs with raters' preferences (0 for a tie) by a paper's rule.

    ``groups`` is the prompt of each pair, from 0. ``threshold`` is PickScore's, on the scale of the scores: the
    chances σ(Δ) and 1 − σ(Δ) differ by tanh(Δ/2), which grows with Δ, so a threshold on scores says the same.
    """
    if paper == "imagereward":
        return pair_accuracy(first_scores, second_scores, preferences, groups=groups, ties="wrong")
    first, second, lead = (np.asarray(column, np.float64) for column in (first_scores, second_scores, preferences))
    if paper == "hpd-v2":
        right = (np.sign(first - second) * np.sign(lead) >= 0).astype(np.float64)
    elif paper == "pickscore":
        right = _points(first - second, np.sign(lead), threshold)
    else:
        raise StatisticsError(f"a paper's rule is one of {', '.join(AVERAGED)}; found {paper!r}")
    count = np.bincount(groups).astype(np.float64)
    by_group = np.bincount(groups, right).astype(np.float64)
    nonempty = count > 0
    return PairAccuracy(
        micro=float(right.mean()),
        macro=float(np.mean(by_group[nonempty] / count[nonempty])),
        right=by_group,
        pairs=count,
        rater_ties=int((lead == 0).sum()),
        score_ties=int((first == second).sum()),
        ties=paper,
    )


def tune_threshold(first_scores: ArrayLike, second_scores: ArrayLike, preferences: ArrayLike) -> float:
    """Return the threshold on score differences that gives most points; of several, the smallest.

    The points change only where a pair turns into a tie, so every difference that there is is tried.
    """
    margin = np.asarray(first_scores, np.float64) - np.asarray(second_scores, np.float64)
    preference = np.sign(np.asarray(preferences, np.float64))
    order = np.argsort(np.abs(margin))
    size = np.abs(margin[order])
    decided = _points(margin, preference, 0.0)[order]
    tied = np.where(preference == 0, 1.0, 0.5)[order]
    gains = np.concatenate([[0.0], np.cumsum(tied - decided)])  # with the k closest pairs called ties
    gains[1:-1][size[1:] == size[:-1]] = -np.inf  # equal differences turn into ties together
    best = int(gains.argmax())
    return 0.0 if best == 0 else float(np.nextafter(size[best - 1], np.inf))


def _points(margin: NDArray[np.float64], preference: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """1 where both say the same, ½ where one alone says tie, 0 where they contradict each other."""
    predicted = np.where(np.abs(margin) < threshold, 0.0, np.sign(margin))
    either = (predicted == 0) ^ (preference == 0)
    return np.where(predicted == preference, 1.0, np.where(either, 0.5, 0.0))
