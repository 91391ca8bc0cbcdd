"""Bradley–Terry ratings with the style of the images as covariates, beside the plain ones.

log odds that the first is preferred = θ_first − θ_second + β · (x_first − x_second), a tie counting half to
either. With covariates that raters like for their own sake (saturated, large, sharp), θ is what is left of an
entry beside its style. Standard errors are by the sandwich, summed by voter. A covariate that never differs
within a pair is left out and named: prompt length differs only where a generator rewrites its prompts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.errors import StatisticsError

RIDGE = 0.01
"""Pulls ratings to 0, as a normal prior of standard deviation 10: who only won stays finite, if far out."""

STEPS, TOLERANCE = 60, 1e-10


@dataclass(frozen=True, eq=False)
class StyledRatings:
    """Ratings around 0 and the effect of one standard deviation of each covariate, in natural-log odds."""

    rating: NDArray[np.float64]  # (entries,)
    error: NDArray[np.float64]  # (entries,)
    effect: NDArray[np.float64]  # (covariates,) nan where the covariate was left out
    effect_error: NDArray[np.float64]  # (covariates,)
    constant: NDArray[np.bool_]  # (covariates,) never differed within a pair


def styled_ratings(
    voter: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    wins: ArrayLike,
    difference: ArrayLike | None = None,
    *,
    entries: int,
) -> StyledRatings:
    """Fit ratings to votes, controlling for covariates.

    Args:
        voter: Number of each vote's voter.
        first: Entry of each vote.
        second: Its rival.
        wins: 1, 0 or ½, of the first.
        difference: Of the covariates of both images (votes, covariates), first less second; by default none.
        entries: How many entries there are.

    Returns:
        Ratings and effects with sandwich standard errors by voter.
    """
    who, left, right = (np.asarray(column, np.int64) for column in (voter, first, second))
    won = np.asarray(wins, np.float64)
    style = np.zeros((len(won), 0)) if difference is None else np.asarray(difference, np.float64)
    if style.ndim != 2 or len(style) != len(won) or not np.isfinite(style).all():
        raise StatisticsError(f"covariates must be finite numbers (votes, covariates); found shape {style.shape}")
    if len(won) == 0:
        raise StatisticsError("ratings need at least one vote")
    spread = np.asarray(np.sqrt((style**2).mean(axis=0)), np.float64)
    constant = spread <= 1e-12
    scaled_style = np.divide(style[:, ~constant], spread[~constant])
    entry_part = np.zeros((len(won), entries))
    entry_part[np.arange(len(won)), left] += 1
    entry_part[np.arange(len(won)), right] -= 1
    design = np.concatenate([entry_part, scaled_style], axis=1)
    beta, bread = _maximum(design, won)
    residual = (won - special.expit(design @ beta))[:, None] * design
    sums = np.zeros((int(who.max()) + 1, design.shape[1]))
    np.add.at(sums, who, residual)
    pull = sums @ bread
    voters = int(np.count_nonzero(np.bincount(who)))
    covariance = pull.T @ pull * voters / max(voters - 1, 1)
    centre = np.eye(entries) - 1 / entries
    rating = centre @ beta[:entries]
    own = centre @ covariance[:entries, :entries] @ centre.T
    effect, effect_error = np.full(len(constant), np.nan), np.full(len(constant), np.nan)
    effect[~constant] = beta[entries:]
    effect_error[~constant] = np.sqrt(np.diag(covariance)[entries:])
    return StyledRatings(rating, np.sqrt(np.maximum(np.diag(own), 0.0)), effect, effect_error, constant)


def _maximum(
    design: NDArray[np.float64], won: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the parameters and the inverse curvature, by Newton's method with halved steps."""
    beta = np.zeros(design.shape[1])
    value = _value(design, won, beta)
    for _ in range(STEPS):
        chance = special.expit(design @ beta)
        slope = design.T @ (won - chance) - RIDGE * beta
        curve = (design * (chance * (1 - chance))[:, None]).T @ design + RIDGE * np.eye(len(beta))
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while (better := _value(design, won, beta + size * step)) < value and size > 1e-6:
            size /= 2
        beta, gain, value = beta + size * step, better - value, better
        if gain < TOLERANCE:
            break
    chance = special.expit(design @ beta)
    curve = (design * (chance * (1 - chance))[:, None]).T @ design + RIDGE * np.eye(len(beta))
    return beta, np.asarray(np.linalg.inv(curve), np.float64)


def _value(design: NDArray[np.float64], won: NDArray[np.float64], beta: NDArray[np.float64]) -> float:
    gap = design @ beta
    fit = (won * special.log_expit(gap) + (1 - won) * special.log_expit(-gap)).sum()
    return float(fit - RIDGE * (beta**2).sum() / 2)
