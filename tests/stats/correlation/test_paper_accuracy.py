"""The three papers' rules, worked by hand and by laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import StatisticsError
from beholder.stats.correlation.pair_accuracy import pair_accuracy
from beholder.stats.correlation.paper_accuracy import AVERAGED, Paper, paper_accuracy, tune_threshold

# prompt 0: right, wrong, raters tie; prompt 1: scores tie, right by .5 only
FIRST = np.array([3.0, 1.0, 5.0, 2.0, 9.0])
SECOND = np.array([1.0, 2.0, 4.0, 2.0, 8.5])
PREFERENCES = np.array([1.0, 1.0, 0.0, -1.0, 4.0])
PROMPTS = np.array([0, 0, 0, 1, 1])


def test_hpd_v2_by_hand() -> None:
    # prompt 0: one of three inverted; prompt 1: none of two (the tie is right)
    accuracy = paper_accuracy("hpd-v2", FIRST, SECOND, PREFERENCES, groups=PROMPTS)
    assert accuracy.macro == pytest.approx((2 / 3 + 1) / 2)
    assert accuracy.micro == pytest.approx(4 / 5)


def test_imagereward_by_hand() -> None:
    # the raters' tie is dropped, the scores' tie is wrong: 2 of 4
    accuracy = paper_accuracy("imagereward", FIRST, SECOND, PREFERENCES, groups=PROMPTS)
    assert accuracy.micro == pytest.approx(2 / 4)
    assert accuracy.rater_ties == 1


def test_pickscore_by_hand() -> None:
    # without a threshold: 1, 0, ½ (raters tie), ½ (scores tie), 1
    accuracy = paper_accuracy("pickscore", FIRST, SECOND, PREFERENCES, groups=PROMPTS)
    assert accuracy.micro == pytest.approx(3 / 5)
    # ties below 1.2: 1, ½, 1 (both tie), ½, ½
    accuracy = paper_accuracy("pickscore", FIRST, SECOND, PREFERENCES, groups=PROMPTS, threshold=1.2)
    assert accuracy.micro == pytest.approx(3.5 / 5)


def test_the_threshold_by_hand() -> None:
    # differences by size: 0 (½ either way), .5 (right: −½), 1 (wrong: +½), 1 (raters tie: +½), 2: (right: −½)
    assert tune_threshold(FIRST, SECOND, PREFERENCES) == pytest.approx(1)
    # where every pair is right, calling none a tie is best
    assert tune_threshold([3, 2], [1, 1], [1, 1]) == 0


values = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(-1, 1), st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


@given(values)
def test_the_tuned_threshold_is_the_best_of_all(rows: list[tuple[int, int, int, int]]) -> None:
    first, second, lead, _ = np.array(rows, np.float64).T
    groups = np.zeros(len(rows), np.int64)

    def points(threshold: float) -> float:
        return paper_accuracy("pickscore", first, second, lead, groups=groups, threshold=threshold).micro

    best = points(tune_threshold(first, second, lead))
    assert best == pytest.approx(max(points(step) for step in np.arange(0, 9.5, 0.5)))


@given(values)
def test_without_ties_all_papers_agree_with_the_plain_accuracy(rows: list[tuple[int, int, int, int]]) -> None:
    first, second, lead, _ = np.array(rows, np.float64).T
    decided = (first != second) & (lead != 0)
    if not decided.any():
        return
    groups = np.unique(np.array(rows)[decided, 3], return_inverse=True)[1]
    plain = pair_accuracy(first[decided], second[decided], lead[decided], groups=groups)
    papers: tuple[Paper, ...] = tuple(AVERAGED)
    for paper in papers:
        accuracy = paper_accuracy(paper, first[decided], second[decided], lead[decided], groups=groups)
        assert (accuracy.micro, accuracy.macro) == pytest.approx((plain.micro, plain.macro))


def test_an_unknown_paper_is_named() -> None:
    with pytest.raises(StatisticsError, match="'mps'"):
        paper_accuracy("mps", [1.0], [2.0], [1.0], groups=np.zeros(1, np.int64))  # type: ignore[arg-type]
