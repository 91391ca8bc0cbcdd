"""Judgements as values of generators, from judgements written by hand."""

import polars as pl
import pytest

from beholder.judgements.generator_values import GeneratorValues, generator_values
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.tables.catalogue import TABLES

IMAGES = TABLES["images"].frame(
    [
        {"image": "a/1", "generator": "a", "real": False},
        {"image": "b/1", "generator": "b", "real": False},
        {"image": "r/1", "generator": "camera", "real": True},
    ]
)


def judgements(value_kind: str, *rows: tuple[str, str | None, float], trial: str = "t") -> pl.DataFrame:
    return TABLES["judgements"].frame(
        [
            {"rater": f"p{number}", "session": f"s{number}", "trial": trial, "aspect": "x", "attempt": 1}
            | {"image": image, "other": other, "value": value, "value_kind": value_kind, "place": 0}
            for number, (image, other, value) in enumerate(rows)
        ]
    )


def only(question: AnyQuestion, rows: pl.DataFrame) -> GeneratorValues:
    (values,) = generator_values(question, rows, IMAGES)
    return values


def pairs(values: GeneratorValues) -> list[tuple[str, float]]:
    return sorted(values.rows.select("generator", "value").iter_rows())


def test_ratings_are_taken_as_they_are_within_the_scale() -> None:
    values = only(RatingQuestion(name="q"), judgements("rating", ("a/1", None, 4.0), ("b/1", None, 2.0)))
    assert (values.aspect, values.method, values.bounds) == ("x", "mean-opinion", (1, 5))
    assert pairs(values) == [("a", 4), ("b", 2)]


def test_a_generated_image_called_real_is_a_1_and_real_images_are_no_generators() -> None:
    rows = judgements("detection", ("a/1", None, 0.0), ("b/1", None, 1.0), ("r/1", None, 0.0))
    values = only(RealismQuestion(name="q"), rows)
    assert (values.method, values.bounds) == ("fake-error-rate", (0, 1))
    assert pairs(values) == [("a", 1), ("b", 0)]


@pytest.mark.parametrize(("vote", "share"), [(1.0, 1.0), (-1.0, 0.0), (0.0, 0.5)])
def test_a_vote_counts_for_either_generator(vote: float, share: float) -> None:
    values = only(PairQuestion(name="q"), judgements("vote", ("a/1", "b/1", vote)))
    assert values.method == "win-rate"
    assert pairs(values) == [("a", share), ("b", 1 - share)]
    assert values.rows.select("rival", "other").rows() == [("b", "b/1"), ("a", "a/1")]


def test_a_graded_vote_keeps_its_grade() -> None:
    values = only(SideBySideQuestion(name="q"), judgements("graded-vote", ("b/1", "a/1", -2.0)))
    assert (values.method, values.bounds) == ("mean-preference", (-2, 2))
    assert pairs(values) == [("a", 2), ("b", -2)]


def test_a_ranking_is_a_vote_on_every_two() -> None:
    rows = TABLES["judgements"].frame(
        [
            {"rater": "p", "session": "s", "trial": "t", "aspect": "preference", "attempt": 1, "place": place}
            | {"image": image, "value": rank, "value_kind": "rank"}
            for place, (image, rank) in enumerate([("a/1", 2.0), ("b/1", 1.0)])
        ]
    )
    values = only(RankingQuestion(name="q"), rows)
    assert values.method == "win-rate"
    assert pairs(values) == [("a", 0), ("b", 1)]


def test_credit_counts_against_an_image() -> None:
    values = only(SweepQuestion(name="q"), judgements("credit", ("a/1", None, 0.25), ("r/1", None, 0.1)))
    assert (values.method, pairs(values)) == ("pass-rate", [("a", 0.75)])


def test_an_option_that_counts_is_a_one() -> None:
    rows = judgements("category", ("a/1", None, 0.0), ("a/1", None, 2.0), ("b/1", None, 1.0))
    values = only(ChoiceQuestion(name="q", counted=("yes", "no")), rows)
    assert (values.method, pairs(values)) == ("option-share", [("a", 0.0), ("a", 1.0), ("b", 1.0)])


def test_staircases_have_no_values() -> None:
    rows = judgements("detection", ("a/1", None, 0.0))
    assert list(generator_values(TimedRealismQuestion(name="q"), rows, IMAGES)) == []
