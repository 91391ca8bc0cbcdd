"""Rows of ratings and separations."""

from dataclasses import replace

import numpy as np
import pytest

from beholder.rank.ratings import GeneratorRatings, table_rows
from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.clustered_t import clustered_t, ratio_influence


def example(
    means: list[float], raters: int, *, within: bool, spread: float = 0.1, seed: int = 0
) -> GeneratorRatings:
    rng = np.random.default_rng(seed)
    cells = len(means)
    if within:
        scores = np.asarray(means) + rng.normal(0, spread, (raters, 1)) + rng.normal(0, spread, (raters, cells))
        judged = np.ones((raters, cells))
    else:
        judged = np.zeros((raters, cells))
        judged[np.arange(raters), np.arange(raters) % cells] = 1
        scores = judged * (np.asarray(means) + rng.normal(0, spread, (raters, cells)))
    return rated_scores(scores, judged)


def rated_scores(scores: np.ndarray, judged: np.ndarray) -> GeneratorRatings:
    cells = scores.shape[1]
    return GeneratorRatings(
        aspect="x",
        method="m",
        generators=tuple("abcdefgh"[:cells]),
        influence=ratio_influence(scores, judged),
        naive=(np.zeros(cells), np.ones(cells)),
        answers=np.full(cells, 7),
        images=np.full(cells, 3),
    )


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_rank_ranges_follow_from_the_separations(seed: int, *, within: bool) -> None:
    rated = example([0.5, 0.48, 0.4, 0.2], 40, within=within, seed=seed)
    ratings, separations = table_rows("q", "all", rated, 0.95)
    assert len(separations) == 6
    for row in separations:
        assert row["difference"] >= 0  # type: ignore[operator]
        assert row["separated"] == (row["p_adjusted"] < 0.05)  # type: ignore[operator]
        assert row["separated"] == (row["low"] > 0)  # type: ignore[operator]
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
    value = rated.estimates().value
    assert row["difference"] == pytest.approx(value[1] - value[0])
    assert row["separated"]


def test_what_a_generator_has_with_no_rater_excluded() -> None:
    rated, everyone = example([0.2, 0.5], 40, within=True), example([0.1, 0.6, 0.3], 60, within=True)
    turned = replace(everyone, generators=("c", "b", "a"))
    rows, _ = table_rows("q", "all", rated, 0.95, everyone=turned)
    estimates = everyone.estimates()
    for row, place in zip(rows, (2, 1), strict=True):
        of_all = estimates[place]
        assert (row["rating_all"], row["low_all"], row["high_all"]) == (of_all.value, of_all.low, of_all.high)
        assert (row["raters"], row["raters_all"]) == (40, 60)
    (alone, _), _ = table_rows("q", "all", rated, 0.95, everyone=replace(everyone, generators=("x", "b", "y")))
    assert "rating_all" not in alone


def test_intervals_with_no_rater_excluded_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    levels: list[float] = []

    def counted(rated: GeneratorRatings, level: float = 0.95) -> Estimates:
        levels.append(level)
        return clustered_t(rated.influence, level=level)

    monkeypatch.setattr(GeneratorRatings, "estimates", counted)
    rated = example([0.2, 0.5, 0.4, 0.1], 40, within=True)
    table_rows("q", "all", rated, 0.9, everyone=rated)
    assert levels == [0.9, 0.9]


def test_within_raters_a_common_leniency_falls_out() -> None:
    rng = np.random.default_rng(0)
    leniency = rng.normal(0, 1.0, (30, 1))
    scores = leniency + np.asarray([3.2, 3.0]) + rng.normal(0, 0.1, (30, 2))
    (better, worse), (row,) = table_rows("q", "all", rated_scores(scores, np.ones((30, 2))), 0.95)
    assert row["separated"]  # though the two intervals overlap almost entirely
    assert better["low"] < worse["high"]  # type: ignore[operator]


def test_of_two_generators_rated_by_votes_all_intervals_agree() -> None:
    # strengths sum to 0, so the difference is twice the rating, and so is its interval
    wins = np.array([11, 12, 9, 10, 8])
    counts = np.stack([wins, 12 - wins, 0 * wins], axis=1)[:, None, :].astype(float)
    fit = bradley_terry([[0, 1]], counts, items=2)
    common = {"naive": (np.zeros(2), np.ones(2)), "answers": np.full(2, 60), "images": np.full(2, 9)}
    rated = GeneratorRatings("x", "m", ("a", "b"), fit.rater_influence(), **common)  # type: ignore[arg-type]
    (first, _), (pair,) = table_rows("q", "all", rated, 0.95)
    assert pair["low"] == pytest.approx(2 * first["low"])  # type: ignore[operator]
    assert pair["high"] == pytest.approx(2 * first["high"])  # type: ignore[operator]
    assert pair["separated"] == (pair["low"] > 0) == (first["rank_high"] == 1)  # type: ignore[operator]


def test_one_generator_has_a_rating_and_no_separations() -> None:
    ratings, separations = table_rows("q", "all", example([0.4], 10, within=True), 0.95)
    assert separations == []
    assert (ratings[0]["rank_low"], ratings[0]["rank_high"], ratings[0]["raters"]) == (1, 1, 10)


@pytest.mark.parametrize("raters", [1, 4])
def test_few_raters_have_no_interval(raters: int) -> None:
    ratings, (row,) = table_rows("q", "all", example([0.4, 0.5], raters, within=True), 0.95)
    assert [(r["low"], r["high"]) for r in ratings] == [(None, None), (None, None)]
    assert row["difference"] is not None
    assert (row["low"], row["p"], row["p_adjusted"], row["separated"], row["more_raters"]) == (
        *(None, None, None),
        False,
        None,
    )
    assert [(r["rank_low"], r["rank_high"]) for r in ratings] == [(1, 2), (1, 2)]


def test_five_raters_have_intervals() -> None:
    ratings, (row,) = table_rows("q", "all", example([0.4, 0.5], 5, within=True), 0.95)
    assert all(r["low"] is not None for r in ratings)
    assert row["low"] is not None
