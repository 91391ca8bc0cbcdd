"""Slots: exactly k answers per item, whoever drops out; staircases are complete or asked again."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import Connection, event

from beholder.collect.exchange.export import collected_tables
from beholder.collect.researcher.extend import extend
from beholder.collect.session import catalogue
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]
Served = Any  # of conftest.py

LEASE = {"lease_minutes": 5}
LATER = 301.0


def trials_of(served: Served) -> dict[str, Any]:
    columns = "trial, slot, position, block, role, expected"
    names = columns.split(", ")
    return {row[0]: dict(zip(names, row, strict=True)) for row in served.rows(f"select {columns} from trials")}


def valid_answers(served: Served) -> Counter[str]:
    """Number of valid answers per exported trial."""
    rows = collected_tables(served.url)["answers"].filter(pl.col("valid"))
    return Counter(rows["trial"].to_list())


def test_a_place_without_a_sign_of_life_goes_to_the_next(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=6)), collect=LEASE, pay={"base": 1.0})
    gone = served.visitor().begin()
    gone.answer()
    gone.answer()
    served.move_clock(LATER - 2)
    assert served.visitor().enter().status_code == 409  # still kept
    served.move_clock(3)
    after = served.visitor().begin()
    assert after.state["progress"] == {"done": 0, "total": 4}
    done = gone.get("state").json()["done"]
    assert done["outcome"] == "returned"
    assert done["pay"] == pytest.approx(0.33)  # a third of the base
    assert gone.post("heartbeat").status_code == 204  # too late
    after.walk()
    assert valid_answers(served) == dict.fromkeys(trials_of(served), 1)


def test_signs_of_life_keep_a_slot(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=6)), collect=LEASE)
    visitor = served.visitor().begin()
    for act in (lambda: visitor.post("heartbeat"), visitor.answer, lambda: visitor.get("state")):
        for _ in range(6):
            served.move_clock(60)
            assert act().status_code in (200, 204)
        served.move_clock(LATER * 0.85)
        assert served.visitor().enter().status_code == 409
        visitor.post("heartbeat")


def test_who_comes_back_before_anyone_else_goes_on(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=4)), collect=LEASE)
    visitor = served.visitor().begin()
    visitor.answer()
    served.move_clock(10 * LATER)
    assert visitor.answer().status_code == 200
    assert served.visitor().enter().status_code == 409


def test_who_answered_everything_and_left_is_complete(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=1, trials=4)), collect=LEASE, pay={"base": 1.0})
    visitor = served.visitor().begin().walk("debrief")
    served.move_clock(LATER)
    assert served.visitor().enter().json()["detail"]["code"] == "full"  # nothing is left to do
    assert served.rows("select status, pay from sessions") == [("complete", 1.0)]
    assert visitor.get("state").json()["done"]["outcome"] == "complete"


def test_a_place_in_which_only_repeats_are_left_is_done(serve: Serve) -> None:
    question = PairQuestion(name="q", design=Design(raters=1, trials=4, repeats=4))
    served = serve(question, collect=LEASE)
    gone = served.visitor().begin()
    roles = trials_of(served)
    plan = json.loads(served.rows("select plan from sessions")[0][0])
    last_test = max(position for position, name in enumerate(plan) if roles[name]["role"] == "test")
    for _ in range(last_test + 1):
        gone.answer()
    assert any(roles[name]["role"] == "repeat" for name in plan[last_test + 1 :])
    served.move_clock(LATER)
    assert served.visitor().enter().json()["detail"]["code"] == "full"


def test_a_repeat_is_asked_only_of_who_answered_the_first(serve: Serve) -> None:
    question = PairQuestion(name="q", design=Design(raters=1, trials=8, repeats=4))
    served = serve(question, collect=LEASE)
    gone = served.visitor().begin()
    for _ in range(4):
        gone.answer()
    served.move_clock(LATER)
    served.visitor().begin().walk()
    rows = served.rows(
        "select a.session, b.session from responses a join trials t on a.trial = t.trial and t.role = 'repeat' "
        "join responses b on b.trial = t.repeats"
    )
    assert all(first == second for first, second in rows)
    tests = [name for name, trial in trials_of(served).items() if trial["role"] == "test"]
    assert {name: valid_answers(served)[name] for name in tests} == dict.fromkeys(tests, 1)


def test_no_break_where_the_place_begins_in_the_middle(serve: Serve) -> None:
    question = RealismQuestion(name="q", design=Design(raters=1, trials=6, blocks=2, training=2))
    served = serve(question, collect=LEASE)
    gone = served.visitor().begin()
    while gone.state["step"] != "break":
        gone.answer()
    served.move_clock(LATER)
    after = served.visitor().begin()
    steps = []
    while after.state["step"] != "done":
        steps.append(after.state["step"])
        after.step()
    assert steps == ["trial"] * 5 + ["debrief"]  # two of training, three of the second block


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    "question",
    [
        RealismQuestion(name="q", design=Design(raters=3, trials=8, training=1, blocks=2)),
        TimedRealismQuestion(name="q", design=Design(raters=3, trials=8, qualification=2, blocks=2)),
    ],
    ids=["realism", "timed"],
)
def test_with_any_dropping_out_every_test_trial_gets_exactly_one_answer(
    serve: Serve, question: AnyQuestion, seed: int
) -> None:
    served = serve(question, collect=LEASE, limited=False)
    rng = np.random.default_rng(seed)
    for _ in range(100):
        visitor = served.visitor()
        if visitor.enter().status_code == 409:
            break
        leaves = rng.choice(["stays", "vanishes", "withdraws", "deletes"], p=[0.3, 0.4, 0.2, 0.1])
        visitor.walk(most=int(rng.integers(0, 16)) if leaves != "stays" else 100)
        if visitor.state["step"] == "done":
            continue
        if leaves == "vanishes":
            served.move_clock(LATER)
        else:
            visitor.post("withdraw", delete=leaves == "deletes")
    else:
        pytest.fail("the slots were never full")
    assert served.rows("select count(*) from slots where done = 0") == [(0,)]
    tests = [name for name, trial in trials_of(served).items() if trial["role"] == "test"]
    answers = valid_answers(served)
    assert {name: answers[name] for name in tests} == dict.fromkeys(tests, 1)
    if question.kind == "timed-realism":
        _check_staircases(served, question)


def _check_staircases(served: Served, question: AnyQuestion) -> None:
    """Every block that counts is one person's, and its exposures follow from its answers."""
    assert isinstance(question, TimedRealismQuestion)
    trials = trials_of(served)
    rows = served.rows('select session, trial, intended_ms, "right" from responses where valid order by place')
    blocks: dict[tuple[str, int, int], list[tuple[float, bool]]] = {}
    for session, name, intended, right in rows:
        trial = trials[name]
        if trial["role"] == "test":
            key = (session, trial["slot"], trial["block"])
            blocks.setdefault(key, []).append((intended, bool(right)))
    assert len(blocks) == len({key[1:] for key in blocks}) == 3 * 2
    for run in blocks.values():
        assert len(run) == 4
        for position, (intended, _) in enumerate(run):
            assert intended == question.exposure_after([], [right for _, right in run[:position]])


