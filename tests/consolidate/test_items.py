"""Judgements by aspect, about items."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from beholder.consolidate.items import Ids, JudgedItems, by_aspect, compacted, together
from beholder.judgements.coding import judgements_of
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.tables.catalogue import TABLES

Answered = Callable[..., pl.DataFrame]


def items(question: AnyQuestion, tests: pl.DataFrame) -> list[JudgedItems]:
    return list(by_aspect(question, judgements_of(question, tests, TABLES["marks"].empty())))


def test_an_image_is_an_item(answered: Answered) -> None:
    (judged,) = items(RealismQuestion(name="q"), answered(("ann", ["i"], "generated"), ("bob", ["i"], "real")))
    assert (judged.aspect, judged.scale) == ("realism", "nominal")
    assert judged.frame.select("rater", "item", "value").rows() == [("ann", "i", 1.0), ("bob", "i", 0.0)]


def test_a_pair_is_one_item_whichever_side_its_images_stood_on(answered: Answered) -> None:
    tests = answered(
        ("ann", ["x", "y"], "left"),  # x
        ("bob", ["y", "x"], "left"),  # y
        ("cat", ["y", "x"], "right"),  # x
        ("dan", ["y", "x"], "tie"),
        aspect="preference",
    )
    (judged,) = items(PairQuestion(name="q"), tests)
    assert judged.frame["value"].to_list() == [1, -1, 1, 0]
    assert set(judged.frame["image"]) == {"x"}
    assert set(judged.frame["other"]) == {"y"}
    assert judged.frame["item"].n_unique() == 1
    assert judged.arrays()[2].tolist() == [0, 1, 0, 2]  # classes: the first image, the second, a tie
    assert judged.decided().frame["value"].to_list() == [1, -1, 1]


def test_a_ranking_is_the_votes_that_it_implies(answered: Answered) -> None:
    tests = answered(("ann", ["y", "x", "z"], [1, 2, 3]), ("bob", ["x", "y", "z"], [1, 1, 2]), aspect="preference")
    (judged,) = items(RankingQuestion(name="q", images=3), tests)
    # ann: y before x before z; bob: x and y alike, before z
    rows = judged.frame.select("rater", "image", "other", "value").iter_rows()
    assert {(rater, image, other): value for rater, image, other, value in rows} == {
        ("ann", "x", "y"): -1.0,
        ("ann", "y", "z"): 1.0,
        ("ann", "x", "z"): 1.0,
        ("bob", "x", "y"): 0.0,
        ("bob", "y", "z"): 1.0,
        ("bob", "x", "z"): 1.0,
    }
    assert judged.scale == "nominal"


def test_ratings_by_aspect_in_their_order(answered: Answered) -> None:
    tests = pl.concat(
        [answered(("ann", ["i"], 4.0), aspect="quality"), answered(("ann", ["i"], 2.0), aspect="alignment")]
    )
    judged = items(RatingQuestion(name="q"), tests)
    assert [(aspect.aspect, aspect.scale, aspect.frame["value"].to_list()) for aspect in judged] == [
        ("alignment", "ordinal", [2.0]),
        ("quality", "ordinal", [4.0]),
    ]


def test_of_a_raters_answers_to_an_item_the_first_counts(answered: Answered) -> None:
    tests = answered(("ann", ["i"], "real"), ("bob", ["i"], "real"), ("ann", ["i"], "generated"))
    (judged,) = items(RealismQuestion(name="q"), tests)
    assert judged.frame.select("rater", "value").rows() == [("ann", 0.0), ("bob", 0.0)]


def test_arrays_number_raters_and_items_by_name(answered: Answered) -> None:
    tests = answered(("zoe", ["b"], "real"), ("ann", ["a"], "generated"), ("zoe", ["a"], "real"))
    (judged,) = items(RealismQuestion(name="q"), tests)
    who, what, code, names = judged.arrays()
    assert names == ["ann", "zoe"]
    assert who.tolist() == [1, 0, 1]
    assert what.tolist() == [1, 0, 0]
    assert code.tolist() == [0, 1, 0]
    assert who.dtype == what.dtype == "int64"


def test_a_question_that_nobody_answered_has_its_aspect_empty(answered: Answered) -> None:
    (judged,) = items(RealismQuestion(name="q"), answered())
    assert (judged.aspect, judged.frame.height) == ("realism", 0)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60))
def test_numbers_in_place_of_ids_are_in_the_same_order(rows: list[tuple[int, int, int]]) -> None:
    ids = [f"{number:02d}" for number in range(41)]
    votes = pl.DataFrame(
        {
            "rater": [ids[rater] for rater, _, _ in rows],
            "image": [ids[min(pair)] for _, *pair in rows],
            "other": [ids[max(pair)] for _, *pair in rows],
            "value": [1.0] * len(rows),
        }
    ).with_columns(item=pl.concat_str("image", "other", separator="\n"))
    plain = JudgedItems("preference", "vote", votes)
    half, numbers = len(rows) // 2, Ids.of(pl.Series(ids[::-1]), pl.Series(ids + ids))
    parts = [replace(plain, frame=votes[:half]), replace(plain, frame=votes[half:])]
    (coded,) = together([[compacted(part, numbers)] for part in parts])
    expected, actual = ([np.asarray(column).tolist() for column in judged.arrays()] for judged in (plain, coded))
    assert actual == expected
