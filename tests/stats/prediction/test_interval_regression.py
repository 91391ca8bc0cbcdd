"""Interval regression: least squares as a limit, a likelihood worked by hand, and what censoring hides."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import optimize, stats

from beholder.errors import StatisticsError
from beholder.stats.prediction.interval_regression import interval_regression


def drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(count), rng.normal(0, 1, count)])
    return design, design @ [0.6, 0.3] + rng.normal(0, 0.2, count)


def rounded(latent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals that five points from 0 to 1 stand for."""
    points = np.floor(4 * np.clip(latent, 0, 1) + 0.5) / 4
    return np.where(points > 0, points - 0.125, -np.inf), np.where(points < 1, points + 0.125, np.inf)


def test_narrow_intervals_are_least_squares() -> None:
    design, latent = drawn(200)
    fit = interval_regression(latent - 1e-4, latent + 1e-4, design)
    plain = sm.OLS(latent, design).fit()
    assert fit.coefficients == pytest.approx(plain.params, abs=1e-6)
    assert fit.spread == pytest.approx(float(np.sqrt(np.mean(plain.resid**2))), rel=1e-4)
    squared = plain.resid[:, None] ** 2 * design
    inverse = np.linalg.inv(design.T @ design)
    robust = inverse @ (design.T @ squared) @ inverse * 200 / 197  # σ is estimated as well: three numbers
    assert fit.covariance == pytest.approx(robust, rel=1e-3)


def test_it_is_the_maximum_of_the_likelihood() -> None:
    design, latent = drawn(80)
    low, high = rounded(latent)

    def cost(point: np.ndarray) -> float:
        centre, spread = design @ point[:2], np.exp(point[2])
        chance = stats.norm.cdf(high, centre, spread) - stats.norm.cdf(low, centre, spread)
        return -float(np.log(chance).sum())

    found = optimize.minimize(cost, [0.5, 0.2, -1.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9})
    fit = interval_regression(low, high, design)
    assert np.append(fit.coefficients, np.log(fit.spread)) == pytest.approx(found.x, abs=1e-4)


def test_what_the_ends_of_a_scale_hide_comes_back() -> None:
    design, latent = drawn(4000)
    low, high = rounded(latent)
    fit = interval_regression(low, high, design)
    assert fit.coefficients == pytest.approx([0.6, 0.3], abs=4 * float(np.sqrt(np.diag(fit.covariance)).max()))
    points = np.floor(4 * np.clip(latent, 0, 1) + 0.5) / 4
    assert np.linalg.lstsq(design, points, rcond=None)[0][1] < 0.27


def test_copies_within_a_cluster_add_nothing() -> None:
    design, latent = drawn(100)
    low, high = rounded(latent)
    once = interval_regression(low, high, design)
    ends = (np.repeat(low, 2), np.repeat(high, 2))
    twice = interval_regression(*ends, np.repeat(design, 2, axis=0), np.repeat(np.arange(100), 2))
    assert twice.coefficients == pytest.approx(once.coefficients, abs=1e-6)
    assert twice.covariance == pytest.approx(once.covariance, rel=1e-4)


def test_faults_are_named() -> None:
    design, latent = drawn(10)
    with pytest.raises(StatisticsError, match="lower ends below upper ones"):
        interval_regression(latent, latent, design)
    with pytest.raises(StatisticsError, match="2 clusters; a regression with 2 columns needs more"):
        interval_regression(latent, latent + 1, design, np.arange(10) % 2)
