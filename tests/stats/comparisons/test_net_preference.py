"""Net preference: hand-worked values, the published 600 votes, and laws."""

import math

import numpy as np
import pytest
from scipy import stats

from beholder.errors import StatisticsError
from beholder.stats.comparisons.net_preference import (
    net_preference,
    net_preference_of_counts,
    powered_net_preference,
)

PUBLISHED = (129, 182, 188, 76, 25)
"""Liang et al., CVPR 2024, table 5: 100 prompts, 6 raters."""


def test_the_600_published_votes() -> None:
    """Table 5 in counts: 21.5, 30.33, 31.33, 12.67 and 4.17 %; 51.8 % better, 16.8 % worse, net +35 points."""
    preference = net_preference_of_counts(PUBLISHED, raters=6, prompts=100)
    assert preference.total == 600
    percentages = [round(100 * count / 600, 2) for count in preference.counts]
    assert percentages == [21.5, 30.33, 31.33, 12.67, 4.17]
    assert round(100 * preference.better, 1) == 51.8
    assert round(100 * preference.worse, 1) == 16.8
    assert preference.net.value == pytest.approx(0.35)
    # By hand, all answers independent: σ² = 311/600 + 101/600 − .35² = .56417; σ/√600 = .030664.
    assert preference.net.high - preference.net.value == pytest.approx(1.9639 * 0.030664, abs=6e-5)


def test_published_votes_whose_raters_differ() -> None:
    """By hand, with 5 % between raters and 5 % between prompts: V = .56417 (.05/6 + .05/100 + .9/600)."""
    net = net_preference_of_counts(PUBLISHED, raters=6, prompts=100, rater_share=0.05, prompt_share=0.05).net
    error = math.sqrt(0.5641667 * (0.05 / 6 + 0.05 / 100 + 0.9 / 600))
    assert net.high - net.low == pytest.approx(2 * stats.t.ppf(0.975, 599) * error, rel=1e-6)
    assert (round(net.low, 3), round(net.high, 3)) == (0.2, 0.5)
    wide = net_preference_of_counts(PUBLISHED, raters=6, prompts=100, rater_share=0.2).net
    assert wide.high - wide.low > net.high - net.low
    assert wide.low > 0
    # By hand: the lower end is 0 where V = (.35/1.9639)² = .031760, so ρ_r (1/6 − 1/600) = .031760/.56417 − 1/600.
    at_most = (0.03176 / 0.5641667 - 1 / 600) / (1 / 6 - 1 / 600)
    edge = net_preference_of_counts(PUBLISHED, raters=6, prompts=100, rater_share=at_most).net
    assert edge.low == pytest.approx(0, abs=1e-4)
    assert round(at_most, 2) == 0.33


def test_by_hand_where_every_rater_and_prompt_is_alike() -> None:
    """Six raters give each of ten prompts its own answer: net = (6 − 1)/10, spread over prompts alone."""
    rater, prompt = np.divmod(np.arange(60), 10)
    answers = np.where(prompt < 6, 2, np.where(prompt < 9, 0, -1))
    preference = net_preference(answers, rater, prompt)
    assert preference.counts == (36, 0, 18, 6, 0)
    assert preference.net.value == pytest.approx(0.5)
    directions = np.array([1] * 6 + [0] * 3 + [-1])
    reach = stats.t.ppf(0.975, 9) * directions.std(ddof=1) / math.sqrt(10)
    assert preference.net.low == pytest.approx(0.5 - reach)
    assert preference.net.high == 1.0  # .5 + reach is beyond
    assert (preference.net.raters, preference.net.items, preference.net.answers) == (6, 10, 60)


@pytest.mark.parametrize("seed", range(5))
def test_exchanging_after_and_before_turns_the_sign(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rater, prompt = rng.integers(0, 12, 300), rng.integers(0, 40, 300)
    answers = rng.integers(-2, 3, 300)
    there, back = net_preference(answers, rater, prompt), net_preference(-answers, rater, prompt)
    assert there.counts == back.counts[::-1]
    assert back.net.value == pytest.approx(-there.net.value)
    assert back.net.low == pytest.approx(-there.net.high)


def test_a_score_that_says_nothing_changes_little_and_a_good_one_narrows() -> None:
    rng = np.random.default_rng(3)
    gain = rng.normal(0.3, 1, 400)
    rater, prompt = np.divmod(np.arange(1200), 60)
    answers = np.clip(np.rint(gain[prompt] + rng.normal(0, 0.4, 1200)), -2, 2).astype(int)
    plain = net_preference(answers, rater, prompt).net
    noise = rng.normal(0, 1, 400)
    useless = powered_net_preference(answers, rater, prompt, noise[prompt], noise[60:]).net
    useful = powered_net_preference(answers, rater, prompt, gain[prompt], gain[60:]).net
    assert useful.high - useful.low < 0.8 * (plain.high - plain.low)
    assert useless.value == pytest.approx(plain.value, abs=0.06)
    assert useful.items == 400


def test_faults_are_named() -> None:
    with pytest.raises(StatisticsError, match="from −2 to 2"):
        net_preference([3], [0], [0])
    with pytest.raises(StatisticsError, match="6 raters × 99 prompts are 594"):
        net_preference_of_counts(PUBLISHED, raters=6, prompts=99)
    with pytest.raises(StatisticsError, match="at most 1 together"):
        net_preference_of_counts(PUBLISHED, raters=6, prompts=100, rater_share=0.8, prompt_share=0.5)
