"""Many pairs of columns at once: by hand, against SciPy, and the same as one pair at a time."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.correlation.coefficients import KINDS
from beholder.stats.correlation.paired_values import PAIR_ACCURACY, paired_values

Column = NDArray[np.float64]
ORACLES: dict[str, Callable[[Column, Column], float]] = {
    "pearson": lambda x, y: float(stats.pearsonr(x, y).statistic),
    "spearman": lambda x, y: float(stats.spearmanr(x, y).statistic),
    "kendall": lambda x, y: float(stats.kendalltau(x, y).statistic),
}


class TestByHand:
    X = ((1, 2, 3, 4), (5, 5, 7, 6))
    Y = ((1, 2, 4, 3), (1, 2, 3, 3))

    def test_kendall(self) -> None:
        """First: 5 of 6 pairs alike, 1 not. Second: 4 alike, of √(5 · 5) untied."""
        assert paired_values(self.X, self.Y, "kendall").tolist() == pytest.approx([4 / 6, 4 / 5])

    def test_pair_accuracy(self) -> None:
        """Second: five pairs of y differ; four are ordered alike, and x ties the fifth: 4.5 of 5."""
        assert paired_values(self.X, self.Y, PAIR_ACCURACY).tolist() == pytest.approx([5 / 6, 0.9])

    def test_spearman(self) -> None:
        """First: 1 − 6 · 2/(4 · 15) = 0.8."""
        assert paired_values(self.X[0], self.Y[0], "spearman").tolist() == pytest.approx([0.8])

    def test_pearson(self) -> None:
        """About the means: (−1.5, −.5, .5, 1.5) and (−1.5, −.5, 1.5, .5), so (2.25 + .25 + .75 + .75)/5."""
        assert paired_values(self.X[0], self.Y[0], "pearson").tolist() == pytest.approx([0.8])


def columns(pairs: int, items: int, seed: int) -> tuple[Column, Column]:
    """Whole numbers, so that there are ties."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2 * items, (pairs, items)).astype(np.float64)
    return x, np.round(x / 3 + rng.standard_normal(x.shape) * items / 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("items", [5, 30, 64, 65, 250])  # many are sorted, few compared pair by pair
def test_against_scipy(kind: str, items: int) -> None:
    x, y = columns(7, items, items)
    expected = [ORACLES[kind](xs, ys) for xs, ys in zip(x, y, strict=True)]
    np.testing.assert_allclose(paired_values(x, y, kind), expected, rtol=0, atol=1e-12)


@given(items=st.integers(2, 40), seed=st.integers(0, 99), kind=st.sampled_from([*KINDS, PAIR_ACCURACY]))
@settings(max_examples=40, deadline=None)
def test_a_column_that_goes_with_all(items: int, seed: int, kind: str) -> None:
    x, y = columns(4, items, seed)
    np.testing.assert_array_equal(paired_values(x[0], y, kind), paired_values(np.tile(x[0], (4, 1)), y, kind))
    turned = paired_values(-x, y, kind)
    straight = paired_values(x, y, kind)
    np.testing.assert_allclose(turned, 1 - straight if kind == PAIR_ACCURACY else -straight, atol=1e-12)


@pytest.mark.parametrize("kind", [*KINDS, PAIR_ACCURACY])
@pytest.mark.parametrize("items", [4, 300])
def test_a_constant_row_has_no_value(kind: str, items: int) -> None:
    x, y = columns(2, items, 1)
    y[1] = 0.1
    coefficients = paired_values(x, y, kind)
    assert np.isfinite(coefficients[0])
    assert np.isnan(coefficients[1])


def test_no_pairs_and_too_few_items() -> None:
    for kind in (*KINDS, PAIR_ACCURACY):
        assert paired_values(np.empty((0, 3)), np.empty((0, 3)), kind).shape == (0,)
    with pytest.raises(StatisticsError, match="at least two items"):
        paired_values([1.0], [1.0], "pearson")
    with pytest.raises(StatisticsError, match="found 'tau'"):
        paired_values([1.0, 2.0], [1.0, 2.0], "tau")
