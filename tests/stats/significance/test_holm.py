import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from statsmodels.stats.multitest import multipletests

from beholder.errors import StatisticsError
from beholder.stats.significance.holm import holm

P_VALUES = hnp.arrays(np.float64, st.integers(1, 12), elements=st.floats(0, 1))


def test_by_hand() -> None:
    # sorted .01 .02 .03 .5 times 4 3 2 1 → .04 .06 .06 .5, running maximum the same
    np.testing.assert_allclose(holm([0.03, 0.01, 0.5, 0.02]), [0.06, 0.04, 0.5, 0.06])


def test_the_running_maximum_by_hand() -> None:
    # sorted .01 .011 .6 times 3 2 1 → .03 .022 .6; the second is lifted to .03
    np.testing.assert_allclose(holm([0.6, 0.011, 0.01]), [0.6, 0.03, 0.03])


@given(P_VALUES)
@settings(max_examples=10, deadline=None)  # statsmodels takes .15 s a call
def test_against_statsmodels(p: NDArray[np.float64]) -> None:
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], atol=1e-12)


@given(P_VALUES)
def test_laws(p: NDArray[np.float64]) -> None:
    adjusted = holm(p)
    assert np.all((adjusted >= p) & (adjusted <= 1))
    order = np.random.default_rng(len(p)).permutation(len(p))
    np.testing.assert_array_equal(holm(p[order]), adjusted[order])


def test_nan_is_no_test() -> None:
    np.testing.assert_allclose(holm([0.01, np.nan, 0.02]), [0.02, np.nan, 0.02])
    assert len(holm([])) == 0
    with pytest.raises(StatisticsError, match="p-values"):
        holm([1.5])
