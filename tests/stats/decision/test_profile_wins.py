import numpy as np
import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.decision.profile_wins import profile_wins


def test_two_entries_by_hand() -> None:
    # one measure, values 1 and 0 with variance 1 each: utilities ±1 (sd ½), so errors are 2; P(Δ > 0) = Φ(2/√8)
    wins = profile_wins([[1.0], [0.0]], [np.eye(2)], [1.0], 1e7, np.random.default_rng(0))
    assert wins.utility.tolist() == [1.0, -1.0]
    assert wins.standard_error == pytest.approx([2.0, 2.0])
    assert wins.chance[0] == pytest.approx(stats.norm.cdf(2 / np.sqrt(8)), abs=0.01)


def test_a_measure_without_weight_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    wide = 100 * np.eye(2)
    wins = profile_wins([[1.0, 0.0], [0.0, 9.0]], [np.zeros((2, 2)), wide], [1.0, 0.0], 30, rng)
    assert wins.chance.tolist() == [1.0, 0.0]


def test_every_measure_needs_its_covariance() -> None:
    with pytest.raises(StatisticsError, match="as many covariances"):
        profile_wins([[1.0, 2.0], [0.0, 1.0]], [np.eye(2)], [1.0, 1.0], 30, np.random.default_rng(0))
