"""Both errors of a model, and what a later one changed, by hand."""

import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.rounds.figures import improvement, round_figures


def test_both_errors_with_their_intervals() -> None:
    rng = np.random.default_rng(0)
    figures = round_figures(1, "round 0", [1, 1, 0, 0] * 10, np.repeat(np.arange(10), 4), [1] + [0] * 99, rng=rng)
    assert figures.adversarial.value == 0.5
    # all attackers have the same error: resampling them changes nothing
    assert (figures.adversarial.low, figures.adversarial.high) == (0.5, 0.5)
    assert figures.static.value == 0.01
    assert figures.static.low == 0.0
    # the binomial's 97.5 % point of 100 at 1 % is 3
    assert figures.static.high == pytest.approx(0.03, abs=0.011)
    assert figures.parent == "round 0"


def test_there_is_no_figure_without_the_other() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(StatisticsError, match="both figures"):
        round_figures(1, None, [1.0], [0], [], rng=rng)
    with pytest.raises(StatisticsError, match="both figures"):
        round_figures(1, None, [], [], [1.0], rng=rng)


def test_a_reduction_is_of_the_earlier_error() -> None:
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(20), 2)
    change = improvement([1, 1] * 20, [1, 0] * 20, who, [0] * 50, [0] * 49 + [1], rng=rng)
    assert change.adversarial.value == 0.5
    assert change.static.value == pytest.approx(0.02)
    assert change.static.low == 0
    with pytest.raises(StatisticsError, match="no error"):
        improvement([0.0], [0.0], [0], [0.0], [0.0], rng=rng)
    with pytest.raises(StatisticsError, match="same attacks"):
        improvement([1.0], [0.0, 1.0], [0], [0.0], [0.0], rng=rng)
