"""Comparisons, five-way ratings and Plackett–Luce by rank, from votes written by hand."""

import numpy as np
import polars as pl
import pytest

from beholder.rank.comparisons import comparison_rows
from beholder.rank.ranking import rankings
from beholder.rank.rated import rows_of
from beholder.rank.side_by_side import leanings
from beholder.stats.comparisons.plackett_luce import plackett_luce
from beholder.study.study import Analysis

IMAGES = pl.DataFrame({"image": ["a/1", "a/2", "b/1", "b/2", "c/1"], "generator": ["a", "a", "b", "b", "c"]})
ANALYSIS = Analysis(draws=200)


def votes(*said: tuple[str, str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"rater": [v[0] for v in said], "images": [[v[1], v[2]] for v in said], "choice": [v[3] for v in said]}
    )


def test_shares_of_the_five_outcomes_whichever_side() -> None:
    tests = votes(
        ("p", "a/1", "b/1", "left-much"),
        ("p", "b/2", "a/2", "right"),  # a better
        ("q", "b/1", "a/1", "left"),  # a worse
        ("q", "a/2", "b/2", "same"),
        ("q", "a/1", "a/2", "left"),  # one generator: says nothing
    )
    rows = comparison_rows("q", "all", tests, IMAGES, five=True, level=0.95)
    assert rows.select("generator", "other", "outcome", "share").rows() == [
        ("a", "b", "much-better", 0.25),
        ("a", "b", "better", 0.25),
        ("a", "b", "same", 0.25),
        ("a", "b", "worse", 0.25),
        ("a", "b", "much-worse", 0.0),
    ]
    assert set(rows["answers"]) == {4}
    assert set(rows["raters"]) == {2}
    assert (rows["low"] <= rows["share"]).all()
    assert (rows["high"] >= rows["share"]).all()


def test_one_voter_has_shares_without_intervals() -> None:
    rows = comparison_rows("q", "all", votes(("p", "a/1", "b/1", "tie")), IMAGES, five=False, level=0.95)
    assert rows["outcome"].to_list() == ["better", "same", "worse"]
    assert rows["low"].null_count() == 3


def test_alike_votes_of_one_person_widen_the_interval() -> None:
    people = [f"p{n}" for n in range(10)]
    alike = votes(
        *[(p, "a/1", "b/1", "left" if n < 5 else "right") for n, p in enumerate(people) for _ in range(20)]
    )
    mixed = votes(*[(p, "a/1", "b/1", "left" if k < 10 else "right") for p in people for k in range(20)])
    width = [
        float((r["high"] - r["low"])[0])
        for r in (comparison_rows("q", "all", v, IMAGES, five=False, level=0.95) for v in (alike, mixed))
    ]
    assert width[0] > 2 * width[1]


def test_mean_preference_is_antisymmetric_for_two() -> None:
    tests = votes(
        *[(f"p{n}", "a/1", "b/1", said) for n, said in enumerate(("left-much", "left", "same", "right"))],
        *[(f"p{n}", "b/2", "a/2", said) for n, said in enumerate(("right", "same", "left", "right-much"))],
    )
    strength, mean = leanings(tests, IMAGES, ANALYSIS, np.random.default_rng(0))
    assert (strength.method, mean.method) == ("bradley-terry", "mean-preference")
    # a: 2, 1, 0, −1 and 1, 0, −1, 2: mean 4/8
    assert mean.estimates.value == pytest.approx([0.5, -0.5])
    assert strength.prior_used is False
    ratings, _ = rows_of("q", "all", strength, 0.95)
    assert [row["prior_used"] for row in ratings] == [False, False]


def test_rankings_by_plackett_luce_and_with_ties_by_bradley_terry() -> None:
    images = [["a/1", "b/1", "c/1"]] * 4
    orders = [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]]
    tests = pl.DataFrame({"rater": list("wxyz"), "images": images, "ranking": orders})
    (rated,) = rankings(tests, IMAGES, ANALYSIS, np.random.default_rng(0))
    expected = plackett_luce(
        np.arange(4), np.asarray([[0, 1, 2], [1, 0, 2], [1, 2, 0], [0, 2, 1]]), items=3
    ).ratings
    assert rated.method == "plackett-luce"
    assert rated.estimates.value == pytest.approx(expected)
    tied = tests.with_columns(ranking=pl.Series([[1, 1, 3], *orders[1:]]))
    (other,) = rankings(tied, IMAGES, ANALYSIS, np.random.default_rng(0))
    assert other.method == "bradley-terry"
