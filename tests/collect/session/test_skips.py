"""Skipping: paid and replaced up to a limit, no way to pass a check, and undone with whatever else is."""

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx
import polars as pl
import pytest

from beholder.collect.exchange.export import collected_tables, export
from beholder.collect.researcher.actions import exclude
from beholder.collect.session.progress import allowed_skips
from beholder.collect.session.replacement_trials import LOOKED_AT
from beholder.consolidate.stage import run as consolidate
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design, Screening
from beholder.tables.store import Store

Serve = Callable[..., Any]
Served = Any  # of conftest.py
Visitor = Any

LEASE = {"lease_minutes": 5}
CODES = {"codes": {"complete": "C-1", "returned": "R-1"}}


def skip(visitor: Visitor, *, end: bool = False) -> httpx.Response:
    trial = visitor.trial
    reply: httpx.Response = visitor.post(
        "skip", trial=trial["trial"], attempt=trial["attempt"], reason="disturbing", end=end
    )
    return reply


def realism(**design: object) -> RealismQuestion:
    return RealismQuestion(name="q", design=Design.model_validate({"raters": 3, "trials": 8} | design))


def current(served: Served) -> dict[str, Any]:
    """The trial at which the latest session is, from behind the server's back."""
    ((plan, place),) = served.rows("select plan, place from sessions order by started desc, rowid desc limit 1")
    name = json.loads(plan)[place]
    ((slot, role, block, expected),) = served.rows(
        f"select slot, role, block, expected from trials where trial = '{name}'"
    )
    return {"trial": name, "slot": slot, "role": role, "block": block, "expected": expected}


@pytest.mark.parametrize(
    ("setting", "tests", "allowed"),
    [
        (0.1, 29, 3),  # ⌈2.9⌉
        (0.1, 30, 3),
        (0.1, 31, 4),
        (0.1, 8, 2),  # at least two
        (0.1, 2, 1),  # but never all of them
        (0.1, 1, 0),
        (0.5, 8, 4),
        (0, 100, 0),
        (1, 100, 1),
        (7, 4, 7),  # a count is the study's own word
    ],
)
def test_how_many_skips_are_paid(setting: float, tests: int, allowed: int) -> None:
    assert allowed_skips(setting, tests) == allowed


class TestTheLimit:
    def test_skipping_everything_neither_completes_nor_pays(self, serve: Serve) -> None:
        """29 trials allow 3 paid skips; a fourth ends the session with 3 of 32 trials done: 3/32 of 3.00."""
        served = serve(realism(raters=3, trials=29, real_share=0.3), collect=CODES, pay={"base": 3.0})
        robot = served.robot().begin()
        left = []
        while robot.state["step"] == "trial":
            left.append(robot.trial["skips_left"])
            skip(robot, end=True)
        assert left == [3, 2, 1, 0]
        done = robot.state["done"]
        assert (done["outcome"], done["code"], done["pay"]) == ("returned", "R-1", 0.28)
        assert served.count("skips") == 4
        assert served.rows("select count(*) from replacements") == [(0,)]

    def test_nobody_ends_the_session_unawares(self, serve: Serve) -> None:
        served = serve(realism(trials=4, raters=1))
        visitor = served.visitor().begin()
        skip(visitor)
        skip(visitor)
        assert visitor.trial["skips_left"] == 0
        refused = skip(visitor)
        assert (refused.status_code, refused.json()["detail"]["code"]) == (409, "no-skips-left")
        assert visitor.get("state").json()["step"] == "trial"
        visitor.walk()
        assert visitor.state["done"]["outcome"] == "complete"

    def test_the_study_sets_it(self, serve: Serve) -> None:
        served = serve(realism(), collect={"max_skips": 0})
        visitor = served.visitor().begin()
        assert visitor.trial["skips_left"] == 0
        assert skip(visitor, end=True).json()["done"]["outcome"] == "returned"

    def test_what_could_not_be_shown_counts_towards_it(self, serve: Serve) -> None:
        question = TimedRealismQuestion(name="q", design=Design(raters=1, trials=4))
        served = serve(question, collect={"max_skips": 1})
        visitor = served.visitor().begin()
        for _ in range(20):
            visitor.answer(spoiled=True, said=[], marks=[])
        assert (visitor.state["step"], visitor.trial["skips_left"]) == ("trial", 0)
        for _ in range(20):
            visitor.answer(spoiled=True, said=[], marks=[])
        assert visitor.state["done"]["outcome"] == "returned"

    def test_a_skip_is_paid_like_an_answer(self, serve: Serve) -> None:
        served = serve(realism(raters=1, trials=8), pay={"base": 3.0})
        visitor = served.visitor().begin()
        skip(visitor)
        visitor.walk()
        assert visitor.state["done"]["outcome"] == "complete"
        assert visitor.state["done"]["pay"] == 3.0
        assert served.count("responses") == 7  # no other slot has a trial to give


