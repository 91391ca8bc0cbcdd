import numpy as np
import pytest
from scipy.stats import studentized_range, t

from beholder.stats.significance.studentised_range import range_cdf, range_quantile


def test_tabled_quantiles() -> None:
    # any textbook's table at .05: k = 3 with 10 and k = 5 with 20 degrees of freedom
    assert range_quantile(0.95, 3, 10)[0] == pytest.approx(3.877, abs=5e-4)
    assert range_quantile(0.95, 5, 20)[0] == pytest.approx(4.232, abs=5e-4)


@pytest.mark.parametrize("k", [2, 3, 13, 40])
def test_against_scipy(k: int) -> None:
    degrees = np.array([1.0, 1.7, 2.88, 7.9, 8.0, 44.4, 3000.0])
    q = np.array([9.0, 4.0, 2.0, 5.0, 3.0, 4.5, 6.0])
    np.testing.assert_allclose(range_cdf(q, k, degrees), studentized_range.cdf(q, k, degrees), atol=1e-9)


def test_quantile_inverts_and_two_means_are_a_t_test() -> None:
    degrees = np.array([1.0, 3.3, 12.0, 500.0])
    for level in (0.5, 0.99):
        q = range_quantile(level, 6, degrees)
        np.testing.assert_allclose(range_cdf(q, 6, degrees), level, atol=1e-10)
        assert np.all(np.diff(q) < 0)  # more degrees, a shorter reach
        np.testing.assert_allclose(
            range_quantile(level, 2, degrees), np.sqrt(2) * t.ppf((1 + level) / 2, degrees), rtol=1e-8
        )
