import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from beholder.errors import StatisticsError
from beholder.stats.significance.equivalence import equivalence


def test_a_hand_worked_bound() -> None:
    # t(.95, 10) = 1.8125: 0.1 + 1.8125 × 0.05 = 0.1906 and 0.15 + 1.8125 × 0.01 = 0.1681
    test = equivalence([0.1, -0.15], [0.05, 0.01], [10, 10], margin=0.2)
    assert test.largest == 0.15
    assert test.bound == pytest.approx(0.1906, abs=1e-4)
    assert test.p_value == pytest.approx(stats.t.sf((0.2 - 0.1) / 0.05, 10))
    assert test.equivalent
    assert not equivalence([0.1, -0.15], [0.05, 0.01], [10, 10], margin=0.19).equivalent


def test_one_contrast_agrees_with_statsmodels() -> None:
    differences = np.random.default_rng(0).normal(0.05, 1.0, 300)
    error = differences.std(ddof=1) / np.sqrt(300)
    test = equivalence([differences.mean()], [error], [299], margin=0.2)
    assert test.p_value == pytest.approx(DescrStatsW(differences).ttost_mean(-0.2, 0.2)[0])


def test_what_does_not_vary_is_decided_by_the_estimate() -> None:
    assert equivalence([0.1], [0.0], [10], margin=0.2).equivalent
    assert not equivalence([0.3], [0.0], [10], margin=0.2).equivalent


def test_a_margin_and_equal_lengths_are_needed() -> None:
    with pytest.raises(StatisticsError, match="a margin above 0"):
        equivalence([0.1], [0.1], [10], margin=0.0)
    with pytest.raises(StatisticsError, match="of one length"):
        equivalence([0.1], [0.1, 0.2], [10], margin=0.2)
