import numpy as np
import psignifit
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats

from beholder.errors import StatisticsError
from beholder.stats.psychophysics.psychometric import Shape, fit_psychometric, threshold_estimate

SHAPES: tuple[Shape, ...] = ("logistic", "gaussian", "weibull")
LEVELS = np.array([100.0, 150, 200, 300, 400, 600, 800])


def some_answers(seed: int, trials: int = 60) -> NDArray[np.int64]:
    chance = 0.5 + 0.48 * stats.norm.cdf(np.log(LEVELS), np.log(280), 0.5)
    return np.asarray(np.random.default_rng(seed).binomial(trials, chance), np.int64)


def test_two_levels_by_hand() -> None:
    # two levels and two parameters fit exactly: F = .05 and .95 of the way at 2 and 6, so the width is 4 and the
    # threshold 4 for the symmetric forms. γ = ½, λ = 0: ψ = .525 and .975
    for shape in SHAPES[:2]:
        fit = fit_psychometric([2, 6], [525, 975], [1000, 1000], shape=shape, lapse=0.0)
        assert (fit.threshold, fit.width) == pytest.approx((4, 4), rel=1e-6)
        assert fit.deviance == pytest.approx(0, abs=1e-6)
        assert fit.level_at(0.75) == pytest.approx(4)
    # Weibull on log x: the same between ln 2 and ln 6; ψ(threshold) is halfway
    fit = fit_psychometric([2, 6], [525, 975], [1000, 1000], lapse=0.0)
    assert fit.width == pytest.approx(np.log(3), rel=1e-6)
    assert fit.chance(fit.threshold) == pytest.approx(0.75)
    np.testing.assert_allclose(fit.chance([2, 6]), [0.525, 0.975], atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_against_psignifit(shape: Shape) -> None:
    right, trials = some_answers(1), np.full(7, 60)
    ours = fit_psychometric(LEVELS, right, trials, shape=shape, lapse=0.02)
    x = np.log(LEVELS) if shape == "weibull" else LEVELS
    theirs = psignifit.psignifit(
        np.stack([x, right, trials], axis=1),
        sigmoid="norm" if shape == "gaussian" else shape,
        experiment_type="2AFC",
        fixed_parameters={"lambda": 0.02, "eta": 1e-8},
        priors=dict.fromkeys(("threshold", "width"), np.ones_like),  # flat: its mode is the maximum likelihood
        verbose=False,
    ).parameter_estimate_MAP
    middle = np.log(ours.threshold) if shape == "weibull" else ours.threshold
    assert middle == pytest.approx(theirs["threshold"], rel=2e-3)
    assert ours.width == pytest.approx(theirs["width"], rel=1e-2)


@pytest.mark.parametrize("seed", range(3))
def test_all_rates_free_against_scipys_optimiser(seed: int) -> None:
    right, trials = some_answers(seed), np.full(7, 60)
    fit = fit_psychometric(LEVELS, right, trials, shape="gaussian", guess=None, lapse=None)

    def loss(p: NDArray[np.float64]) -> float:
        chance = p[2] + (1 - p[2] - p[3]) * stats.norm.cdf(LEVELS, p[0], p[1])
        return float(-np.sum(right * np.log(chance) + (60 - right) * np.log(1 - chance)))

    best = min(
        optimize.minimize(
            loss, (m, s, 0.4, 0.03), method="Nelder-Mead", bounds=[(1, 1500), (5, 2000), (0, 0.6), (1e-6, 0.1)],
            options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-10},
        ).fun
        for m, s in ((200, 100), (400, 200))
    )  # fmt: skip
    assert -fit.log_likelihood <= best + 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_laws(shape: Shape) -> None:
    right, trials = some_answers(2), np.full(7, 60)
    fit = fit_psychometric(LEVELS, right, trials, shape=shape)
    shuffled = fit_psychometric(LEVELS[::-1], right[::-1], trials, shape=shape)
    assert shuffled.threshold == pytest.approx(fit.threshold)
    seconds = fit_psychometric(LEVELS / 1000, right, trials, shape=shape)  # the unit does not matter
    assert seconds.threshold == pytest.approx(fit.threshold / 1000, rel=1e-4)
    single = fit_psychometric(
        np.repeat(LEVELS, 60), np.concatenate([np.arange(60) < k for k in right]).astype(float), shape=shape
    )
    assert single.threshold == pytest.approx(fit.threshold)
    assert fit.chance(fit.level_at(0.8)) == pytest.approx(0.8)
    assert np.isnan(fit.level_at(0.4))  # below the guess rate
    assert np.isnan(fit.level_at(0.999)) or fit.lapse < 0.001
    steps = fit.chance(np.linspace(1, 2000, 200))
    assert np.all(np.diff(steps) >= 0)
    assert not fit.doubtful


