"""The live leaderboard: confidence sequences and separations that stay valid under continuous looking."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import stats

from beholder.collect.researcher.anytime import RaterMeans, Row, anytime_boards, anytime_rows, rater_means
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

START = datetime(2026, 1, 1, tzinfo=UTC)
STUDIES = 1000
RATERS = 25

Answer = tuple[str, str, str | None, float]
"""Rater, image, other image, and value."""


def means_of(scores: NDArray[np.float64]) -> RaterMeans:
    names = tuple("abcdef"[: scores.shape[1]])
    return RaterMeans("preference", "win-rate", (0.0, 1.0), names, scores, (len(scores),) * scores.shape[1])


def store_of(
    folder: Path, question: AnyQuestion, answers: list[Answer], *, value_kind: str, running: tuple[str, ...] = ()
) -> Store:
    """A consolidated study; raters finish in the reverse order of their names."""
    raters = sorted({rater for rater, *_ in answers}, reverse=True)
    sessions = [
        {"session": f"s-{rater}", "rater": rater, "question": question.name, "status": "complete"}
        | {"started": START, "simulated": False}
        | {"ended": None if rater in running else START + timedelta(minutes=place)}
        for place, rater in enumerate(raters)
    ]
    names = {name for _, image, other, _ in answers for name in (image, other) if name is not None}
    images = [
        {"image": name, "path": f"{name}.png", "sha256": name, "generator": name[0], "real": name[0] == "r"}
        | {"gold": False, "width": 8, "height": 8}
        for name in sorted(names)
    ]
    judgements: list[Row] = [
        {"question": question.name, "aspect": "x", "rater": rater, "session": f"s-{rater}", "trial": f"t{number}"}
        | {"attempt": 1, "place": 0, "image": image, "other": other, "value": value, "value_kind": value_kind}
        | {"expected": float(image[0] != "r") if other is None else None, "used": True}
        for number, (rater, image, other, value) in enumerate(answers)
    ]
    trials = [
        {"trial": row["trial"], "question": question.name, "kind": question.kind, "slot": 0, "position": place}
        | {"block": 0, "role": "test", "images": [row["image"]], "propensity": 1.0}
        for place, row in enumerate(judgements)
    ]
    tables: dict[str, list[Row]] = {
        "trials": trials,
        "sessions": sessions,
        "images": images,
        "judgements": judgements,
    }
    store = Store(folder)
    store.write({name: TABLES[name].frame(rows) for name, rows in tables.items()}, Provenance("test", {}, 0, {}))
    return store


def test_raters_enter_when_they_finish_with_their_means(tmp_path: Path) -> None:
    question = PairQuestion(name="q")
    answers: list[Answer] = [
        ("p1", "a/1", "b/1", 1.0),  # p1: a wins once and draws once: ¾
        ("p1", "b/2", "a/2", 0.0),
        ("p2", "b/1", "a/1", 1.0),  # p2: b wins
        ("p3", "a/1", "b/1", 1.0),  # p3 is still answering
    ]
    (means,) = rater_means(question, store_of(tmp_path, question, answers, value_kind="vote", running=("p3",)))
    assert means.generators == ("a", "b")
    assert means.means.tolist() == [[0.0, 1.0], [0.75, 0.25]]  # p2 finished before p1
    assert means.answers == (3, 3)


def test_error_rates_are_those_of_the_rank_stage(tmp_path: Path) -> None:
    question = RealismQuestion(name="q")
    answers: list[Answer] = [
        ("p1", "a/1", None, 0.0),  # generated, taken for real: an error
        ("p1", "a/2", None, 1.0),
        ("p1", "r/1", None, 1.0),  # real, taken for generated: an error
        ("p1", "r/2", None, 0.0),
        ("p1", "r/3", None, 0.0),
        ("p1", "r/4", None, 0.0),
    ]
    store = store_of(tmp_path, question, answers, value_kind="detection")
    rates = {means.method: means.means[0, 0] for means in rater_means(question, store)}
    assert rates == {"error-rate": (1 / 2 + 1 / 4) / 2, "fake-error-rate": 1 / 2, "real-error-rate": 1 / 4}


def test_a_staircase_has_the_bounds_of_its_exposures(tmp_path: Path) -> None:
    question = TimedRealismQuestion(name="q")
    store = store_of(tmp_path, question, [("p1", "a/1", None, 0.0)], value_kind="detection")
    row: dict[str, object] = {
        "question": "q",
        "rater": "p1",
        "session": "s-p1",
        "block": 0,
        "generator": "a",
        "answers": 150,
    }
    row |= {"right_share": 0.7, "modal_ms": 300.0, "reversals": 9, "floor_share": 0.0, "ceiling_share": 0.0}
    thresholds = TABLES["thresholds"].frame([row | {"converged": True}])
    store.write({"thresholds": thresholds}, Provenance("test", {}, 0, {}))
    (means,) = rater_means(question, store)
    assert (means.method, means.answers) == ("modal-exposure", (150,))
    assert list(means.bounds) == [question.shortest_ms, question.longest_ms]
    assert means.means.tolist() == [[300.0]]


def test_nothing_is_said_before_a_rater_has_finished(tmp_path: Path) -> None:
    question = PairQuestion(name="q")
    store = store_of(tmp_path, question, [("p1", "a/1", "b/1", 1.0)], value_kind="vote", running=("p1",))
    assert anytime_boards(question, store, level=0.95) == {}


def test_by_hand() -> None:
    # a always wins: K after n raters is ½ (1.75ⁿ + .25ⁿ), 14.4 after six and 25.1 ≥ 1/.05 after seven
    scores = np.tile([0.0, 1.0], (7, 1))
    six, seven = (anytime_rows(means_of(scores[:count]), level=0.95) for count in (6, 7))
    assert [row["generator"] for row in seven] == ["b", "a"]  # the best first
    assert [row["separated_from"] for row in six] == [[], []]
    assert [(row["rank_low"], row["rank_high"]) for row in six] == [(1, 2), (1, 2)]
    assert [row["separated_from"] for row in seven] == [["a"], ["b"]]
    assert [(row["rank_low"], row["rank_high"]) for row in seven] == [(1, 1), (2, 2)]
    assert seven[0]["rating"] == 1
    assert seven[0]["low"] < 1 <= seven[0]["high"]


def test_different_raters_of_each_generator() -> None:
    scores = np.full((40, 2), np.nan)
    scores[::2, 0], scores[1::2, 1] = 0.1, 0.9
    rows = anytime_rows(means_of(scores), level=0.95)
    assert [row["raters"] for row in rows] == [20, 20]
    assert rows[0]["separated_from"] == ["a"]


def test_a_single_generator_has_an_interval_and_the_first_rank() -> None:
    (row,) = anytime_rows(means_of(np.full((30, 1), 0.5)), level=0.95)
    assert (row["rank_low"], row["rank_high"], row["separated_from"]) == (1, 1, [])
    assert row["low"] < 0.5 < row["high"]


def test_what_is_separated_once_stays_so_at_every_look() -> None:
    rng = np.random.default_rng(5)
    scores = rng.binomial(10, [0.35, 0.65], (60, 2)) / 10
    looks = [anytime_rows(means_of(scores[:count]), level=0.95) for count in range(1, 61)]
    separated = [bool(look[0]["separated_from"]) for look in looks]
    assert separated == sorted(separated)
    assert separated[-1]
    widths = [{row["generator"]: row["high"] - row["low"] for row in look}["a"] for look in looks]
    assert widths == sorted(widths, reverse=True)


def test_false_separations_of_equal_generators_under_continuous_looking() -> None:
    """A pair once separated stays so, so the last look tells whether any look separated it."""
    rng = np.random.default_rng(20)
    separated = missed = 0
    for _ in range(STUDIES):
        taste = rng.beta(4, 4, RATERS)[:, None]  # what a rater thinks of both alike
        scores = rng.binomial(8, np.clip(taste + rng.normal(0, 0.1, (RATERS, 2)), 0, 1)) / 8
        rows = anytime_rows(means_of(scores), level=0.95)
        separated += bool(rows[0]["separated_from"])
        missed += not rows[0]["low"] <= 0.5 <= rows[0]["high"]
    most = stats.binom(STUDIES, 0.05).ppf(0.975)
    assert separated <= most
    assert missed <= most


@pytest.mark.parametrize("within", [True, False])
def test_a_true_difference_is_found(within: bool) -> None:
    rng = np.random.default_rng(3)
    scores = rng.binomial(10, [0.2, 0.5, 0.8], (90, 3)) / 10
    if not within:
        scores[np.arange(3) != (np.arange(90) % 3)[:, None]] = np.nan
    rows = anytime_rows(means_of(scores), level=0.95)
    assert [row["generator"] for row in rows] == ["c", "b", "a"]
    assert rows[0]["separated_from"] == ["a", "b"] if within else "a" in rows[0]["separated_from"]


def test_rows_can_be_written_as_json() -> None:
    frame = pl.DataFrame(anytime_rows(means_of(np.tile([0.2, 0.4], (5, 1))), level=0.95))
    assert {kind.is_numeric() for kind in frame.drop("generator", "separated_from").dtypes} == {True}
