from functools import partial
from itertools import permutations

import krippendorff as oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.agreement.answers import LongAnswers
from beholder.stats.agreement.krippendorff import (
    Scale,
    _disagreement,
    alpha_of_counts,
    krippendorff_alpha,
    squared_distances,
)
from beholder.stats.agreement.krippendorff_coincidences import alpha_of_coincidences, few_values
from beholder.stats.agreement.krippendorff_replicates import (
    _alike,
    _counts,
    _panels,
    alpha_of_weights,
    numbered,
)
from beholder.stats.intervals.bootstrap import rater_weights

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")
Columns = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def simulate(
    rng: np.random.Generator, rater_count: int = 10, items: int = 30
) -> tuple[NDArray[np.float64], Columns]:
    """Return a matrix (raters, items) with gaps, and the same answers as long columns."""
    truth = rng.integers(0, 5, items)
    matrix = np.where(
        rng.random((rater_count, items)) < 0.5, truth, rng.integers(0, 5, (rater_count, items))
    ).astype(float)
    matrix[rng.random((rater_count, items)) < 0.4] = np.nan
    who, what = np.nonzero(~np.isnan(matrix))
    return matrix, (who, what, matrix[who, what])


def ones(rater_count: int) -> NDArray[np.int64]:
    return np.ones((1, rater_count), np.int64)


def test_nominal_by_hand() -> None:
    # items a: 0 0 | b: 0 1 | c: 1 1 1 | d: 1 alone, dropped. Ordered pairs over (m − 1):
    # a gives o(0,0) = 2; b gives o(0,1) = o(1,0) = 1; c gives o(1,1) = 6/2 = 3. n(0) = 3, n(1) = 4, n = 7.
    # α = 1 − (n − 1)(o(0,1) + o(1,0))/(2 n(0) n(1)) = 1 − 6 · 2/24 = .5
    raters, items, values = [0, 1, 0, 1, 0, 1, 2, 2], [0, 0, 1, 1, 2, 2, 2, 3], [0, 0, 0, 1, 1, 1, 1, 1]
    assert alpha_of_counts([[2, 0], [1, 1], [0, 3], [0, 1]], scale="nominal") == pytest.approx(0.5)
    alpha = krippendorff_alpha(raters, items, values, ones(3), scale="nominal")
    assert alpha.value == pytest.approx(0.5)
    assert (alpha.raters, alpha.items, alpha.answers) == (3, 3, 7)


def test_interval_by_hand() -> None:
    # items 1 2 | 3 3: o(1,2) = o(2,1) = 1, o(3,3) = 2; n = 1 1 2. Observed 2 · 1 = 2;
    # expected 2 (1·1·1² + 1·2·2² + 1·2·1²) = 22; α = 1 − 3 · 2/22 = 8/11
    counts = [[1, 1, 0], [0, 0, 2]]
    assert alpha_of_counts(counts, [1, 2, 3], scale="interval") == pytest.approx(8 / 11)
    # ratio: δ²(1,2) = 1/9, δ²(1,3) = 1/4, δ²(2,3) = 1/25: α = 1 − 3 (2/9) / (2 (1/9 + 2/4 + 2/25))
    expected = 1 - 3 * (2 / 9) / (2 * (1 / 9 + 2 / 4 + 2 / 25))
    assert alpha_of_counts(counts, [1, 2, 3], scale="ratio") == pytest.approx(expected)
    # ordinal, mid-ranks ½ 1½ 3: δ² = 1, 6.25, 2.25: α = 1 − 3 · 2/(2 (1 + 12.5 + 4.5)) = 5/6
    assert alpha_of_counts(counts, scale="ordinal") == pytest.approx(5 / 6)


def test_a_weighted_draw_by_hand() -> None:
    # one item, raters 0 0 1 with weights 2 1 1: pairs of distinct raters 2·1 (0,0) twice, 2·1 and 1·1 (0,1) each
    # way; M = 4, M² − Σw² = 10: scale .4. o(0,0) = 1.6, o(0,1) = o(1,0) = 1.2, o(1,1) = 0; n = 2.8, 1.2, total 4.
    # α = 1 − 3 · 2.4/(2 · 2.8 · 1.2) = −.0714286
    weights = np.array([[2, 1, 1]])
    alpha = krippendorff_alpha([0, 1, 2], [0, 0, 0], [0, 0, 1], weights, scale="nominal")
    assert alpha.low == alpha.high == pytest.approx(1 - 3 * 2.4 / (2 * 2.8 * 1.2))