def test_interval_holds_the_truth() -> None:
    truth = fit_psychometric([2, 6], [525, 975], [1000, 1000], shape="logistic", lapse=0.0)
    levels = np.arange(1.0, 8.0)
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(50):
        right = rng.binomial(40, truth.chance(levels))
        fit = fit_psychometric(levels, right, np.full(7, 40), shape="logistic", lapse=0.0)
        threshold = threshold_estimate(fit, 0.75)
        held += threshold.low <= 4 <= threshold.high
    assert held >= 42  # 95 % of 50 is 47.5; three and a half standard errors below
    assert threshold.answers == 280


def test_profile_ends_by_a_search() -> None:
    # the ends are where the best function that passes 75 % there is worse by χ²(.95; 1)/2 = 1.920729
    answers = some_answers(3)
    fit = fit_psychometric(LEVELS, answers, np.full(7, 60), shape="gaussian", lapse=0.02)
    threshold = threshold_estimate(fit, 0.75)

    def loss(width: float, at: float) -> float:
        sd = width / (2 * stats.norm.ppf(0.95))
        middle = at - sd * stats.norm.ppf(0.25 / 0.48)
        chance = 0.5 + 0.48 * stats.norm.cdf(LEVELS, middle, sd)
        return -float(np.sum(stats.binom.logpmf(answers, 60, chance)))

    def profile(at: float) -> float:
        return float(
            optimize.minimize_scalar(lambda log: loss(np.exp(log), at), bounds=(3, 9), method="bounded").fun
        )

    least = profile(threshold.value)
    for end in (threshold.low, threshold.high):
        assert profile(end) - least == pytest.approx(1.920729, abs=2e-3)
    assert threshold.low < threshold.value < threshold.high
    wider = threshold_estimate(fit, 0.75, level=0.99)
    assert wider.low < threshold.low < threshold.high < wider.high


def test_profile_with_fitted_rates_and_without_a_bound() -> None:
    answers = some_answers(3)
    fixed, free = (fit_psychometric(LEVELS, answers, np.full(7, 60), lapse=lapse) for lapse in (0.02, None))
    narrow, wide = threshold_estimate(fixed, 0.75), threshold_estimate(free, 0.75)
    assert wide.high - wide.low >= 0.98 * (narrow.high - narrow.low)  # not knowing the lapses costs
    guessed = threshold_estimate(fit_psychometric([100, 200, 400], [11, 9, 13], [20, 20, 20], lapse=0.0), 0.75)
    assert guessed.high == np.inf  # nobody can say how long it would take
    never = threshold_estimate(fixed, 0.99)  # lapses keep the function below
    assert np.isnan([never.value, never.low, never.high]).all()


def test_hopeless_answers_are_defined_and_flagged() -> None:
    always = fit_psychometric([1, 2, 3], [20, 20, 20], [20, 20, 20])
    assert always.doubtful
    assert np.isfinite(always.threshold)
    backwards = fit_psychometric([1, 2, 3], [20, 15, 10], [20, 20, 20], shape="logistic")
    assert backwards.doubtful
    jump = fit_psychometric([1, 2, 3, 4], [10, 10, 20, 20], [20, 20, 20, 20], shape="logistic")
    assert 2 <= jump.threshold <= 3


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two levels; found 1"):
        fit_psychometric([1, 1], [0, 1])
    with pytest.raises(StatisticsError, match="right ≤ trials"):
        fit_psychometric([1, 2], [3, 1], [2, 2])
    with pytest.raises(StatisticsError, match="levels above 0"):
        fit_psychometric([0, 2], [1, 1])
    with pytest.raises(StatisticsError, match="finite"):
        fit_psychometric([1, np.nan], [1, 1])
    with pytest.raises(StatisticsError, match="'step'"):
        fit_psychometric([1, 2], [0, 1], shape="step")  # type: ignore[arg-type]
    with pytest.raises(StatisticsError, match="nothing to see"):
        fit_psychometric([1, 2], [0, 1], guess=0.5, lapse=0.5)
    with pytest.raises(StatisticsError, match="level between 0 and 1"):
        threshold_estimate(fit_psychometric(LEVELS, some_answers(0), np.full(7, 60)), 0.75, level=1)
