"""Labels of rankings, five-way comparisons, ratings and sweeps, worked by hand."""

from collections.abc import Callable

import polars as pl
import pytest

from beholder.consolidate.items import JudgedItems, by_aspect
from beholder.consolidate.labels import label
from beholder.judgements.coding import judgements_of
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.tables.catalogue import TABLES

Answered = Callable[..., pl.DataFrame]


def judged(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame | None = None) -> JudgedItems:
    pressed = TABLES["marks"].empty() if marks is None else marks
    (aspect,) = by_aspect(question, judgements_of(question, tests, pressed))
    return aspect


def test_a_ranking_labels_its_pairs(answered: Answered) -> None:
    tests = answered(("ann", ["y", "x", "z"], [1, 2, 3]), ("bob", ["x", "y", "z"], [1, 1, 2]), aspect="preference")
    question = RankingQuestion(name="q", images=3)
    labels = {(r["image"], r["other"]): r for r in label(question, judged(question, tests), 0.95)[0].to_dicts()}
    assert labels["x", "y"]["value"] == 0.25  # a loss and a tie
    assert labels["x", "y"]["ties"] == 0.5
    assert labels["y", "z"]["choice"] == "image"


def test_five_answers_lean_to_the_image_first_by_id(answered: Answered) -> None:
    tests = answered(
        ("a", ["x", "y"], "left-much"), ("b", ["y", "x"], "left"), ("c", ["y", "x"], "same"), aspect="preference"
    )
    question = SideBySideQuestion(name="q")
    aspect = judged(question, tests)
    assert aspect.frame["value"].to_list() == [2.0, -1.0, 0.0]
    preference, mean = label(question, aspect, 0.95)[0].to_dicts()
    assert (preference["method"], preference["value"], preference["ties"]) == (
        "preference",
        0.5,
        pytest.approx(1 / 3),
    )
    assert (mean["method"], mean["value"]) == ("mean-preference", pytest.approx(1 / 3))


def test_z_means_take_peoples_habits_away(answered: Answered) -> None:
    # bob gives two points more than ann and spreads twice as much: their z-scores are the same
    rows = [("ann", "i", 1.0), ("ann", "j", 2.0), ("bob", "i", 2.0), ("bob", "j", 4.0), ("lazy", "i", 5.0)]
    tests = answered(*((rater, [image], value) for rater, image, value in rows), aspect="quality")
    question = RatingQuestion(name="q")
    labels = label(question, judged(question, tests), 0.95)[0]
    by_method = {(r["method"], r["image"]): r for r in labels.to_dicts()}
    half = 0.5**0.5  # two values a − b apart have SD (a − b)/√2, so z = ±1/√2
    assert by_method["z-mean", "j"]["value"] == pytest.approx(half)
    assert by_method["z-mean", "i"]["value"] == pytest.approx((-half - half + 0) / 3)
    assert by_method["mean", "j"]["value"] == 3.0
    assert {method for method, _ in by_method} == {"mean", "z-mean"}  # P.910 would follow ann alone


def test_the_option_that_most_chose(answered: Answered) -> None:
    rows = [
        ("ann", "i", "yes"),
        ("bob", "i", "yes"),
        ("cat", "i", "cannot-tell"),
        ("ann", "j", "no"),
        ("bob", "j", "yes"),
    ]
    question = ChoiceQuestion(name="q")
    tests = answered(*((rater, [image], option) for rater, image, option in rows), aspect="choice")
    aspect = judged(question, tests)
    assert aspect.frame["value"].to_list() == [0.0, 0.0, 2.0, 1.0, 0.0]  # yes, no, cannot tell
    first, second = label(question, aspect, 0.95)[0].to_dicts()
    assert (first["choice"], first["value"], first["answers"]) == ("yes", pytest.approx(2 / 3), 3)
    assert (second["choice"], second["value"], second["doubt"]) == (None, 0.5, None)  # a draw


def test_doubt_in_an_option_follows_the_reliable_raters(answered: Answered) -> None:
    # three who agree on nine images, and two who always say yes: on the tenth, three say no and two yes
    careful = [(rater, f"i{n}", "yes" if n % 2 else "no") for rater in ("a", "b", "c") for n in range(20)]
    careless = [(rater, f"i{n}", "yes") for rater in ("d", "e") for n in range(20)]
    question = ChoiceQuestion(name="q", cannot_tell=False)
    tests = answered(*((rater, [image], option) for rater, image, option in careful + careless), aspect="choice")
    labels = label(question, judged(question, tests), 0.95)[0]
    assert set(labels.filter(pl.col("choice") == "no")["image"]) == {f"i{n}" for n in range(0, 20, 2)}
    assert (labels["doubt"] < 0.01).all()
    assert labels["suggested"].null_count() == 20


def test_credits_of_a_sweep(answered: Answered) -> None:
    question = SweepQuestion(name="q", images=5, each_ms=1000, latency_ms=400, latency_sd_ms=100)
    tests = answered(("ann", ["a", "b", "c", "d", "e"], 1.0), trials=["t"])
    press = {
        "trial": "t",
        "session": "session-ann",
        "aspect": "hit",
        "number": 0,
        "kind": "press",
        "at_ms": 2400.0,
    }
    aspect = judged(question, tests, TABLES["marks"].frame([press]))
    credit = dict(aspect.frame.select("image", "value").iter_rows())
    assert credit["c"] == pytest.approx(1.0)  # shown at 2000: 400 ms before the press; the others 10 SD off
    assert sum(credit.values()) == pytest.approx(1.0)
    (row,) = label(question, aspect, 0.95)[0].filter(pl.col("image") == "c").to_dicts()
    assert (row["method"], row["low"]) == ("credit", None)
