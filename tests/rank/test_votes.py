"""Comparisons, five-way ratings and Plackett–Luce by rank, from votes written by hand."""

import numpy as np
import polars as pl
import pytest

from beholder.rank.comparisons import comparison_rows
from beholder.rank.ranking import rate_by_plackett_luce
from beholder.rank.ratings import table_rows
from beholder.rank.side_by_side import rate_by_mean_preference
from beholder.stats.comparisons.plackett_luce import plackett_luce
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

IMAGES = pl.DataFrame({"image": ["a/1", "a/2", "b/1", "b/2", "c/1"], "generator": ["a", "a", "b", "b", "c"]})
ANALYSIS = Analysis()
VALUES = {"left-much": 2.0, "left": 1.0, "same": 0.0, "tie": 0.0, "right": -1.0, "right-much": -2.0}


def votes(*choices: tuple[str, str, str, str]) -> pl.DataFrame:
    graded = any(choice in ("same", "left-much", "right-much") for *_, choice in choices)
    rows: list[dict[str, object]] = [
        {"rater": rater, "image": left, "other": right, "value": VALUES[choice]}
        | {"value_kind": "graded-vote" if graded else "vote"}
        for rater, left, right, choice in choices
    ]
    return TABLES["judgements"].frame(rows)


def test_shares_of_the_five_outcomes_whichever_side() -> None:
    tests = votes(
        ("p", "a/1", "b/1", "left-much"),
        ("p", "b/2", "a/2", "right"),  # a better
        ("q", "b/1", "a/1", "left"),  # a worse
        ("q", "a/2", "b/2", "same"),
        ("q", "a/1", "a/2", "left"),  # one generator: says nothing
    )
    rows = comparison_rows("q", "all", tests, IMAGES, level=0.95)
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
    rows = comparison_rows("q", "all", votes(("p", "a/1", "b/1", "tie")), IMAGES, level=0.95)
    assert rows["outcome"].to_list() == ["better", "same", "worse"]
    assert rows["low"].null_count() == 3


def test_alike_votes_of_one_person_widen_the_interval() -> None:
    raters = [f"p{n}" for n in range(10)]
    alike = votes(
        *[(p, "a/1", "b/1", "left" if n < 5 else "right") for n, p in enumerate(raters) for _ in range(20)]
    )
    mixed = votes(*[(p, "a/1", "b/1", "left" if k < 10 else "right") for p in raters for k in range(20)])
    width = [
        float((r["high"] - r["low"])[0])
        for r in (comparison_rows("q", "all", v, IMAGES, level=0.95) for v in (alike, mixed))
    ]
    assert width[0] > 2 * width[1]


def test_mean_preference_is_antisymmetric_for_two() -> None:
    tests = votes(
        *[(f"p{n}", "a/1", "b/1", choice) for n, choice in enumerate(("left-much", "left", "same", "right"))],
        *[(f"p{n}", "b/2", "a/2", choice) for n, choice in enumerate(("right", "same", "left", "right-much"))],
    )
    strength, mean = rate_by_mean_preference(tests, IMAGES, ANALYSIS)
    assert (strength.method, mean.method) == ("bradley-terry", "mean-preference")
    # a: 2, 1, 0, −1 and 1, 0, −1, 2: mean 4/8
    assert mean.estimates().value == pytest.approx([0.5, -0.5])
    assert strength.prior_used is False
    ratings, _ = table_rows("q", "all", strength, 0.95)
    assert [row["prior_used"] for row in ratings] == [False, False]


def ranks(orders: list[list[int]]) -> pl.DataFrame:
    """Judgements of one person each who ranked an image of a, one of b and one of c."""
    rows: list[dict[str, object]] = [
        {"rater": rater, "trial": rater, "session": rater, "attempt": 1, "place": place, "image": image}
        | {"value": float(rank), "value_kind": "rank"}
        for rater, order in zip("wxyz", orders, strict=True)
        for place, (image, rank) in enumerate(zip(("a/1", "b/1", "c/1"), order, strict=True))
    ]
    return TABLES["judgements"].frame(rows)


def test_rankings_by_plackett_luce_and_with_ties_by_bradley_terry() -> None:
    orders = [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]]
    (rated,) = rate_by_plackett_luce(ranks(orders), IMAGES, ANALYSIS)
    expected = plackett_luce(
        np.arange(4), np.asarray([[0, 1, 2], [1, 0, 2], [1, 2, 0], [0, 2, 1]]), items=3
    ).ratings
    assert rated.method == "plackett-luce"
    assert rated.estimates().value == pytest.approx(expected)
    (other,) = rate_by_plackett_luce(ranks([[1, 1, 3], *orders[1:]]), IMAGES, ANALYSIS)
    assert other.method == "bradley-terry"
