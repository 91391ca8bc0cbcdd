"""Rows of ratings and separations, and how many further raters it takes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from beholder.rank.ratings import GeneratorRatings, more_raters, table_rows
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights, ratio_of_sums


class TestMoreRaters:
    def test_hand_worked(self) -> None:
        # p = .1 → z = 1.6449; one pair at .95: needed 1.96 + .8416 = 2.8016; 30 · (2.8016/1.6449)² = 87.03 → 88
        assert more_raters(0.1, 30, 1, 0.95) == 88 - 30
        # ten pairs: α = .005, z = 2.8070 + .8416 = 3.6486; 30 · (3.6486/1.6449)² = 147.6 → 148
        assert more_raters(0.1, 30, 10, 0.95) == 148 - 30

    def test_ends(self) -> None:
        assert more_raters(1.0, 30, 1, 0.95) is None  # no difference at all
        assert more_raters(math.nan, 30, 1, 0.95) is None
        assert more_raters(0.0, 30, 1, 0.95) == 0
        assert more_raters(1 - 1e-9, 30, 1, 0.95) is None  # more than could ever be asked

    @given(
        p=st.floats(1e-6, 0.9),
        factor=st.floats(1.01, 5),
        now=st.integers(2, 500),
        pairs=st.integers(1, 50),
        level=st.floats(0.8, 0.99),
    )
    def test_more_raters_for_a_smaller_difference(
        self, p: float, factor: float, now: int, pairs: int, level: float
    ) -> None:
        smaller_z = -norm.ppf(p / 2) / factor
        less = more_raters(p, now, pairs, level)
        more = more_raters(float(2 * norm.cdf(-smaller_z)), now, pairs, level)
        assert less is not None
        assert more is None or more >= less

    @given(p=st.floats(0.06, 0.9), now=st.integers(2, 500), pairs=st.integers(1, 50))
    def test_someone_is_always_needed_where_the_difference_does_not_show(
        self, p: float, now: int, pairs: int
    ) -> None:
        needed = more_raters(p, now, pairs, 0.95)
        assert needed is None or needed > 0
        assert (needed or math.inf) <= (more_raters(p, now, pairs + 1, 0.95) or math.inf)


def example(
    means: list[float], raters: int, *, within: bool, spread: float = 0.1, seed: int = 0
) -> GeneratorRatings:
    rng = np.random.default_rng(seed)
    cells = len(means)
    if within:
        scores = np.asarray(means) + rng.normal(0, spread, (raters, 1)) + rng.normal(0, spread, (raters, cells))
        judged = np.ones((raters, cells))
        strata = np.zeros(raters, dtype=np.int64)
    else:
        judged = np.zeros((raters, cells))
        strata = np.arange(raters) % cells
        judged[np.arange(raters), strata] = 1
        scores = judged * (np.asarray(means) + rng.normal(0, spread, (raters, cells)))
    weights = rater_weights(strata, 1000, rng)
    estimates = clustered_ratio(scores, judged, weights)
    return GeneratorRatings(
        aspect="x",
        method="m",
        generators=tuple("abcdefgh"[:cells]),
        estimates=estimates,
        replicates=ratio_of_sums(scores, judged, weights),
        naive=(estimates.low, estimates.high),
        answers=np.full(cells, 7),
        images=np.full(cells, 3),
        within=within,
    )


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_rank_ranges_follow_from_the_separations(seed: int, *, within: bool) -> None:
    rated = example([0.5, 0.48, 0.4, 0.2], 40, within=within, seed=seed)
    ratings, separations = table_rows("q", "all", rated, 0.95)
    assert len(separations) == 6
    for row in separations:
        assert row["difference"] >= 0  # type: ignore[operator]
        assert row["separated"] == (row["p_adjusted"] <= 0.05)  # type: ignore[operator]
        assert (row["more_raters"] is None) == row["separated"]
        assert row["low"] <= row["difference"] <= row["high"]  # type: ignore[operator]
        assert row["p_adjusted"] >= row["p"]  # type: ignore[operator]
    for row in ratings:
        name = row["generator"]
        better = sum(bool(s["separated"]) and s["other"] == name for s in separations)
        worse = sum(bool(s["separated"]) and s["generator"] == name for s in separations)
        assert (row["rank_low"], row["rank_high"]) == (1 + better, 4 - worse)


def test_higher_rated_first_with_the_interval_turned_round() -> None:
    rated = example([0.2, 0.5], 40, within=True)
    _, (row,) = table_rows("q", "all", rated, 0.95)
    assert (row["generator"], row["other"]) == ("b", "a")
    value = rated.estimates.value
    assert row["difference"] == pytest.approx(value[1] - value[0])
    assert row["separated"]


def test_raters_needed_counts_those_behind_both_where_they_differ() -> None:
    within, between = (example([0.5, 0.49], 40, within=within, seed=3) for within in (True, False))
    for rated, now in ((within, 40), (between, 40)):
        _, (row,) = table_rows("q", "all", rated, 0.95)
        assert not row["separated"]
        assert row["more_raters"] == more_raters(float(row["p"]), now, 1, 0.95)  # type: ignore[arg-type]


def test_within_raters_a_common_leniency_falls_out() -> None:
    rng = np.random.default_rng(0)
    leniency = rng.normal(0, 1.0, (30, 1))
    scores = leniency + np.asarray([3.2, 3.0]) + rng.normal(0, 0.1, (30, 2))
    judged = np.ones((30, 2))
    weights = rater_weights(np.zeros(30, dtype=np.int64), 1000, rng)
    estimates = clustered_ratio(scores, judged, weights)
    rated = GeneratorRatings(
        *(
            "x",
            "m",
            ("a", "b"),
            estimates,
            ratio_of_sums(scores, judged, weights),
            (estimates.low, estimates.high),
        ),
        *(np.ones(2, np.int64), np.ones(2, np.int64), True),
    )
    _, (row,) = table_rows("q", "all", rated, 0.95)
    assert row["separated"]  # though the two intervals overlap almost entirely
    assert estimates.low[0] < estimates.high[1]


def test_one_generator_has_a_rating_and_no_separations() -> None:
    ratings, separations = table_rows("q", "all", example([0.4], 10, within=True), 0.95)
    assert separations == []
    assert (ratings[0]["rank_low"], ratings[0]["rank_high"], ratings[0]["raters"]) == (1, 1, 10)


def test_one_rater_has_no_interval() -> None:
    ratings, (row,) = table_rows("q", "all", example([0.4, 0.5], 1, within=True), 0.95)
    assert [r["low"] for r in ratings] == [None, None]
    assert (row["p"], row["separated"], row["more_raters"]) == (None, False, None)
    assert [(r["rank_low"], r["rank_high"]) for r in ratings] == [(1, 2), (1, 2)]
