"""Mean opinion scores."""

import numpy as np
import polars as pl
import pytest

from beholder.rank.opinion import rate_by_mean_opinion
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

Score = tuple[str, str, float]
"""Who, which image (its first letter is the generator), and the score."""


def rated(*scores: Score, aspect: str = "quality", analysis: Analysis | None = None) -> list[GeneratorRatings]:
    names = sorted({image for _, image, _ in scores})
    images = TABLES["images"].frame(
        [
            {"image": name, "path": "x", "generator": name[0], "real": False, "gold": False}
            | {"width": 1, "height": 1, "sha256": "x"}
            for name in names
        ]
    )
    rows = [{"rater": rater, "image": image, "value": value, "aspect": aspect} for rater, image, value in scores]
    return list(rate_by_mean_opinion(pl.DataFrame(rows), images, analysis or Analysis()))


def test_hand_worked() -> None:
    # a: 5, 4, 3 by ann and 2 by bob: (4 + 2)/2; b: 1 and 2
    (rating,) = rated(
        *(("ann", "a0", 5.0), ("ann", "a1", 4.0), ("ann", "a2", 3.0), ("ann", "b0", 1.0)),
        *(("bob", "a0", 2.0), ("bob", "b0", 2.0)),
    )
    assert (rating.aspect, rating.method, rating.generators) == ("quality", "mean-opinion", ("a", "b"))
    assert rating.estimates().value == pytest.approx([3.0, 1.5])
    assert rating.answers.tolist() == [4, 2]
    assert rating.images.tolist() == [3, 1]
    assert rating.estimates().raters.tolist() == [2, 2]
    # naive: ann's answers weigh 1/6 each, bob's 1/2: SD of 5, 4, 3, 2 is √(5/3), times √(3/36 + 1/4)
    assert rating.naive[0][0] == pytest.approx(3.0 - 1.95996 * np.sqrt(5 / 3) * np.sqrt(1 / 3), abs=1e-4)


def test_raters_may_weigh_by_their_answers() -> None:
    scores = (("ann", "a0", 5.0), ("ann", "a1", 5.0), ("bob", "a0", 2.0))
    (rating,) = rated(*scores, analysis=Analysis(weight="answers"))
    # 12/3 = 4; ann is 10 − 2 · 4 = 2 above that in three answers, bob 2 − 4 below
    assert rating.estimates().value.tolist() == [4.0]
    assert rating.influence.influence[:, 0] == pytest.approx([2 / 3, -2 / 3])
    # naive: SD of 5, 5, 2 is √3, over √3
    assert rating.naive[1][0] == pytest.approx(4.0 + 1.95996, abs=1e-4)


def test_raters_weigh_the_same_unless_the_study_says_otherwise() -> None:
    scores = (("ann", "a0", 5.0), ("ann", "a1", 4.0), ("ann", "a2", 3.0), ("bob", "a0", 2.0))
    (rating,) = rated(*scores)
    # means 4 of ann and 2 of bob: 3, each 1 off in two raters; still four answers
    assert rating.estimates().value.tolist() == [3.0]
    assert rating.influence.influence[:, 0] == pytest.approx([0.5, -0.5])
    assert rating.answers.tolist() == [4]


def test_one_answer_has_no_naive_interval() -> None:
    (rating,) = rated(("ann", "a0", 5.0))
    assert np.isnan(rating.naive[0][0])


def test_the_naive_interval_is_narrower_where_raters_differ() -> None:
    scores = [(f"p{n}", f"a{i}", 1.0 if n % 2 else 5.0) for n in range(20) for i in range(10)]
    (rating,) = rated(*scores)
    assert rating.naive[1] - rating.naive[0] < 0.5 * (rating.estimates().high - rating.estimates().low)


def test_aspects_apart_and_nothing_from_nothing() -> None:
    tests = pl.DataFrame(
        {
            "rater": ["p", "p"],
            "image": ["a0", "a0"],
            "value": [1.0, 5.0],
            "aspect": ["quality", "alignment"],
        }
    )
    images = TABLES["images"].frame(
        [
            {"image": "a0", "path": "x", "generator": "a", "real": False, "gold": False}
            | {"width": 1, "height": 1, "sha256": "x"}
        ]
    )
    ratings = list(rate_by_mean_opinion(tests, images, Analysis()))
    assert [(r.aspect, r.estimates().value[0]) for r in ratings] == [("alignment", 5.0), ("quality", 1.0)]
    assert list(rate_by_mean_opinion(tests.clear(), images, Analysis())) == []
