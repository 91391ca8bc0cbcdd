"""Labels and codes of rankings, five-way comparisons, sweeps and rich feedback, worked by hand."""

import polars as pl
import pytest

from beholder.consolidate.coding import code_answers
from beholder.consolidate.labels import label
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.side_by_side import SideBySideQuestion
from beholder.study.kinds.sweep import SweepQuestion
from beholder.tables.catalogue import TABLES


def test_a_ranking_is_coded_as_its_pairs() -> None:
    tests = pl.DataFrame(
        {"rater": ["ann", "bob"], "images": [["y", "x", "z"], ["x", "y", "z"]], "ranking": [[1, 2, 3], [1, 1, 2]]}
    )
    question = RankingQuestion(name="q", images=3)
    (coded,) = code_answers(question, tests)
    # ann: y before x before z; bob: x and y alike, before z
    rows = {
        (rater, image, other): code
        for rater, image, other, code in coded.frame.select("rater", "image", "other", "code").iter_rows()
    }
    assert rows == {
        ("ann", "x", "y"): 1.0,
        ("ann", "y", "z"): 0.0,
        ("ann", "x", "z"): 0.0,
        ("bob", "x", "y"): 2.0,
        ("bob", "y", "z"): 0.0,
        ("bob", "x", "z"): 0.0,
    }
    labels = {(r["image"], r["other"]): r for r in label(question, coded, 0.95).to_dicts()}
    assert labels["x", "y"]["value"] == 0.25  # a loss and a tie
    assert labels["x", "y"]["ties"] == 0.5
    assert labels["y", "z"]["choice"] == "image"


def test_five_answers_lean_to_the_image_first_by_id() -> None:
    tests = pl.DataFrame(
        {
            "rater": ["a", "b", "c"],
            "images": [["x", "y"], ["y", "x"], ["y", "x"]],
            "choice": ["left-much", "left", "same"],
        }
    )
    question = SideBySideQuestion(name="q")
    (coded,) = code_answers(question, tests)
    assert coded.frame["code"].to_list() == [2.0, -1.0, 0.0]
    preference, mean = label(question, coded, 0.95).to_dicts()
    assert (preference["method"], preference["value"], preference["ties"]) == (
        "preference",
        0.5,
        pytest.approx(1 / 3),
    )
    assert (mean["method"], mean["value"]) == ("mean-preference", pytest.approx(1 / 3))


def test_z_means_take_peoples_habits_away() -> None:
    # bob gives two points more than ann and spreads twice as much: their z-scores are the same
    rows = [("ann", "i", 1.0), ("ann", "j", 2.0), ("bob", "i", 2.0), ("bob", "j", 4.0), ("lazy", "i", 5.0)]
    tests = pl.DataFrame(
        {
            "rater": [r for r, _, _ in rows],
            "images": [[i] for _, i, _ in rows],
            "value": [v for _, _, v in rows],
            "aspect": "quality",
        }
    )
    question = RatingQuestion(name="q")
    (coded,) = code_answers(question, tests)
    found = {(r["method"], r["image"]): r for r in label(question, coded, 0.95).to_dicts()}
    half = 0.5**0.5  # two values a − b apart have SD (a − b)/√2, so z = ±1/√2
    assert found["z-mean", "j"]["value"] == pytest.approx(half)
    assert found["z-mean", "i"]["value"] == pytest.approx((-half - half + 0) / 3)
    assert found["mean", "j"]["value"] == 3.0
    assert {method for method, _ in found} == {"mean", "z-mean"}  # P.910 would follow ann alone


def test_credits_of_a_sweep() -> None:
    question = SweepQuestion(name="q", images=5, each_ms=1000, latency_ms=400, latency_sd_ms=100)
    tests = pl.DataFrame(
        {"rater": ["ann"], "trial": ["t"], "session": ["s"], "images": [["a", "b", "c", "d", "e"]], "value": [1.0]}
    )
    marks = TABLES["marks"].frame(
        [{"trial": "t", "session": "s", "aspect": "hit", "number": 0, "kind": "press", "at_ms": 2400.0}]
    )
    (coded,) = code_answers(question, tests, marks)
    credit = dict(coded.frame.select("image", "code").iter_rows())
    assert credit["c"] == pytest.approx(1.0)  # shown at 2000: 400 ms before the press; the others 10 SD off
    assert sum(credit.values()) == pytest.approx(1.0)
    (row,) = label(question, coded, 0.95).filter(pl.col("image") == "c").to_dicts()
    assert (row["method"], row["low"]) == ("credit", None)
