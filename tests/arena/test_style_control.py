"""Ratings with style as a covariate, against statsmodels and in a world where style is all there is."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special

from beholder.arena.style_control import styled_ratings
from beholder.errors import StatisticsError


def votes(count: int = 900) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 4, count)
    second = (first + rng.integers(1, 4, count)) % 4
    style = rng.normal(0, 2, (count, 2))
    truth = np.array([0.6, 0.2, -0.2, -0.6])
    odds = truth[first] - truth[second] + style @ [0.4, 0.0]
    return (
        rng.integers(0, 60, count),
        first,
        second,
        (rng.random(count) < special.expit(odds)).astype(float),
        style,
    )


def test_as_a_logistic_regression_with_errors_by_voter() -> None:
    who, first, second, wins, style = votes()
    fit = styled_ratings(who, first, second, wins, style, entries=4)
    spread = np.sqrt((style**2).mean(axis=0))
    design = np.zeros((len(wins), 5))
    for entry in range(3):  # the last entry is the reference
        design[:, entry] = (first == entry).astype(float) - (second == entry)
    design[:, 3:] = style / spread
    oracle = sm.Logit(wins, design).fit(
        disp=0, cov_type="cluster", cov_kwds={"groups": who, "use_correction": False, "df_correction": False}
    )
    gaps = fit.rating[:3] - fit.rating[3]
    assert gaps == pytest.approx(oracle.params[:3], abs=2e-4)
    assert fit.effect == pytest.approx(oracle.params[3:], abs=2e-4)
    groups = len(np.unique(who))
    assert fit.effect_error == pytest.approx(oracle.bse[3:] * np.sqrt(groups / (groups - 1)), rel=2e-3)
    assert fit.rating.sum() == pytest.approx(0, abs=1e-9)


def test_an_advantage_of_style_alone_is_taken_out() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 2, 4000)
    style = np.where(first == 0, 1.0, -1.0)[:, None] + rng.normal(0, 0.5, (4000, 1))  # entry 0 is more saturated
    wins = (rng.random(4000) < special.expit(0.8 * style[:, 0])).astype(float)
    who = np.arange(4000) % 100
    plain = styled_ratings(who, first, 1 - first, wins, entries=2)
    styled = styled_ratings(who, first, 1 - first, wins, style, entries=2)
    assert plain.rating[0] > 0.3
    assert abs(styled.rating[0]) < 3 * styled.error[0]
    assert styled.effect[0] / styled.effect_error[0] > 5


def test_a_covariate_that_never_differs_is_left_out_and_named() -> None:
    who, first, second, wins, style = votes(200)
    style[:, 1] = 0.0
    fit = styled_ratings(who, first, second, wins, style, entries=4)
    assert fit.constant.tolist() == [False, True]
    assert np.isnan(fit.effect[1])
    alone = styled_ratings(who, first, second, wins, style[:, :1], entries=4)
    assert fit.rating == pytest.approx(alone.rating)


def test_faults() -> None:
    with pytest.raises(StatisticsError, match="at least one vote"):
        styled_ratings([], [], [], [], entries=2)
    with pytest.raises(StatisticsError, match="finite"):
        styled_ratings([0], [0], [1], [1.0], [[np.nan]], entries=2)
