import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate, Estimates


def test_an_estimate_prints_value_and_interval() -> None:
    estimate = Estimate(0.3119, 0.2808, 0.34512, 0.95, "by hand", raters=25)
    assert str(estimate) == "0.312 [0.281, 0.345]"


def test_estimates_split_into_single_ones() -> None:
    several = Estimates(
        value=np.array([0.1, 0.2]),
        low=np.array([0.0, 0.1]),
        high=np.array([0.2, 0.3]),
        level=0.9,
        method="by hand",
        raters=np.array([3, 4]),
        answers=np.array([30, 40]),
        replicates=100,
    )
    assert len(several) == 2
    assert several[1] == Estimate(0.2, 0.1, 0.3, 0.9, "by hand", 4, None, 40, 100)
    assert [estimate.value for estimate in several] == [0.1, 0.2]


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"raters \(2,\)"):
        Estimates(np.zeros(1), np.zeros(1), np.zeros(1), 0.95, "by hand", np.zeros(2, np.int64))