class TestReplacement:
    def test_another_trial_comes_at_the_end_of_the_block(self, serve: Serve) -> None:
        served = serve(realism(trials=8, blocks=2))
        visitor = served.visitor().begin()
        before = json.loads(served.rows("select plan from sessions")[0][0])
        skip(visitor)
        after = json.loads(served.rows("select plan from sessions")[0][0])
        (added,) = set(after) - set(before)
        assert after == [*before[:4], added, *before[4:]]
        ((slot, block, role),) = served.rows(f"select slot, block, role from trials where trial = '{added}'")
        assert (slot, block, role) == (2, 0, "test")  # of the slot that would be lent last
        images = [json.loads(row[0]) for row in served.rows("select images from trials where slot = 0")]
        ((extra,),) = served.rows(f"select images from trials where trial = '{added}'")
        assert not {image for row in images for image in row} & set(json.loads(extra))
        visitor.walk("break")
        assert visitor.state["progress"] == {"done": 5, "total": 9}
        visitor.walk()
        assert visitor.state["done"]["outcome"] == "complete"

    def test_nobody_else_is_asked_it(self, serve: Serve) -> None:
        served = serve(realism(trials=6), collect=LEASE)
        first = served.visitor().begin()
        skip(first)
        others = [served.visitor().begin().walk() for _ in range(2)]
        assert [other.state["progress"]["total"] for other in others] == [6, 5]
        assert served.visitor().enter().status_code == 409  # what is left is the first one's to answer
        first.walk()
        answers = collected_tables(served.url)["answers"].filter(pl.col("valid"))
        skipped = collected_tables(served.url)["skips"]
        assert set(Counter(answers["trial"].to_list()).values()) == {1}
        assert answers.height + skipped.height == 18
        assert served.rows("select count(*) from slots where done = 0") == [(0,)]

    def test_it_goes_back_when_the_session_ends_early(self, serve: Serve) -> None:
        served = serve(realism(trials=6), collect=LEASE)
        first = served.visitor().begin()
        skip(first)
        first.post("withdraw", delete=False)
        for total in (5, 6, 6):  # the rest of the first slot, and both others whole
            assert served.visitor().begin().walk().state["progress"]["total"] == total
        assert served.rows("select count(*) from slots where done = 0") == [(0,)]

    def test_answers_that_are_deleted_open_the_other_slot_too(self, serve: Serve) -> None:
        served = serve(realism(trials=6, raters=2), collect=LEASE)
        first = served.visitor().begin()
        skip(first)
        first.walk()
        assert served.visitor().begin().walk().state["progress"]["total"] == 5
        assert served.visitor().enter().status_code == 409
        first.post("withdraw", delete=True)
        totals = [served.visitor().begin().walk().state["progress"]["total"] for _ in range(2)]
        assert totals == [6, 1]
        tests = collected_tables(served.url)["answers"].filter(pl.col("valid"))
        assert sorted(Counter(tests["trial"].to_list()).values()) == [1] * 12

    def test_a_staircase_takes_none_from_another(self, serve: Serve) -> None:
        served = serve(TimedRealismQuestion(name="q", design=Design(raters=3, trials=6)))
        visitor = served.visitor().begin()
        skip(visitor)
        assert visitor.state["progress"]["total"] == 6
        assert served.count("replacements") == 0

    def test_where_everyone_judges_one_generator_so_does_the_replacement(self, serve: Serve) -> None:
        served = serve(realism(raters=6, trials=8, between=True))
        visitor = served.visitor().begin()
        for _ in range(2):
            skip(visitor)
        visitor.walk()
        rows = served.rows("select t.images from responses r join trials t on t.trial = r.trial")
        makers = {image.split("/")[0] for (images,) in rows for image in json.loads(images)}
        assert len(makers - {"real"}) == 1
        assert served.count("responses") > 6

    def test_the_repetition_of_a_skipped_trial_is_not_asked(self, serve: Serve) -> None:
        served = serve(PairQuestion(name="q", design=Design(raters=1, trials=4, repeats=4)))
        visitor = served.visitor().begin()
        name = current(served)["trial"]
        skip(visitor)
        plan = json.loads(served.rows("select plan from sessions")[0][0])
        repeats = dict(served.rows("select trial, repeats from trials"))
        assert name not in {repeats[other] for other in plan}
        assert len(plan) == 7

    def test_a_slot_keeps_half_of_its_trials(self, serve: Serve) -> None:
        served = serve(realism(raters=2, trials=4), collect={"max_skips": 9})
        visitor = served.visitor().begin()
        for _ in range(4):
            skip(visitor)
        ((replacements,),) = served.rows("select count(*) from replacements")
        assert 1 <= replacements <= 2
        assert LOOKED_AT > 1


