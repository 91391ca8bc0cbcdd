import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.stats.intervals.interval_width import width_by_raters


def test_width_of_two_values() -> None:
    # raters at 0 and 1: the mean of n draws is Bin(n, ½)/n. For n = 100 the 2.5 and 97.5 % points are 40 and 60
    widths = width_by_raters([0.0, 1.0], [100], 20_000, np.random.default_rng(0), expand=False)
    assert widths[0] == pytest.approx(0.2, abs=0.011)


def test_width_falls_with_the_root_of_raters() -> None:
    values = np.random.default_rng(1).normal(size=400)
    widths = width_by_raters(values, [25, 100, 400], 20_000, np.random.default_rng(2), expand=False)
    np.testing.assert_allclose(widths * np.sqrt([25, 100, 400]), 2 * 1.959964 * values.std(), rtol=0.03)
    assert np.all(width_by_raters(values, [25, 100], 20_000, np.random.default_rng(2)) > widths[:2])
    again = width_by_raters(values, [25, 100, 400], 20_000, np.random.default_rng(2), expand=False)
    np.testing.assert_array_equal(widths, again)


def test_no_spread_and_nonsense() -> None:
    assert width_by_raters([0.4, 0.4], [5], 100, np.random.default_rng(0))[0] == pytest.approx(0, abs=1e-12)
    with pytest.raises(StatisticsError, match="two raters"):
        width_by_raters([0.4], [5], 100, np.random.default_rng(0))
    with pytest.raises(StatisticsError, match="sizes of at least 2"):
        width_by_raters([0.4, 0.5], [1], 100, np.random.default_rng(0))
