"""The beta-binomial: answers of a few raters about an image whose population proportion is not known exactly.

Of n raters asked, k say yes. Were the proportion of all raters who would say so known, k would be binomial. A
model that predicts the proportion, μ, is off by some; with the proportion spread about μ as a Beta of *dispersion*
θ (μ/θ and (1 − μ)/θ its parameters, variance μ(1 − μ) θ/(1 + θ)) the likelihood of the answers, in the order they
came, is

    P = Π_{i<k} (μ + iθ) · Π_{j<n−k} (1 − μ + jθ) / Π_{m<n} (1 + mθ).

At θ = 0 this is μ^k (1 − μ)^(n−k), the binomial one; that there are n!/(k!(n − k)!) orders is the same for every
model and left out.
"""

from dataclasses import dataclass, replace

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
    """How logits become proportions: μ = σ(slope · logit + offset), spread with a dispersion."""

    slope: float
    offset: float
    dispersion: float

    def proportions(self, logits: ArrayLike) -> Array:
        """The predicted proportions (images,)."""
        return np.asarray(special.expit(self.slope * np.asarray(logits, np.float64) + self.offset))


def log_likelihood(yes: ArrayLike, answers: ArrayLike, proportion: ArrayLike, dispersion: float = 0.0) -> Array:
    """Return log P of each image (images,): ``yes`` of ``answers`` raters, predicted ``proportion``."""
    k, n = counts(yes, answers)
    mean = np.asarray(proportion, np.float64)
    if mean.shape != k.shape or not np.all((mean >= 0) & (mean <= 1)):
        raise StatisticsError(f"a likelihood needs a proportion from 0 to 1 for each of {len(k)} images")
    if not 0 <= dispersion < np.inf:
        raise StatisticsError(f"a dispersion is a number from 0; found {dispersion}")
    log_p = np.zeros(len(k))
    with np.errstate(divide="ignore"):  # what was called impossible and happened is −∞
        for step in range(int(n.max())):
            log_p += np.where(step < k, np.log(mean + step * dispersion), 0.0)
            log_p += np.where(step < n - k, np.log(1 - mean + step * dispersion), 0.0)
            log_p -= np.where(step < n, np.log1p(step * dispersion), 0.0)
    return log_p


def fit_line(logits: ArrayLike, yes: ArrayLike, answers: ArrayLike, *, prior: float = PRIOR) -> Line:
    """Return the line that brings logits in line with the answers (Platt's scaling), and the dispersion about it.

    Slope and offset are the likeliest by the binomial, in which every answer counts alike: the mean prediction is
    then the proportion among the answers, whatever the dispersion, which need not be the same for all images. The
    dispersion is the likeliest one about that line. The slope is above 0, so that the order of images stays.
    ``prior`` is the standard deviation of a normal prior on log slope and offset, in logits: against thousands of
    answers it is nothing; with a few, all of them one way, it keeps predictions from 0 and 1. With ``np.inf``
    there is none.
    """
    k, n = counts(yes, answers)
    x = np.asarray(logits, np.float64)
    if x.shape != k.shape or not np.isfinite(x).all():
        raise StatisticsError(f"a line needs a finite logit for each of {len(k)} images")

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, offset = np.exp(parameters[0]), parameters[1]
        z = slope * x + offset
        likelihood = float(k @ special.log_expit(z) + (n - k) @ special.log_expit(-z))
        rest = k - n * special.expit(z)
        pull = parameters / prior**2
        gradient = pull - np.array([rest @ x * slope, rest.sum()])
        return float(pull @ parameters) / 2 - likelihood, gradient

    optimum = optimize.minimize(
        loss,
        np.zeros(2),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-5.0, 5.0), (-20.0, 20.0)],
        options={"maxiter": STEPS, "ftol": 1e-15, "gtol": 1e-9},
    ).x
    line = Line(float(np.exp(optimum[0])), float(optimum[1]), 0.0)
    return replace(line, dispersion=_likeliest_dispersion(k, n, line.proportions(x)))


def _likeliest_dispersion(k: Array, n: Array, proportion: Array) -> float:
    clipped = np.clip(proportion, 1e-12, 1 - 1e-12)
    ends = (float(np.log(DISPERSIONS[0])), float(np.log(DISPERSIONS[1])))
    optimum = optimize.minimize_scalar(
        lambda log_dispersion: -float(log_likelihood(k, n, clipped, float(np.exp(log_dispersion))).sum()),
        bounds=ends,
        method="bounded",
    )
    return float(np.exp(optimum.x))


def counts(yes: ArrayLike, answers: ArrayLike) -> tuple[Array, Array]:
    """The numbers of raters who said yes and who were asked, each (images,), checked."""
    k, n = np.asarray(yes, np.float64), np.asarray(answers, np.float64)
    if k.ndim != 1 or k.shape != n.shape or not len(k):
        raise StatisticsError(f"counts of answers need two columns of one length; found {k.shape}, {n.shape}")
    integral = (np.rint(k) == k) & (np.rint(n) == n)
    if not np.all(integral & (k >= 0) & (k <= n) & (n > 0)):
        raise StatisticsError("counts of answers are whole numbers: at least one asked, and no more that said yes")
    return k, n
