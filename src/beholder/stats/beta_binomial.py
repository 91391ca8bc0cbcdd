"""Answers of a few people about an image whose share in all people is not known exactly: the beta-binomial.

Of n people asked, k say yes. Were the share of all people who would say so known, k would be binomial. A model
that predicts the share, μ, is off by some; with the share spread about μ as a Beta of *dispersion* θ (μ/θ and
(1 − μ)/θ its parameters, variance μ(1 − μ) θ/(1 + θ)) the likelihood of the answers, in the order they came, is

    P = Π_{i<k} (μ + iθ) · Π_{j<n−k} (1 − μ + jθ) / Π_{m<n} (1 + mθ).

At θ = 0 this is μ^k (1 − μ)^(n−k), the binomial one; that there are n!/(k!(n − k)!) orders is the same for every
model and left out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from beholder.errors import StatisticsError

Array = NDArray[np.float64]

DISPERSIONS = (1e-6, 10.0)
"""Between which a dispersion is looked for."""

PRIOR = 1.0
"""Standard deviation of what is expected of log slope and offset before any answer is seen."""

STEPS = 500


@dataclass(frozen=True, slots=True)
class Line:
    """How logits become shares: μ = σ(slope · logit + offset), spread with a dispersion."""

    slope: float
    offset: float
    dispersion: float

    def shares(self, logits: ArrayLike) -> Array:
        """The predicted shares (images,)."""
        return np.asarray(special.expit(self.slope * np.asarray(logits, np.float64) + self.offset))


def log_likelihood(said: ArrayLike, asked: ArrayLike, share: ArrayLike, dispersion: float = 0.0) -> Array:
    """Return log P of each image (images,): ``said`` of ``asked`` people, predicted ``share``."""
    k, n = counts(said, asked)
    mean = np.asarray(share, np.float64)
    if mean.shape != k.shape or not np.all((mean >= 0) & (mean <= 1)):
        raise StatisticsError(f"a likelihood needs a share from 0 to 1 for each of {len(k)} images")
    if not 0 <= dispersion < np.inf:
        raise StatisticsError(f"a dispersion is a number from 0; found {dispersion}")
    found = np.zeros(len(k))
    with np.errstate(divide="ignore"):  # what was called impossible and happened is −∞
        for one in range(int(n.max())):
            found += np.where(one < k, np.log(mean + one * dispersion), 0.0)
            found += np.where(one < n - k, np.log(1 - mean + one * dispersion), 0.0)
            found -= np.where(one < n, np.log1p(one * dispersion), 0.0)
    return found


def fit_line(logits: ArrayLike, said: ArrayLike, asked: ArrayLike, *, prior: float = PRIOR) -> Line:
    """Return the line under which the answers are the likeliest (Platt's scaling, with a dispersion).

    The slope is above 0, so that the order of images stays. ``prior`` is the deviation of a normal prior on log
    slope and offset, in logits: against thousands of answers it is nothing; with a few, all of them one way, it
    keeps predictions from 0 and 1. With ``np.inf`` there is none.
    """
    k, n = counts(said, asked)
    x = np.asarray(logits, np.float64)
    if x.shape != k.shape or not np.isfinite(x).all():
        raise StatisticsError(f"a line needs a finite logit for each of {len(k)} images")

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, dispersion = np.exp(parameters[[0, 2]])
        mean = special.expit(slope * x + parameters[1])
        value, by_mean, by_dispersion = _slopes(k, n, mean, dispersion)
        by_logit = by_mean * mean * (1 - mean)
        gradient = np.array([by_logit @ x * slope, by_logit.sum(), by_dispersion * dispersion])
        pull = np.array([*parameters[:2], 0.0]) / prior**2
        return -value + float(pull @ parameters) / 2, pull - gradient

    ends = (np.log(DISPERSIONS[0]), np.log(DISPERSIONS[1]))
    found = optimize.minimize(
        loss,
        np.array([0.0, 0.0, np.log(0.1)]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-5.0, 5.0), (-20.0, 20.0), ends],
        options={"maxiter": STEPS, "ftol": 1e-15, "gtol": 1e-9},
    ).x
    return Line(float(np.exp(found[0])), float(found[1]), float(np.exp(found[2])))


def _slopes(k: Array, n: Array, mean: Array, dispersion: float) -> tuple[float, Array, float]:
    """Return Σ log P, its slopes by each image's mean (images,), and that by the dispersion."""
    mean = np.clip(mean, 1e-12, 1 - 1e-12)
    value, by_mean, by_dispersion = 0.0, np.zeros(len(k)), 0.0
    for one in range(int(n.max())):
        step = one * dispersion
        yes, no, is_yes, is_no, asked = mean + step, 1 - mean + step, one < k, one < n - k, float((one < n).sum())
        value += float(np.log(yes) @ is_yes + np.log(no) @ is_no - np.log1p(step) * asked)
        by_mean += is_yes / yes - is_no / no
        by_dispersion += one * float((1 / yes) @ is_yes + (1 / no) @ is_no - asked / (1 + step))
    return value, by_mean, by_dispersion


def counts(said: ArrayLike, asked: ArrayLike) -> tuple[Array, Array]:
    """The numbers of people who said yes and who were asked, each (images,), checked."""
    k, n = np.asarray(said, np.float64), np.asarray(asked, np.float64)
    if k.ndim != 1 or k.shape != n.shape or not len(k):
        raise StatisticsError(f"counts of answers need two columns of one length; found {k.shape}, {n.shape}")
    whole = (np.rint(k) == k) & (np.rint(n) == n)
    if not np.all(whole & (k >= 0) & (k <= n) & (n > 0)):
        raise StatisticsError("counts of answers are whole numbers: at least one asked, and no more that said yes")
    return k, n
