import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import crossed_means
from beholder.stats.significance.dose_response import dose_response

DOSES = [1.0, 3.0, 7.5, 15.0]


def scored(seed: int = 0, slope: float = 0.5) -> np.ndarray:
    """Scores (prompts, variants) that rise with the dose."""
    rng = np.random.default_rng(seed)
    steps = (np.array(DOSES) - 1) / 14
    return np.asarray(rng.normal(0, 1, (40, 1)) + slope * steps + rng.normal(0, 0.4, (40, 4)))


def test_a_hand_worked_slope() -> None:
    # values 1, 2, 6 at doses 0, 1, 2, brought to x = 0, ½, 1: Σ(x − ½)θ = −½·1 + ½·6 = 2.5, Σ(x − ½)² = ½: b = 5
    scores = np.tile([1.0, 2.0, 6.0], 6) + np.repeat(np.arange(6.0), 3)
    prompt, cell = np.divmod(np.arange(18), 3)
    curve = dose_response(crossed_means(None, prompt, cell, scores), [0, 1, 2], [0.0, 1.0, 2.0], unit=2.0)
    assert curve.slope == pytest.approx(2.5)
    assert curve.difference.tolist() == pytest.approx([0.5, 2.5])
    assert curve.low == pytest.approx(2.5)  # every prompt has the same slope


def test_over_prompts_it_is_the_t_test_of_the_slopes_of_all_prompts() -> None:
    scores = scored()
    prompt, cell = (index.ravel() for index in np.indices(scores.shape))
    curve = dose_response(crossed_means(None, prompt, cell, scores.ravel()), [0, 1, 2, 3], DOSES)
    x = (np.array(DOSES) - 1) / 14
    slopes = [stats.linregress(x, row).slope for row in scores]
    test = stats.ttest_1samp(slopes, 0.0)
    interval = test.confidence_interval(0.95)
    assert curve.slope == pytest.approx(np.mean(slopes))
    assert (curve.low, curve.high) == pytest.approx((interval.low, interval.high))
    assert curve.p_value == pytest.approx(test.pvalue)
    last = stats.ttest_rel(scores[:, 3], scores[:, 0])
    assert curve.difference[2] == pytest.approx((scores[:, 3] - scores[:, 0]).mean())
    assert curve.p_adjusted[2] >= last.pvalue
    assert (curve.prompts, curve.raters) == (40, 0)


@given(st.floats(0.1, 10), st.floats(-5, 5))
def test_scale_and_origin_of_the_measure_do_not_matter(factor: float, shift: float) -> None:
    scores = scored(1)
    prompt, cell = (index.ravel() for index in np.indices(scores.shape))
    plain = dose_response(crossed_means(None, prompt, cell, scores.ravel()), [0, 1, 2, 3], DOSES)
    other = dose_response(
        crossed_means(None, prompt, cell, factor * scores.ravel() + shift), [0, 1, 2, 3], DOSES, unit=factor
    )
    assert other.slope == pytest.approx(plain.slope, rel=1e-6, abs=1e-8)
    assert other.p_value == pytest.approx(plain.p_value, rel=1e-4, abs=1e-10)


def test_lower_is_better_turns_the_slope_and_few_prompts_have_no_interval() -> None:
    scores = scored()
    prompt, cell = (index.ravel() for index in np.indices(scores.shape))
    cells = crossed_means(None, prompt, cell, scores.ravel())
    up, down = (dose_response(cells, [0, 3], [0.0, 1.0], unit=unit) for unit in (1.0, -1.0))
    assert (down.slope, down.low, down.high) == pytest.approx((-up.slope, -up.high, -up.low))
    few = crossed_means(None, prompt[:12], cell[:12], scores.ravel()[:12])
    assert np.isnan(dose_response(few, [0, 1, 2, 3], DOSES).low)
    with pytest.raises(StatisticsError, match="each with a dose"):
        dose_response(cells, [0, 1], [1.0])