class TestStaircase:
    QUESTION = TimedRealismQuestion(
        name="q",
        start_ms=500,
        shortest_ms=100,
        longest_ms=700,
        step_down_ms=40,
        step_up_ms=90,
        right_in_a_row=2,
        design=Design(raters=1, trials=12, training=3, attention_every=3, blocks=2),
    )

    def test_the_exposure_follows_the_answers_and_starts_again(self, serve: Serve) -> None:
        served = serve(self.QUESTION)
        trials = trials_of(served)
        visitor = served.visitor().begin()
        plan = json.loads(served.rows("select plan from sessions")[0][0])
        rng = np.random.default_rng(0)
        run: list[bool] = []
        part: object = None
        exposures = []
        for name in plan:
            if visitor.state["step"] == "break":
                visitor.step()
            trial = trials[name]
            now = trial["role"] if trial["role"] == "training" else trial["block"]
            if now != part:
                part, run = now, []
            assert visitor.trial["exposure_ms"] == self.QUESTION.exposure_after([], run)
            exposures.append(visitor.trial["exposure_ms"])
            right = bool(rng.random() < 0.7)
            other = {"real": "generated", "generated": "real"}[trial["expected"]]
            visitor.choose(trial["expected"] if right else other)
            if trial["role"] != "attention":  # whose answer does not depend on what was seen
                run.append(right)
        assert len(set(exposures)) > 3

    def test_a_skipped_trial_leaves_the_block_whole(self, serve: Serve) -> None:
        question = TimedRealismQuestion(name="q", design=Design(raters=1, trials=6, blocks=2))
        served = serve(question, collect=LEASE)
        gone = served.visitor().begin()
        gone.answer()
        gone.post("skip", trial=gone.trial["trial"], attempt=1, reason="disturbing")
        gone.answer()
        gone.walk("break")
        gone.step()
        gone.answer()  # one of the second block, which is then broken off
        served.move_clock(LATER)
        after = served.visitor().begin()
        assert after.state["progress"]["total"] == 3
        after.walk()
        assert served.rows("select count(*) from responses where valid") == [(5,)]
        assert served.rows("select count(*) from responses where not valid") == [(1,)]


def test_the_trials_of_slots_to_come_are_read_outside_of_the_turn_to_write(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a session has its turn, all others wait."""
    monkeypatch.setattr(catalogue, "READ_AHEAD", 1)
    served = serve(RealismQuestion(name="q", design=Design(raters=3, trials=6)))
    database = served.service.database
    turns: list[str] = []
    within: list[bool] = []
    take_turn = database.writing

    @contextmanager
    def writing() -> Iterator[Connection]:
        with take_turn() as connection:
            turns.append("taken")
            yield connection
            turns.pop()

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        if "FROM trials" in statement:
            within.append(bool(turns))

    monkeypatch.setattr(database, "writing", writing)
    event.listen(database._inner, "before_cursor_execute", note)
    for _ in range(3):
        assert served.visitor().enter().status_code == 200
    assert within == [True, False, False, False]  # the first slot, the two after it, and one that is not there
    extend(served.folder, served.url, "q", 1, reason="", who="link")
    assert served.visitor().begin().state["step"] == "trial"  # nor is it remembered that it was not there
