"""Weighted win rates and intervals at any time, by hand and by law."""

import numpy as np
import pytest

from beholder.arena.win_rates import anytime_win_rates, even_scores, weighted_win_rates
from beholder.errors import StatisticsError


def test_a_vote_counts_the_inverse_of_its_propensity() -> None:
    # three entries, three pairs; 0–1 was drawn with ½ and 0–2 with ¼: weights 2/3 and 4/3
    fit = weighted_win_rates([0, 0, 1], [0, 1, 0], [1, 0, 2], [1, 1, 0], [0.5, 0.5, 0.25], entries=3)
    # entry 0 won once and lost once against 1 (weight 2/3 each), lost once against 2 (weight 4/3)
    assert fit.rate[0] == pytest.approx((2 / 3) / (2 / 3 + 2 / 3 + 4 / 3))
    assert fit.rate[1] == pytest.approx(0.5)
    assert fit.rate[2] == 1.0
    # pulls on entry 0: voter 0: 2/3·(3/4) − 2/3·(1/4) = 1/3; voter 1: −4/3·(1/4) = −1/3; × √(2/1) / (8/3)
    assert fit.error[0] == pytest.approx(np.sqrt(2 / 9 * 2) / (8 / 3))
    assert fit.votes.tolist() == [3, 2, 1]


def test_an_entry_without_votes_has_no_rate() -> None:
    fit = weighted_win_rates([0], [0], [1], [0.5], [1 / 3], entries=3)
    assert np.isnan(fit.rate[2])
    assert np.isnan(fit.error[2])


def test_even_propensities_are_plain_proportions() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 4, 200)
    second = (first + rng.integers(1, 4, 200)) % 4
    wins = rng.integers(0, 2, 200).astype(float)
    fit = weighted_win_rates(np.arange(200) % 20, first, second, wins, np.full(200, 1 / 6), entries=4)
    for entry in range(4):
        own = np.concatenate([wins[first == entry], 1 - wins[second == entry]])
        assert fit.rate[entry] == pytest.approx(own.mean())


@pytest.mark.parametrize(("wins", "propensity"), [([2.0], [0.5]), ([1.0], [0.0])])
def test_impossible_votes_are_refused(wins: list[float], propensity: list[float]) -> None:
    with pytest.raises(StatisticsError):
        weighted_win_rates([0], [0], [1], wins, propensity, entries=2)


def test_even_scores_are_voters_means_over_even_votes() -> None:
    scores = even_scores([0, 0, 0, 1], [0, 0, 1, 1], [1, 2, 0, 2], [1, 0, 0.5, 1], [1, 1, 1, 0], entries=3)
    # voter 0: entry 0 won, lost, tied: .5; entry 1 lost and tied: .25; entry 2 won: 1; voter 1 has no even vote
    assert scores[0].tolist() == [0.5, 0.25, 1.0]
    assert np.isnan(scores[1]).all()


def test_intervals_hold_the_truth_and_separate_what_differs() -> None:
    rng = np.random.default_rng(5)
    scores = np.clip(rng.normal([0.8, 0.2, 0.5], 0.1, (200, 3)), 0, 1)
    scores[::7, 2] = np.nan
    fit = anytime_win_rates(scores)
    assert np.all((fit.low < [0.8, 0.2, 0.5]) & (fit.high > [0.8, 0.2, 0.5]))
    assert np.all(fit.high - fit.low < 0.25)
    assert fit.separation is not None
    assert fit.separation.separated.all()
    assert fit.voters.tolist() == [200, 200, 171]
    earlier = anytime_win_rates(scores[:100])
    assert np.all((earlier.low <= fit.low) & (earlier.high >= fit.high))


def test_one_voter_separates_nothing() -> None:
    fit = anytime_win_rates(np.array([[1.0, 0.0, np.nan]]))
    assert fit.separation is None
    assert np.isnan(fit.rate[2])
    assert (fit.low[2], fit.high[2]) == (0.0, 1.0)