@pytest.mark.parametrize("scale", SCALES)
def test_against_the_krippendorff_package(scale: Scale) -> None:
    for seed in range(5):
        matrix, (who, what, values) = simulate(np.random.default_rng(seed))
        expected = oracle.alpha(matrix, level_of_measurement=scale)
        alpha = krippendorff_alpha(who, what, values, ones(10), scale=scale)
        assert alpha.value == pytest.approx(expected, abs=1e-12)
        counts = np.stack([(matrix == v).sum(axis=0) for v in range(5)], axis=1)
        assert alpha_of_counts(counts, np.arange(5), scale=scale) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_replicates_follow_the_stated_rule(scale: Scale) -> None:
    """The vectorised draw against a plain loop over pairs of answers."""
    rng = np.random.default_rng(9)
    matrix, (who, what, values) = simulate(rng, rater_count=6, items=8)
    weights = rater_weights(np.zeros(6, np.int64), 1, rng)
    coincidence = np.zeros((5, 5))
    for item in range(8):
        answered = np.flatnonzero(~np.isnan(matrix[:, item]))
        w = weights[0, answered].astype(float)
        pairs = w.sum() ** 2 - (w**2).sum()
        for i, j in permutations(range(len(answered)), 2):
            v1, v2 = int(matrix[answered[i], item]), int(matrix[answered[j], item])
            if pairs > 0:
                coincidence[v1, v2] += w[i] * w[j] * w.sum() / pairs
    n = coincidence.sum(axis=1)
    middle = np.cumsum(n) - n / 2
    v = np.arange(5.0)
    both = np.where(v[:, None] + v > 0, v[:, None] + v, 1)
    square = {
        "nominal": v[:, None] != v,
        "ordinal": (middle[:, None] - middle) ** 2,
        "interval": (v[:, None] - v) ** 2,
        "ratio": ((v[:, None] - v) / both) ** 2,
    }[scale]
    expected = 1 - (n.sum() - 1) * (coincidence * square).sum() / (np.outer(n, n) * square).sum()
    alpha = krippendorff_alpha(who, what, values, weights, scale=scale)
    assert alpha.low == pytest.approx(expected)


def test_copies_of_a_rater_do_not_raise_alpha() -> None:
    # raters who guess: alpha is about 0, and so are the replicates; pairing copies would lift them to 1/raters
    rng = np.random.default_rng(2)
    who, what = (index.ravel() for index in np.indices((8, 400)))
    weights = rater_weights(np.zeros(8, np.int64), 400, rng)
    alpha = krippendorff_alpha(who, what, rng.integers(0, 2, 3200), weights, scale="nominal")
    assert alpha.value == pytest.approx(0, abs=0.03)
    assert (alpha.low + alpha.high) / 2 == pytest.approx(alpha.value, abs=0.03)
    assert alpha.low < 0 < alpha.high


@given(st.integers(0, 2**32 - 1), st.sampled_from(SCALES))
@settings(max_examples=30, deadline=None)
def test_laws(seed: int, scale: Scale) -> None:
    rng = np.random.default_rng(seed)
    _, (who, what, values) = simulate(rng)
    alpha = krippendorff_alpha(who, what, values, ones(10), scale=scale).value
    assert alpha <= 1
    relabelled, items, rows = rng.permutation(10), rng.permutation(30), rng.permutation(len(who))
    again = krippendorff_alpha(relabelled[who][rows], items[what][rows], values[rows], ones(10), scale=scale).value
    assert again == pytest.approx(alpha)
    change = {
        "nominal": rng.permutation(5)[values.astype(int)],
        "ordinal": np.exp(values),
        "interval": 3 - 2 * values,
        "ratio": 2 * values,
    }[scale]
    assert krippendorff_alpha(who, what, change, ones(10), scale=scale).value == pytest.approx(alpha)
    agreed = krippendorff_alpha(who, what, what % 3, ones(10), scale=scale).value
    assert agreed == pytest.approx(1)


def test_nonsense_is_refused() -> None:
    with pytest.raises(StatisticsError, match="two different values"):
        alpha_of_counts([[2, 0]], scale="nominal")
    with pytest.raises(StatisticsError, match="two answers"):
        alpha_of_counts([[1, 0], [0, 1]], scale="nominal")
    with pytest.raises(StatisticsError, match="value of each category"):
        alpha_of_counts([[1, 1]], scale="interval")
    with pytest.raises(StatisticsError, match="value for each of 2"):
        alpha_of_counts([[1, 1]], [1, 2, 3], scale="interval")
    with pytest.raises(StatisticsError, match="at least 0; found shape"):
        alpha_of_counts([[-1, 1]], scale="nominal")
    with pytest.raises(StatisticsError, match="ratio scale"):
        alpha_of_counts([[1, 1]], [-1, 1], scale="ratio")
    with pytest.raises(StatisticsError, match="once; found 1 repeats, the first by rater 1 on item 0"):
        krippendorff_alpha([0, 1, 1], [0, 0, 0], [1, 2, 1], ones(2), scale="nominal")
    with pytest.raises(StatisticsError, match="two answers"):
        krippendorff_alpha([0, 1], [0, 1], [1, 2], ones(2), scale="nominal")
    with pytest.raises(StatisticsError, match="only 2 raters"):
        krippendorff_alpha([0, 2], [0, 0], [1, 2], ones(2), scale="nominal")
    with pytest.raises(StatisticsError, match="round them"):
        krippendorff_alpha([0, 1] * 6000, np.repeat(range(6000), 2), range(12000), ones(2), scale="interval")


