"""Calibration of scores: the probability that raters prefer one image, and how well it matches their choices.

For two images whose scores differ by d, raters are taken to prefer the first with probability

    P(first preferred) = σ(k · d) = 1 / (1 + e^(−k d)),

with one number k, the *scale*, fitted to choices of raters by maximum likelihood. Chances are *calibrated* if of
all pairs with a chance of 70 % raters prefer the first in 70 %. How far they are off, on choices that the scale
was not fitted to, is the expected calibration error (ECE).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.proportions import wilson

BINS = 10
FOLDS = 5
CHANCE_REPLICATES = 200
STEPS, TOLERANCE = 200, 1e-12

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reliability:
    """Chances of the image that the scorer prefers, ½ to 1 in bins of equal width, beside raters' choices."""

    chance: Array  # (bins,) mean chance given; nan where a bin is empty
    observed: Array  # (bins,) proportion of raters who preferred that image
    low: Array  # (bins,) Wilson's interval of it, as if all choices were independent
    high: Array  # (bins,)
    pairs: NDArray[np.int64]  # (bins,)
    ece: float
    """Σ over bins of |chance − observed| times the bin's proportion of choices."""
    ece_by_chance: float
    """What true chances would have for an ECE with so few choices, on average: below it nothing can be told."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """A scale, and how true the chances are that it gives on choices it was not fitted to."""

    scale: Estimate
    reliability: Reliability
    folds: int
    pairs: int
    choices: float


def preference_chance(differences: ArrayLike, scale: float) -> Array:
    """σ(scale · difference)."""
    return np.asarray(special.expit(scale * np.asarray(differences, np.float64)))


def percentile(values: ArrayLike, reference: ArrayLike) -> Array:
    """Return for each value the percentage of the reference that is lower, equal ones counting half: 0 to 100."""
    ordered = np.sort(np.asarray(reference, np.float64))
    if not ordered.size or not np.isfinite(ordered).all():
        raise StatisticsError("a percentile needs a reference of finite scores, at least one")
    scores = np.asarray(values, np.float64)
    below, upto = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
    return np.asarray(100.0 * (below + upto) / 2 / ordered.size)


def chance_over(values: ArrayLike, reference: ArrayLike, scale: float) -> Array:
    """Return for each value the chance to be preferred over an image drawn from the reference: mean of σ."""
    scores, reference_scores = np.asarray(values, np.float64), np.asarray(reference, np.float64)
    if not reference_scores.size:
        raise StatisticsError("a chance to be preferred needs reference scores, at least one")
    rows = [
        preference_chance(score - reference_scores, scale).mean() for score in scores
    ]  # a row at a time: both may be long
    return np.asarray(rows, np.float64)


def fit_scale(
    differences: ArrayLike,
    proportions: ArrayLike,
    *,
    answers: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Return the scale k under which raters' choices are the likeliest.

    ``proportions`` p are those for the first of each pair, of ``answers`` w raters (one by default; a tie is ½).
    Where no choice contradicts the scores no finite scale is the likeliest; then, as Platt advises, proportions
    are drawn to ½ by the factor N/(N + 2), N the number of answers. The confidence interval is normal with an
    error that lets answers within a group (prompts, or raters) hang together: √(G/(G − 1) Σ_groups (Σ w d (p −
    σ))²) / Σ w d² σ(1 − σ).
    """
    d, p, w, group = _checked(differences, proportions, answers, groups)
    k = _likeliest(d, p, w)
    chance = special.expit(k * d)
    curvature = float(np.sum(w * d**2 * chance * (1 - chance)))
    slopes = np.bincount(group, w * d * (p - chance))
    count = int(group.max()) + 1
    error = float(np.sqrt(count / (count - 1) * np.sum(slopes**2))) / curvature if count > 1 else np.nan
    reach = float(special.ndtri((1 + level) / 2)) * error
    return Estimate(
        value=k,
        low=k - reach,
        high=k + reach,
        level=level,
        method="normal, errors clustered by group",
        raters=count,
        items=len(d),
        answers=round(float(w.sum())),
    )


