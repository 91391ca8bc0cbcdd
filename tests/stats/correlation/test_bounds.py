"""Floors and ceilings, worked by hand and by laws."""

import numpy as np
import pytest

from beholder.stats.correlation.bounds import (
    generator_baseline,
    generator_pair_baseline,
    panel_ceiling,
    single_rater_ceiling,
)
from beholder.stats.correlation.metric_agreement import STATISTICS, Opinions


def test_the_floor_takes_means_from_the_other_half() -> None:
    # generator 0: 1, 3 (first half), 5, 7 (second); generator 1: 2, 2 and 4, 4
    values = [1, 3, 5, 7, 2, 2, 4, 4]
    generators = np.repeat([0, 1], 4)
    halves = np.array([True, True, False, False] * 2)
    # known: first half gets the second's means 6, 6, 4, 4; second half the first's: 2, 2, 2, 2
    expected = np.corrcoef([6, 6, 2, 2, 4, 4, 2, 2], values)[0, 1]
    assert generator_baseline(values, generators, halves, "pearson") == pytest.approx(expected)


def test_one_generator_has_no_floor() -> None:
    assert np.isnan(
        generator_baseline([1, 2, 3, 4], np.zeros(4, np.int64), np.array([True, False] * 2), "pearson")
    )


def test_the_floor_of_pure_noise_is_near_nothing() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000)
    generators = rng.integers(4, size=2000)
    assert abs(generator_baseline(values, generators, rng.random(2000) < 0.5, "spearman")) < 0.1


@pytest.mark.parametrize("statistic", STATISTICS)
def test_raters_without_error_agree_fully(statistic: str) -> None:
    noise = np.random.default_rng(1).standard_normal((10, 6))
    assert panel_ceiling(Opinions(np.arange(6.0), np.zeros(6)), statistic, noise) == pytest.approx(1)


def test_the_ceiling_is_the_reliability() -> None:
    # variance of the opinions: 1 true + 1 of error, so two panels correlate at ½
    rng = np.random.default_rng(2)
    truth = rng.normal(size=4000)
    opinions = Opinions(truth + rng.normal(size=4000), np.ones(4000))
    again = np.corrcoef(opinions.values, truth + rng.normal(size=4000))[0, 1]
    ceiling = panel_ceiling(opinions, "pearson", rng.standard_normal((10, 4000)))
    assert ceiling == pytest.approx(0.5, abs=0.04)
    assert ceiling == pytest.approx(again, abs=0.05)


def test_unknown_errors_have_no_ceiling() -> None:
    noise = np.zeros((2, 3))
    assert np.isnan(panel_ceiling(Opinions(np.arange(3.0), np.array([1, np.nan, 1])), "pearson", noise))
    assert np.isnan(panel_ceiling(Opinions(np.ones(3), np.ones(3)), "pearson", noise))


def test_one_rater_against_the_others() -> None:
    # 3 votes, 2 for the first: each of the two sees 1:1 of the others (½), the third sees 2:0 against (0): 1 of 3
    assert single_rater_ceiling([2 / 3], [3]) == pytest.approx(1 / 3)
    # 3:0: all agree; 1 vote: no others; 2 votes 1:1: both differ
    assert single_rater_ceiling([1.0, 1.0, 0.5], [3, 1, 2]) == pytest.approx(3 / 5)
    assert np.isnan(single_rater_ceiling([1.0], [1]))


def test_the_floor_of_pairs_takes_wins_from_the_other_prompts() -> None:
    # even prompts: 0 beats 1 twice. Odd: 1 beats 0 once, 0 beats 1 once, 2 beats 1 once.
    # Odd is judged by even (rates 1, −1, and 0 for the unseen 2): wrong, right, right.
    # Even is judged by odd (0 has rate 0, 1 has −1/3): right twice.
    first, second = np.array([0, 0, 0, 0, 1]), np.array([1, 1, 1, 1, 2])
    lead, prompts = np.array([1.0, 1.0, -1.0, 1.0, -1.0]), np.array([0, 2, 1, 3, 3])
    baseline = generator_pair_baseline(first, second, lead, prompts)
    assert baseline.micro == pytest.approx(4 / 5)
    assert baseline.macro == pytest.approx((1 + 0 + 1 + 1) / 4)
