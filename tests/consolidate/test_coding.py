"""Answers as numbers about items."""

from collections.abc import Callable

import polars as pl

from beholder.consolidate.coding import code_answers
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion

Answered = Callable[..., pl.DataFrame]


def test_realism_is_one_where_called_generated(answered: Answered) -> None:
    (coded,) = code_answers(
        RealismQuestion(name="q"), answered(("ann", ["i"], "generated"), ("bob", ["i"], "real"))
    )
    assert (coded.aspect, coded.scale) == ("realism", "nominal")
    assert coded.frame.select("rater", "item", "code").rows() == [("ann", "i", 1.0), ("bob", "i", 0.0)]


def test_a_pair_is_one_item_whichever_side_its_images_stood_on(answered: Answered) -> None:
    tests = answered(
        ("ann", ["x", "y"], "left"),  # x
        ("bob", ["y", "x"], "left"),  # y
        ("cat", ["y", "x"], "right"),  # x
        ("dan", ["y", "x"], "tie"),
        aspect="preference",
    )
    (coded,) = code_answers(PairQuestion(name="q"), tests)
    assert coded.frame["code"].to_list() == [0, 1, 0, 2]
    assert set(coded.frame["image"]) == {"x"}
    assert set(coded.frame["other"]) == {"y"}
    assert coded.frame["item"].n_unique() == 1


def test_ratings_by_aspect_in_their_order(answered: Answered) -> None:
    tests = pl.concat(
        [answered(("ann", ["i"], 4.0), aspect="quality"), answered(("ann", ["i"], 2.0), aspect="alignment")]
    )
    coded = list(code_answers(RatingQuestion(name="q"), tests))
    assert [(c.aspect, c.scale, c.frame["code"].to_list()) for c in coded] == [
        ("alignment", "ordinal", [2.0]),
        ("quality", "ordinal", [4.0]),
    ]


def test_of_a_persons_answers_to_an_item_the_first_counts(answered: Answered) -> None:
    tests = answered(("ann", ["i"], "real"), ("bob", ["i"], "real"), ("ann", ["i"], "generated"))
    (coded,) = code_answers(RealismQuestion(name="q"), tests)
    assert coded.frame.select("rater", "code").rows() == [("ann", 0.0), ("bob", 0.0)]


def test_arrays_number_raters_and_items_by_name(answered: Answered) -> None:
    tests = answered(("zoe", ["b"], "real"), ("ann", ["a"], "generated"), ("zoe", ["a"], "real"))
    (coded,) = code_answers(RealismQuestion(name="q"), tests)
    who, what, code, names = coded.arrays()
    assert names == ["ann", "zoe"]
    assert who.tolist() == [1, 0, 1]
    assert what.tolist() == [1, 0, 0]
    assert code.tolist() == [0, 1, 0]
    assert who.dtype == what.dtype == "int64"