class TestWhoseSkipsCount:
    def test_excluding_a_rater_opens_every_slot(self, serve: Serve) -> None:
        served = serve(realism(raters=2, trials=8), collect={"max_skips": 8})
        skipper = served.visitor().begin(PROLIFIC_PID="skipper")
        for _ in range(5):
            skip(skipper)
        skipper.walk()
        served.visitor().begin().walk()
        assert served.rows("select count(*) from slots where done = 0") == [(0,)]
        client = served.client()
        secret = served.rows("select value from secrets where name = 'researcher'")[0][0]
        page = client.get("/researcher", params={"token": secret}, follow_redirects=True)
        assert page.status_code == 200
        row = next(r for r in client.get("/researcher/api/raters").json()["rows"] if r["skips"])
        assert row["skips"] == 5
        assert row["skipped"] == pytest.approx(5 / (5 + row["answers"]))
        assert "skipped often" in row["flags"]
        ((person,),) = served.rows("select person from sessions where skipped > 0")
        with served.service.database.writing() as connection:
            exclude(
                connection, served.service.catalogue, served.study, person, reason="skips", now=0.0, who="link"
            )
        while (visitor := served.visitor()).enter().status_code == 200:
            visitor.walk()
        answers = collected_tables(served.url)["answers"].filter(pl.col("valid"))
        tests = {name for (name,) in served.rows("select trial from trials where role = 'test'")}
        assert Counter(answers["trial"].to_list()) == dict.fromkeys(tests, 1)

    def test_who_is_screened_out_settles_nothing(self, serve: Serve) -> None:
        question = RealismQuestion(
            name="q",
            design=Design(raters=1, trials=4, qualification=2),
            screening=Screening(min_qualification=0.65),
        )
        served = serve(question)
        visitor = served.visitor().begin()
        skip(visitor)
        visitor.choose("real")
        assert visitor.state["done"]["outcome"] == "screened-out"
        assert served.visitor().begin().state["progress"]["total"] == 6


