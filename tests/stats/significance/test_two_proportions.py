import pytest
from statsmodels.stats.proportion import confint_proportions_2indep

from beholder.errors import StatisticsError
from beholder.stats.significance.two_proportions import two_proportions


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [((56, 48), (70, 80), 0.0524, 0.3339), ((9, 3), (10, 10), 0.1705, 0.8090), ((10, 0), (10, 20), 0.6791, 1.0)],
)
def test_newcombes_own_table(successes: tuple[int, int], trials: tuple[int, int], low: float, high: float) -> None:
    both = two_proportions(successes, trials)
    assert (both.low, both.high) == pytest.approx((low, high), abs=6e-5)


def test_as_statsmodels_has_it() -> None:
    both = two_proportions((7, 30), (90, 200))
    assert (both.low, both.high) == pytest.approx(confint_proportions_2indep(7, 90, 30, 200, method="newcomb"))


def test_fishers_tea() -> None:
    # 3 of 4 cups right: two-sided p = 34/70
    assert two_proportions((3, 1), (4, 4)).p_value == pytest.approx(34 / 70)


def test_no_trials_are_refused() -> None:
    with pytest.raises(StatisticsError, match="trials"):
        two_proportions((0, 1), (0, 4))
