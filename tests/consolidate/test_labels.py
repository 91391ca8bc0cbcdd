"""Labels: proportions, preferences and means with their confidence intervals."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from beholder.consolidate import labels as labels_module
from beholder.consolidate.items import JudgedItems, by_aspect
from beholder.consolidate.labels import label, label_rows
from beholder.judgements.coding import judgements_of
from beholder.stats.truth.p910 import p910
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.tables.catalogue import TABLES

Answered = Callable[..., pl.DataFrame]
REALISM, PAIR, RATING = RealismQuestion(name="q"), PairQuestion(name="q"), RatingQuestion(name="q")


def labels(question: AnyQuestion, tests: pl.DataFrame) -> list[dict[str, object]]:
    (judged,) = by_aspect(question, judgements_of(question, tests, TABLES["marks"].empty()))
    parts = label_rows(label(question, judged, 0.95)[0], question.name, judged.aspect, size=2)
    return [row for part in parts for row in part.rows(named=True)]


class TestProportions:
    def test_hand_worked(self, answered: Answered) -> None:
        choices = ["generated", "generated", "generated", "real"]
        (row,) = labels(REALISM, answered(*[(f"p{n}", ["i"], s) for n, s in enumerate(choices)]))
        # Wilson, k = 3, n = 4, z = 1.96: (.75 + .480 ± 1.96 √(.046875 + .0600))/(1 + .9604) = (.301, .954)
        assert row["value"] == 0.75
        assert (row["low"], row["high"]) == pytest.approx((0.3006, 0.9544), abs=1e-4)
        assert (row["low"], row["high"]) == pytest.approx(proportion_confint(3, 4, method="wilson"))
        assert (row["choice"], row["method"], row["aspect"], row["question"]) == (
            "generated",
            "share",
            "realism",
            "q",
        )
        assert (row["answers"], row["raters"]) == (4, 4)

    def test_the_majority_or_none(self, answered: Answered) -> None:
        tests = answered(
            ("a", ["i"], "real"), ("b", ["i"], "generated"), ("a", ["j"], "real"), ("a", ["h"], "generated")
        )
        assert [(r["image"], r["choice"]) for r in labels(REALISM, tests)] == [
            ("h", "generated"),
            ("i", None),
            ("j", "real"),
        ]

    @given(st.integers(0, 30), st.integers(1, 30), st.floats(0.6, 0.99))
    def test_interval_as_statsmodels(self, successes: int, trials: int, level: float) -> None:
        k = min(successes, trials)
        frame = pl.DataFrame(
            {
                "rater": [f"p{n}" for n in range(trials)],
                "image": "i",
                "item": "i",
                "value": [1.0] * k + [0.0] * (trials - k),
            }
        )
        row = label(REALISM, JudgedItems("realism", "detection", frame), level)[0].row(0, named=True)
        assert (row["low"], row["high"]) == pytest.approx(
            proportion_confint(k, trials, alpha=1 - level, method="wilson"), abs=1e-9
        )


class TestPreferences:
    def test_a_tie_counts_half(self, answered: Answered) -> None:
        choices = [(["x", "y"], "left"), (["y", "x"], "right"), (["x", "y"], "tie"), (["y", "x"], "left")]
        (row,) = labels(
            PAIR, answered(*[(f"p{n}", i, s) for n, (i, s) in enumerate(choices)], aspect="preference")
        )
        # two for x, half for the tie, one for y: 2.5/4
        assert (row["image"], row["other"]) == ("x", "y")
        assert row["value"] == 0.625
        assert row["ties"] == 0.25
        assert row["choice"] == "image"
        assert (row["low"], row["high"]) == pytest.approx(proportion_confint(2.5, 4, method="wilson"))

    def test_all_ties(self, answered: Answered) -> None:
        rows = [(f"p{n}", ["x", "y"], "tie") for n in range(3)]
        (row,) = labels(PAIR, answered(*rows, aspect="preference"))
        assert (row["value"], row["ties"], row["choice"]) == (0.5, 1.0, "tie")

    def test_the_other_may_win(self, answered: Answered) -> None:
        (row,) = labels(PAIR, answered(("p", ["y", "x"], "left"), aspect="preference"))
        assert (row["image"], row["value"], row["choice"]) == ("x", 0.0, "other")


class TestMeans:
    def test_hand_worked(self, answered: Answered) -> None:
        row, *_ = labels(
            RATING, answered(*[(f"p{n}", ["i"], v) for n, v in enumerate((2.0, 3.0, 4.0))], aspect="quality")
        )
        # mean 3, SD 1, t(.975; 2) = 4.303: 3 ± 4.303/√3
        assert row["value"] == 3
        assert (row["low"], row["high"]) == pytest.approx((3 - 4.3027 / 3**0.5, 3 + 4.3027 / 3**0.5), abs=1e-4)
        assert (row["aspect"], row["method"], row["answers"]) == ("quality", "mean", 3)

    def test_one_answer_has_no_interval(self, answered: Answered) -> None:
        row, *_ = labels(RATING, answered(("p", ["i"], 4.0), aspect="quality"))
        assert (row["value"], row["low"], row["high"]) == (4.0, None, None)

    @given(st.lists(st.integers(1, 5), min_size=2, max_size=12).filter(lambda values: len(set(values)) > 1))
    def test_interval_as_scipy(self, values: list[int]) -> None:
        frame = pl.DataFrame(
            {
                "rater": [f"p{n}" for n in range(len(values))],
                "image": "i",
                "item": "i",
                "value": [float(v) for v in values],
            }
        )
        row = label(RATING, JudgedItems("quality", "rating", frame), 0.9)[0].row(0, named=True)
        expected = stats.t.interval(0.9, len(values) - 1, np.mean(values), stats.sem(values))
        assert (row["low"], row["high"]) == pytest.approx(expected)


def test_p910_that_follows_one_rater_is_dropped_with_a_note() -> None:
    rng = np.random.default_rng(0)
    scores = np.clip(rng.uniform(1, 5, (60, 1)) + rng.normal(0, [0.2, 1, 1, 1], (60, 4)), 1, 5)
    rows = [(f"p{r}", f"i{i:02d}", float(scores[i, r])) for i in range(60) for r in range(4)]
    frame = pl.DataFrame(rows, schema=["rater", "image", "value"], orient="row").with_columns(item="image")
    question, judged = RatingQuestion(name="q"), JudgedItems("quality", "rating", frame)
    labels, notes = label(question, judged, 0.95)
    assert set(labels["method"]) == {"mean", "z-mean"}
    assert notes == [
        "p910: no labels of quality: with 4 raters the model collapsed onto p0, whose opinions it would repeat; "
        "take the mean"
    ]
    # one answer per image: biases cannot be separated from opinions
    alone = JudgedItems("quality", "rating", frame.unique("image", keep="first", maintain_order=True))
    assert "item with two answers" in label(question, alone, 0.95)[1][0]


def test_p910_is_fitted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []

    def counted(*columns: ArrayLike, level: float, give_up: bool) -> object:
        fits.append(1)
        return p910(*columns, level=level, give_up=give_up)

    monkeypatch.setattr(labels_module, "p910", counted)
    frame = pl.DataFrame({"rater": ["a", "b"], "image": ["i", "j"], "value": [1.0, 2.0]})
    _, notes = label(RATING, JudgedItems("quality", "rating", frame.with_columns(item="image")), 0.95)
    assert len(notes) == 1
    assert len(fits) == 1
