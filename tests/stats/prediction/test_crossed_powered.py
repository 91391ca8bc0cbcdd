import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from tests.tifa import SKIP_TIFA, draw_powered, read_tifa

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import CrossedInfluence, crossed_means, crossed_t
from beholder.stats.prediction.crossed_powered import PoweredMeans, crossed_powered

Floats = NDArray[np.float64]


def sample(seed: int = 0, agreement: float = 0.8) -> tuple[CrossedInfluence, CrossedInfluence, list[Floats]]:
    """Six raters on 30 of 150 prompts, three entries; scores that agree with the quality."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, (150, 3))
    scores = agreement * quality + np.sqrt(1 - agreement**2) * rng.normal(size=quality.shape)
    rater, prompt, cell = (index.ravel() for index in np.indices((6, 30, 3)))
    answers = quality[prompt, cell] + rng.normal(0, 0.3, 6)[rater] + rng.normal(0, 0.5, len(rater))
    return (
        crossed_means(rater, prompt, cell, answers),
        crossed_means(rater, prompt, cell, scores[prompt, cell]),
        list(scores[30:].T),
    )


def test_a_hand_worked_mean() -> None:
    # One cell, labels of a program: Y = 1, 2, 3, 4, 5 and f = 0, 1, 2, 3, 4 judged, f̃ = 6, 8 further.
    # Spreads: sd of Y = √2.5; that of f pools (10 + 2)/(5 + 2 − 2) = 2.4, so f is multiplied by c = √(2.5/2.4).
    # λ = C/(V_f + var f̃/N), with C = c · 2.5/5, V_f = c² · 2.5/5 and var f̃ /N = c² · 2/2.
    answers = crossed_means(None, np.arange(5), np.zeros(5, int), np.arange(1.0, 6.0))
    scores = crossed_means(None, np.arange(5), np.zeros(5, int), np.arange(5.0))
    means = crossed_powered(answers, scores, [[6.0, 8.0]])
    c = np.sqrt(2.5 / 2.4)
    weight = c * 0.5 / (c**2 * 1.5)
    assert means.tuning[0] == pytest.approx(weight)
    assert means.value[0] == pytest.approx(3 + weight * c * (7 - 2))
    rest = (1 - weight * c) ** 2 * 0.5  # V(Ȳ − λ f̄): Y and f differ by a constant
    extra = weight**2 * c**2
    assert means.standard_error[0] == pytest.approx(np.sqrt(rest + extra))
    degrees = (rest + extra) ** 2 / (rest**2 / 4 + extra**2 / 1)
    assert means.high[0] - means.value[0] == pytest.approx(stats.t.ppf(0.975, degrees) * np.sqrt(rest + extra))


def test_constant_scores_leave_the_classical_interval() -> None:
    answers, scores, further = sample()
    rater, prompt, cell = _indices()
    constant = crossed_means(rater, prompt, cell, np.ones(len(rater)))
    means = crossed_powered(answers, constant, [np.ones(120)] * 3)
    classical = crossed_t(answers)
    np.testing.assert_allclose(means.value, classical.value)
    np.testing.assert_allclose(means.low, classical.low)
    np.testing.assert_allclose(means.width_ratio, 1.0)
    assert np.median(crossed_powered(answers, scores, further).width_ratio) < 0.95


@given(st.floats(0.01, 100), st.floats(-100, 100))
def test_scale_and_origin_of_the_scores_do_not_matter(factor: float, shift: float) -> None:
    answers, scores, further = sample(1)
    other = CrossedInfluence(
        scores.values * factor + shift, scores.influence * factor, scores.answers, scores.prompts, scores.raters
    )
    plain = crossed_powered(answers, scores, further)
    means = crossed_powered(answers, other, [column * factor + shift for column in further])
    np.testing.assert_allclose(means.value, plain.value, rtol=1e-6)
    np.testing.assert_allclose(means.low, plain.low, rtol=1e-6)


def test_the_weight_of_an_entry_comes_from_the_others() -> None:
    answers, scores, further = sample(2)
    before = crossed_powered(answers, scores, further)
    shifted = CrossedInfluence(
        answers.values, answers.influence * [3.0, 1.0, 1.0], answers.answers, answers.prompts, answers.raters
    )
    after = crossed_powered(shifted, scores, further)
    assert after.tuning[0] == pytest.approx(before.tuning[0])
    assert after.tuning[1] != pytest.approx(before.tuning[1])


def test_proportions_stay_between_0_and_1() -> None:
    rng = np.random.default_rng(3)
    rater, prompt, cell = _indices()
    answers = crossed_means(rater, prompt, cell, (rng.random(len(rater)) < 0.97).astype(float), proportions=True)
    scores = crossed_means(rater, prompt, cell, rng.normal(size=(30, 3))[prompt, cell])
    means = crossed_powered(answers, scores, [rng.normal(5, 1, 120)] * 3)
    assert (means.low >= 0).all()
    assert (means.high <= 1).all()


def test_what_does_not_fit_together_is_refused() -> None:
    answers, scores, further = sample()
    with pytest.raises(StatisticsError, match="further scores of each cell"):
        crossed_powered(answers, scores, further[:2])
    with pytest.raises(StatisticsError, match="at least two finite"):
        crossed_powered(answers, scores, [[1.0]] * 3)


@pytest.mark.skipif(SKIP_TIFA is not None, reason=str(SKIP_TIFA))
def test_tifa_160_with_people_on_40_prompts_is_covered_and_narrower() -> None:
    """A quick form of ``benchmarks/tifa_powered.py``, which has 500 draws."""
    tifa = read_tifa()
    rng = np.random.default_rng(5)
    truth = np.nanmean(tifa.answers, axis=(0, 1))
    useless = rng.normal(size=(*truth.shape, 160)).T
    best, other = (
        [draw_powered(rng, tifa.answers, scores, replace=True) for _ in range(60)]
        for scores in (tifa.scores["tifa_mplug-large"], useless)
    )
    assert _coverage(best, truth) > 0.93  # 300 intervals of 95 %
    assert _coverage(other, truth) > 0.93
    assert np.median([means.width_ratio for means in best]) <= 0.90
    assert np.median([means.width_ratio for means in other]) <= 1.03


def _coverage(draws: list[PoweredMeans], truth: Floats) -> float:
    return float(np.mean([(means.low <= truth) & (truth <= means.high) for means in draws]))


def _indices() -> tuple[NDArray[np.int64], ...]:
    return tuple(index.ravel() for index in np.indices((6, 30, 3)))