def reliability(
    differences: ArrayLike,
    proportions: ArrayLike,
    chances: ArrayLike,
    *,
    answers: ArrayLike | None = None,
    bins: int = BINS,
    rng: np.random.Generator,
) -> Reliability:
    """Hold chances for the first of each pair against raters' choices.

    Which image of a pair comes first is of no meaning, so each pair is turned to the image with the higher chance.
    """
    _, p, w, _ = _checked(differences, proportions, answers, None)
    chance_first = np.asarray(chances, np.float64)
    if chance_first.shape != p.shape or not np.all((chance_first >= 0) & (chance_first <= 1)):
        raise StatisticsError(f"reliability needs a chance from 0 to 1 for each of {len(p)} pairs")
    turned = chance_first < 0.5
    chance, agreeing = np.where(turned, 1 - chance_first, chance_first), np.where(turned, 1 - p, p)
    place = np.minimum(((chance - 0.5) * 2 * bins).astype(np.int64), bins - 1)
    total = np.bincount(place, w, bins)
    low, high = wilson(np.minimum(np.bincount(place, w * agreeing, bins), total), total)
    votes = np.maximum(np.rint(w), 1).astype(np.int64)
    drawn = [rng.binomial(votes, chance) / votes for _ in range(CHANCE_REPLICATES)]
    return Reliability(
        chance=_means(place, chance, w, bins),
        observed=_means(place, agreeing, w, bins),
        low=low,
        high=high,
        pairs=np.bincount(place, minlength=bins),
        ece=_ece(place, chance, agreeing, w, bins),
        ece_by_chance=float(np.mean([_ece(place, chance, votes_drawn, w, bins) for votes_drawn in drawn])),
    )


def calibrate(
    differences: ArrayLike,
    proportions: ArrayLike,
    *,
    answers: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    folds: int = FOLDS,
    bins: int = BINS,
    rng: np.random.Generator,
) -> Calibration:
    """Fit the scale to all choices, and judge it fold by fold on groups that it was not fitted to."""
    d, p, w, group = _checked(differences, proportions, answers, groups)
    count = int(group.max()) + 1
    if count < folds or folds < 2:
        raise StatisticsError(f"calibration in {folds} folds needs as many groups (prompts); found {count}")
    fold = rng.permutation(np.arange(count) % folds)[group]
    chances = np.empty(len(d))
    for number in range(folds):
        held = fold == number
        chances[held] = preference_chance(d[held], _likeliest(d[~held], p[~held], w[~held]))
    return Calibration(
        scale=fit_scale(d, p, answers=w, groups=group),
        reliability=reliability(d, p, chances, answers=w, bins=bins, rng=rng),
        folds=folds,
        pairs=len(d),
        choices=float(w.sum()),
    )


def _likeliest(d: Array, p: Array, w: Array) -> float:
    """Newton's method on a concave function of one number; differences are brought to a spread of 1 first."""
    spread = float(np.sqrt(np.mean(d**2)))
    if spread == 0:
        raise StatisticsError("a scale needs pairs whose scores differ; all differences are 0")
    agreeing = np.where(d > 0, p, 1 - p)[d != 0]
    endless = bool(np.all(agreeing == 1) or np.all(agreeing == 0))
    total = float(w.sum())
    target = 0.5 + (p - 0.5) * total / (total + 2) if endless else p
    x, k = d / spread, 0.0
    for _ in range(STEPS):
        chance = special.expit(k * x)
        step = float(np.sum(w * x * (target - chance)) / np.sum(w * x**2 * chance * (1 - chance)))
        k += float(np.clip(step, -2.0, 2.0))
        if abs(step) < TOLERANCE * max(abs(k), 1.0):
            break
    return k / spread


def _means(place: NDArray[np.int64], values: Array, w: Array, bins: int) -> Array:
    total = np.bincount(place, w, bins)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(place, w * values, bins) / total)


def _ece(place: NDArray[np.int64], chance: Array, agreeing: Array, w: Array, bins: int) -> float:
    return float(np.abs(np.bincount(place, w * (chance - agreeing), bins)).sum() / w.sum())


def _checked(
    differences: ArrayLike, proportions: ArrayLike, answers: ArrayLike | None, groups: ArrayLike | None
) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    d, p = np.asarray(differences, np.float64), np.asarray(proportions, np.float64)
    w = np.ones_like(p) if answers is None else np.asarray(answers, np.float64)
    group = np.arange(len(d)) if groups is None else np.asarray(groups)
    if d.ndim != 1 or not d.shape == p.shape == w.shape == group.shape or not len(d):
        shapes = ", ".join(str(column.shape) for column in (d, p, w, group))
        raise StatisticsError(f"calibration needs columns of one length, not empty; found shapes {shapes}")
    if not np.all(np.isfinite(d)) or not np.all((p >= 0) & (p <= 1)) or not np.all((w > 0) & np.isfinite(w)):
        raise StatisticsError("calibration needs finite differences, proportions from 0 to 1 and answers above 0")
    if group.dtype.kind not in "iu" or group.min() < 0:
        raise StatisticsError(f"groups need one integer index from 0 per pair; found {group.dtype}")
    return d, p, w, group.astype(np.int64)
