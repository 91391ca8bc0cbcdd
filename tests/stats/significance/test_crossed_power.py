import numpy as np
import pytest
from scipy import special
from statsmodels.stats.power import TTestPower

from beholder.errors import StatisticsError
from beholder.stats.intervals.crossed_t import contrast_errors, crossed_means
from beholder.stats.significance.crossed_power import crossed_power, observed_design, stated_design
from beholder.stats.significance.pair_comparison import compare_pairs

RNG = np.random.default_rng(0)


def scores_of(rng: np.random.Generator, values: list[float], prompts: int, raters: int) -> np.ndarray:
    """Answers (raters, prompts, entries): variances of differences .02 between raters, .3 between prompts, .9."""
    count = len(values)
    return np.asarray(
        np.array(values)
        + rng.normal(0, np.sqrt(0.01), (raters, 1, count))
        + rng.normal(0, np.sqrt(0.15), (1, prompts, count))
        + rng.normal(0, np.sqrt(0.45), (raters, prompts, count))
    )


def test_prompts_alone_give_the_power_of_a_paired_t_test() -> None:
    design = stated_design([0.3, 0.0], 0.0, 1.0, 0.0)
    power = crossed_power(design, "pair", [20, 80], 1000, RNG)
    expected = [TTestPower().power(0.3, n, 0.05) for n in (20, 80)]
    np.testing.assert_allclose(power.power, expected, atol=0.002)


def test_a_hand_worked_half_width() -> None:
    # 100 prompts, a thousand raters, σ²_p = 4: SE = √(4/100) = .2, t(.975, 99) = 1.984: ± .397
    power = crossed_power(stated_design([0.0, 0.0], 0.0, 4.0, 0.0), "half-width", 100, 1000, RNG, half_width=0.397)
    assert power.half_width[0] == pytest.approx(1.984 * 0.2, abs=1e-3)
    assert power.power[0] == pytest.approx(0.5, abs=0.03)  # about half of all intervals are narrower


@pytest.mark.parametrize("claim", ["pair", "winner", "order"])
def test_it_is_the_power_of_the_boards_own_tests(claim: str) -> None:
    values, prompts, raters = [0.5, 0.25, 0.0], 60, 12
    design = stated_design(values, 0.02, 0.3, 0.9)
    kind = {"pair": "pair", "winner": "winner"}.get(claim, "order")
    predicted = crossed_power(design, kind, prompts, raters, np.random.default_rng(1), pair=(0, 1))  # type: ignore[arg-type]
    rng = np.random.default_rng(2)
    rater, prompt, cell = (index.ravel() for index in np.indices((raters, prompts, 3)))
    contrasts = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    boards, shows = 250, 0
    for _ in range(boards):
        cells = crossed_means(rater, prompt, cell, scores_of(rng, values, prompts, raters).ravel())
        errors = contrast_errors(cells, contrasts)
        if claim == "pair":
            t = (cells.values[0] - cells.values[1]) / errors.standard_error[0]
            shows += bool(abs(t) > special.stdtrit(errors.degrees[0], 0.975))
            continue
        pairs = compare_pairs(cells.values, errors.standard_error, errors.tail_degrees)
        right = pairs.separated & (pairs.difference > 0)
        shows += bool(right[:2].all() if claim == "winner" else right.all())
    # 250 boards: standard error at most .032
    assert shows / boards == pytest.approx(float(predicted.power[0]), abs=0.09)


def test_components_of_a_board_give_its_own_half_width() -> None:
    scores = scores_of(np.random.default_rng(3), [0.5, 0.25, 0.0], 40, 8)
    rater, prompt, cell = (index.ravel() for index in np.indices(scores.shape))
    cells = crossed_means(rater, prompt, cell, scores.ravel())
    errors = contrast_errors(cells, [[1.0, -1.0, 0.0]])
    power = crossed_power(observed_design(cells), "pair", [40, 400], [8, 8], RNG, pair=(0, 1))
    now = special.stdtrit(errors.degrees[0], 0.975) * errors.standard_error[0]
    assert power.half_width[0] == pytest.approx(now, rel=0.02)
    assert power.half_width[1] < power.half_width[0]
    assert power.power[1] > power.power[0]


def test_more_prompts_and_raters_never_lower_the_power() -> None:
    design = stated_design([0.2, 0.0], 0.02, 0.3, 0.9)
    grid = crossed_power(design, "pair", np.array([[25], [50], [100]]), np.array([[5, 10, 40]]), RNG)
    power = grid.power.reshape(3, 3)
    assert (np.diff(power, axis=0) > 0).all()
    assert (np.diff(power, axis=1) > 0).all()


def test_what_cannot_be_planned_is_refused() -> None:
    design = stated_design([0.2, 0.0], 0.02, 0.3, 0.9)
    with pytest.raises(StatisticsError, match="needs the half-width"):
        crossed_power(design, "half-width", 50, 10, RNG)
    with pytest.raises(StatisticsError, match="two of the 2 entries"):
        crossed_power(design, "pair", 50, 10, RNG, pair=(0, 5))
    with pytest.raises(StatisticsError, match="not all 0"):
        stated_design([0.2, 0.0], 0.0, 0.0, 0.0)