class TestChecks:
    QUALIFIED = RealismQuestion(
        name="q",
        design=Design(raters=8, trials=4, qualification=6),
        screening=Screening(min_qualification=0.65),
    )

    def test_nobody_qualifies_by_skipping(self, serve: Serve) -> None:
        """100 entrants guess once, right by luck, and skip five, as far as the study lets them."""
        served = serve(self.QUALIFIED, collect={"max_skips": 50}, limited=False)
        outcomes = Counter[str]()
        for _ in range(100):
            robot = served.robot().begin()
            robot.choose(current(served)["expected"])
            while robot.state["step"] == "trial" and robot.trial["phase"] == "qualification":
                skip(robot)
            outcomes[robot.state["done"]["outcome"] if robot.state["step"] == "done" else "admitted"] += 1
        assert outcomes == {"screened-out": 100}

    def test_by_default_the_session_ends_before(self, serve: Serve) -> None:
        served = serve(self.QUALIFIED)
        robot = served.robot().begin()
        while robot.state["step"] == "trial":
            skip(robot, end=True)
        assert robot.state["done"]["outcome"] == "returned"

    def test_another_attempt_has_other_qualification_trials(self, serve: Serve) -> None:
        served = serve(self.QUALIFIED, limited=False)
        attempts = []
        for _ in range(4):
            visitor = served.visitor().begin()
            plan = json.loads(served.rows("select plan from sessions order by rowid desc limit 1")[0][0])
            roles = dict(served.rows("select trial, role from trials"))
            attempts.append(frozenset(name for name in plan if roles[name] == "qualification"))
            assert len(attempts[-1]) == 6
            for _ in range(6):
                visitor.choose("real")
            assert visitor.state["done"]["outcome"] == "screened-out"
        assert served.rows("select distinct slot from sessions") == [(0,)]
        assert len(set(attempts)) == 4
        assert not frozenset.intersection(*attempts)

    def test_a_skipped_attention_check_is_failed_on_the_page_and_in_the_tables(self, serve: Serve) -> None:
        question = RealismQuestion(
            name="q",
            design=Design(raters=1, trials=8, attention_every=4),
            screening=Screening(max_attention_failures=0, max_skipped=0.5),
        )
        served = serve(question)
        visitor = served.visitor().begin()
        while visitor.state["step"] == "trial":
            if visitor.trial["instruction"] is not None:
                skip(visitor)
            else:
                visitor.answer()
        visitor.walk()
        ((role,),) = served.rows("select distinct t.role from skips s join trials t on t.trial = s.trial")
        assert role == "attention"
        client = served.client()
        secret = served.rows("select value from secrets where name = 'researcher'")[0][0]
        client.get("/researcher", params={"token": secret}, follow_redirects=True)
        (row,) = client.get("/researcher/api/raters").json()["rows"]
        assert (row["attention_failures"], row["attention_share"]) == (2, 0.0)
        assert "attention failed" in row["flags"]
        export(served.folder, served.url)
        consolidate(served.folder)
        (rater,) = Store(served.folder).read("raters").rows(named=True)
        assert rater["attention_failures"] == 2
        assert rater["reasons"] == ["attention checks: 2 missed, at most 0 expected"]


def test_skips_are_exported_without_their_comments(serve: Serve) -> None:
    served = serve(realism(raters=1))
    visitor = served.visitor().begin()
    name = current(served)["trial"]
    visitor.post("skip", trial=visitor.trial["trial"], attempt=1, reason="other", comment="I am Ann Smith")
    visitor.walk()
    (row,) = collected_tables(served.url)["skips"].rows(named=True)
    assert (row["trial"], row["question"], row["reason"]) == (name, "q", "other")
    assert "Ann" not in str(row)


def _kinds() -> list[AnyQuestion]:
    return [realism(), PairQuestion(name="q", design=Design(raters=3, trials=8))]


@pytest.mark.parametrize("question", _kinds(), ids=lambda question: question.kind)
def test_skip_all_never_completes_by_default(serve: Serve, question: AnyQuestion) -> None:
    served = serve(question, collect=CODES, pay={"base": 4.0}, limited=False)
    for _ in range(12):  # however many come
        robot = served.robot()
        if robot.enter().status_code != 200:
            break
        robot.walk("trial")
        while robot.state["step"] == "trial":
            skip(robot, end=True)
        assert robot.state["done"]["outcome"] == "returned"
        assert robot.state["done"]["pay"] < 4.0