@given(st.integers(0, 2**32 - 1), st.sampled_from(SCALES), st.sampled_from([1.0, 0.5, 40.0]))
@settings(max_examples=40, deadline=None)
def test_coincidences_and_sums_over_raters_are_equal(seed: int, scale: Scale, unit: float) -> None:
    # weights of 40 make sums of squares beyond two bytes, and halves are no whole numbers
    rng = np.random.default_rng(seed)
    _, (who, what, values) = simulate(rng, items=300)  # two blocks of items
    answers, kinds = LongAnswers(who, 2 * what, values, 10, 600), np.arange(5.0)
    weights = np.asarray(unit * rng.poisson(1.0, (40, 10)), np.float64)  # two blocks of replicates, …
    weights[:33] = weights[:33] > 0  # … the first of raters who are only left out
    category = values.astype(int)
    sums = alpha_of_weights(answers, category, 5, _disagreement(kinds, scale))
    coincidences = alpha_of_coincidences(
        answers, category, 5, partial(squared_distances, values=kinds, scale=scale)
    )
    assert coincidences(weights) == pytest.approx(sums(weights), abs=1e-12, nan_ok=True)


def test_where_many_values_meet_few_answers_sums_over_raters_are_taken() -> None:
    assert few_values(5, answers=40, items=20)
    assert not few_values(21, answers=40, items=20)


@pytest.mark.parametrize("scale", SCALES)
def test_many_values_against_the_krippendorff_package(scale: Scale) -> None:
    rng = np.random.default_rng(7)
    matrix = rng.integers(0, 60, (6, 40)).astype(float)
    who, what = (index.ravel() for index in np.indices(matrix.shape))
    expected = oracle.alpha(matrix, level_of_measurement=scale)
    assert krippendorff_alpha(who, what, matrix.ravel(), ones(6), scale=scale).value == pytest.approx(expected)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.sampled_from([31, 1_000]))
def test_keys_are_numbered_as_if_they_were_sorted(keys: list[int], size: int) -> None:
    distinct, places = numbered(np.array(keys), size)  # by a table where they are dense, else by sorting
    expected = np.unique(keys, return_inverse=True)
    assert distinct.tolist() == expected[0].tolist()
    assert places.tolist() == expected[1].tolist()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30), st.booleans())
def test_counts_of_rows_and_columns(pairs: list[tuple[int, int]], wide: bool) -> None:
    shape = (3, 400 if wide else 4)  # sparse where it is wide
    rows, columns = np.array(pairs).T
    full = np.zeros(shape)
    np.add.at(full, (rows, columns), 1)
    assert np.array_equal(_counts(rows, columns, shape)(np.eye(shape[1])), full)


@given(st.integers(0, 2**32 - 1))
def test_items_with_the_same_raters_are_a_panel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    who, what = np.nonzero(rng.random((4, 25)) < 0.5)  # of 16 sets of raters, most occur twice
    shuffle = rng.permutation(len(who))
    answers = LongAnswers(who[shuffle], what[shuffle], np.ones(len(who)), 4, 25)
    numbers: dict[tuple[int, ...], int] = {}
    expected = [numbers.setdefault(tuple(who[what == item]), len(numbers)) for item in np.unique(what)]
    assert _panels(answers).tolist() == expected


def test_sets_of_raters_with_one_sum_are_compared() -> None:
    raters, starts, sizes = np.array([0, 1, 2, 1, 2, 3]), np.array([0, 3, 5]), np.array([3, 2, 1])
    assert not _alike(raters, starts, sizes, np.array([0, 0, 2]))  # of other sizes
    pairs, of_two = np.array([0, 2]), np.array([2, 2])
    assert not _alike(np.array([0, 1, 0, 2]), pairs, of_two, np.array([0, 0]))
    assert _alike(np.array([0, 1, 0, 1]), pairs, of_two, np.array([0, 0]))
