"""Gold thins out for raters whom the panel trusts, comes back at a wrong answer, and nobody loses work or pay."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Row, delete, insert, select, update
from tests.collect.conftest import Visitor
from tests.collect.panel.conftest import PanelRater, ServedPanel, fill

from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.care.gold_schedule import gold_schedule
from beholder.collect.database.schema import (
    Database,
    gold_paces,
    persons,
    replacements,
    responses,
    sessions,
    slots,
    thinned,
    trials,
)
from beholder.collect.panel.raters import write_trust
from beholder.collect.panel.schema import trust, work
from beholder.collect.researcher.actions import exclude
from beholder.collect.session.catalogue import Trial
from beholder.collect.session.gold_thinning import spread_gold
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.wages import base_pay

ServePanel = Callable[..., ServedPanel]

TESTS, GOLD = 6, 3
REALISM = RealismQuestion(name="q", design=Design(raters=4, trials=TESTS, gold_every=2))
NEVER = GoldPace(calm=1e-9, threshold=4.0, statistic=0.0, after_right=-0.2, after_wrong=1.0)
OTHER = {"real": "generated", "generated": "real"}
ALWAYS = GoldPace(calm=1.0, threshold=4.0, statistic=0.0, after_right=-0.2, after_wrong=1.0)


def trial(name: str, role: str, block: int = 0) -> Trial:
    return Trial(name, "q", 0, 0, block, role, (name,), None, None, None)


def trust_in(served: ServedPanel, rater: PanelRater, pace: GoldPace) -> None:
    with served.service.database.writing() as connection:
        connection.execute(delete(trust).where(trust.c.rater == rater.name))
        connection.execute(insert(trust).values(rater=rater.name, pace=asdict(pace), at=0.0))


def rows(served: ServedPanel, query: Any) -> list[Row[Any]]:  # noqa: ANN401
    with served.service.services["faces"].database.reading() as connection:
        return list(connection.execute(query).all())


def asked(served: ServedPanel) -> list[str]:
    """The roles of the answered trials in order."""
    query = select(trials.c.role).join(responses, responses.c.trial == trials.c.trial)
    return [row.role for row in rows(served, query.order_by(responses.c.answered, responses.c.place))]


def answer(served: ServedPanel, visitor: Visitor, *, gold_right: bool) -> str:
    """Answer the current trial, a gold trial right or wrong; return its role."""
    (session,) = rows(served, select(sessions).where(sessions.c.status == "running"))
    (row,) = rows(served, select(trials).where(trials.c.trial == session.plan[session.place]))
    choice = row.expected if gold_right else OTHER.get(row.expected)
    reply = visitor.answer() if choice is None else visitor.choose(choice)
    assert reply.status_code == 200, reply.text
    return str(row.role)


@pytest.fixture
def served(serve_panel: ServePanel) -> ServedPanel:
    return serve_panel({"faces": REALISM}, collect={"thin_gold": True})


def test_where_the_next_gold_goes_by_hand() -> None:
    planned = [
        *(trial("t1", "training"), trial("a", "test"), trial("g1", "gold"), trial("b", "test")),
        *(trial("g2", "gold"), trial("c", "test"), trial("d", "test", 1), trial("g3", "gold", 1)),
    ]
    by_name = {each.trial: each for each in planned}
    plan = list(by_name)
    assert spread_gold(plan, 0, by_name, 1) == (["t1", "g1", "a", "b", "c", "g2", "d", "g3"], "g1")
    assert spread_gold(plan, 0, by_name, 3) == (["t1", "a", "b", "g1", "c", "g2", "d", "g3"], "g1")
    assert spread_gold(plan, 0, by_name, 4) == (["t1", "a", "b", "c", "g1", "g2", "d", "g3"], None)
    assert spread_gold(plan, 3, by_name, 2) == (["t1", "a", "g1", "b", "g2", "c", "d", "g3"], "g2")
    assert spread_gold(plan, 8, by_name, 1) == (plan, None)


def test_the_pace_of_a_server_is_that_of_the_schedule() -> None:
    schedule = gold_schedule(0.85)
    for fraction in (0.0, 0.01, 0.2, 0.6, 0.99):
        level = fraction * schedule.threshold
        assert schedule.pace(level).rate == pytest.approx(float(schedule.rate(level)))
    alarmed = schedule.pace(schedule.threshold)
    assert alarmed.alarmed
    assert alarmed.rate == CONSTANT
    assert alarmed.after(right=True) == alarmed  # trust is not won back within a session
    chances = (np.arange(20_000) + 0.5) / 20_000
    for rate in (schedule.calm, 0.2, 0.56, 1.0):
        pace = replace(schedule.pace(0.0), calm=rate)
        assert np.mean([pace.gap(chance, begins=False) for chance in chances]) == pytest.approx(1 / rate, rel=0.02)
        assert max(pace.gap(chance, begins=True) for chance in chances) == np.ceil(1 / rate)


def test_a_trusted_rater_judges_instead_and_gets_the_same_pay(served: ServedPanel) -> None:
    trusted, other = served.rater(), served.rater()
    trust_in(served, trusted, NEVER)
    trust_in(served, other, ALWAYS)
    trusted.take("faces").begin().walk()
    assert asked(served) == ["test"] * (TESTS + GOLD)
    spared = rows(served, select(thinned))
    assert len(spared) == GOLD
    assert all(row.instead is not None for row in spared)
    (held,) = rows(served, select(slots).where(slots.c.done.is_(True)))
    assert held.session == spared[0].session
    assert rows(served, select(gold_paces)) == rows(served, select(replacements)) == []
    other.take("faces").begin().walk()
    assert asked(served)[TESTS + GOLD :].count("gold") == GOLD
    pays = {row.pay for row in rows(served, select(sessions))}
    assert len(pays) == 1
    assert pays.pop() > 0


def test_every_test_trial_is_answered_once_and_by_somebody_else_than_its_neighbours(served: ServedPanel) -> None:
    for _ in range(4):
        rater = served.rater()
        trust_in(served, rater, NEVER)
        visitor = rater.take("faces")
        if visitor.enter().status_code == 409:
            break  # no slot has anything left
        visitor.walk()
        assert visitor.state["done"]["outcome"] == "complete"
    counts = Counter(row.trial for row in rows(served, select(responses)))
    tests = {row.trial for row in rows(served, select(trials).where(trials.c.role == "test"))}
    assert {name: counts[name] for name in tests} == dict.fromkeys(tests, 1)
    assert all(row.done for row in rows(served, select(slots)))
    plans = [row.plan for row in rows(served, select(sessions))]
    images = {row.trial: row.images for row in rows(served, select(trials))}
    for plan in plans:
        seen = [image for name in plan for image in images[name]]
        assert len(seen) == len(set(seen))


def test_gold_comes_back_at_a_wrong_answer(served: ServedPanel) -> None:
    rater = served.rater()
    trust_in(served, rater, replace(ALWAYS, calm=0.9999, threshold=2.0))
    visitor = rater.take("faces").begin()
    assert answer(served, visitor, gold_right=True) == "gold"
    # from here on, calm would be once in a billion; the wrong answer alone brings the next one
    with served.service.services["faces"].database.writing() as connection:
        connection.execute(update(gold_paces).values(pace=asdict(replace(NEVER, threshold=1.9, after_wrong=1.0))))
    assert answer(served, visitor, gold_right=False) == "gold"
    assert answer(served, visitor, gold_right=False) == "gold"  # 1.0 of 1.9: checked at every trial
    visitor.walk()
    assert asked(served) == ["gold"] * GOLD + ["test"] * TESTS
    assert rows(served, select(thinned)) == []


def test_gold_beyond_constant_checking_is_a_reserve(serve_panel: ServePanel) -> None:
    """With as much gold as test trials, gaps are 3 to 8 trials, and the first gold is among the first five."""
    half = REALISM.model_copy(update={"design": Design(raters=1, trials=10, gold_every=1)})
    served = serve_panel({"faces": half}, collect={"thin_gold": True})
    served.rater().take("faces").begin().walk()
    asked_gold = asked(served).count("gold")
    assert 1 <= asked_gold <= 4
    assert len(rows(served, select(thinned))) == 10 - asked_gold


def test_of_a_rater_without_trust_all_gold_is_asked_where_there_is_no_reserve(serve_panel: ServePanel) -> None:
    fifth = REALISM.model_copy(update={"design": Design(raters=1, trials=8, gold_every=4)})
    served = serve_panel({"faces": fifth}, collect={"thin_gold": True})
    served.rater().take("faces").begin().walk()
    assert asked(served).count("gold") == 2
    assert rows(served, select(thinned)) == []


def test_without_the_setting_all_gold_is_asked(serve_panel: ServePanel) -> None:
    served = serve_panel({"faces": REALISM})
    rater = served.rater()
    trust_in(served, rater, NEVER)
    rater.take("faces").begin().walk()
    assert asked(served).count("gold") == GOLD


def test_where_no_slot_can_spare_a_trial_it_is_left_out_and_paid(serve_panel: ServePanel) -> None:
    alone = REALISM.model_copy(update={"design": Design(raters=1, trials=TESTS, gold_every=2)})
    served = serve_panel({"faces": alone}, collect={"thin_gold": True})
    rater = served.rater()
    trust_in(served, rater, NEVER)
    visitor = rater.take("faces").begin().walk()
    assert visitor.state["done"]["outcome"] == "complete"
    assert asked(served) == ["test"] * TESTS
    assert [row.instead for row in rows(served, select(thinned))] == [None] * GOLD
    service = served.service.services["faces"]
    (session,) = rows(served, select(sessions))
    assert session.pay == pytest.approx(base_pay(service.study, service.study.questions[0]), abs=0.005)
    assert [row.done for row in rows(served, select(slots))] == [True]


def test_what_an_excluded_rater_was_spared_is_asked_again(serve_panel: ServePanel) -> None:
    alone = REALISM.model_copy(update={"design": Design(raters=1, trials=TESTS, gold_every=2)})
    served = serve_panel({"faces": alone}, collect={"thin_gold": True})
    rater = served.rater()
    trust_in(served, rater, NEVER)
    rater.take("faces").begin().walk()
    service = served.service.services["faces"]
    (person,) = rows(served, select(persons))
    with service.database.writing() as connection:
        exclude(
            connection,
            service.catalogue,
            service.study,
            person.person,
            reason="careless",
            now=service.now(),
            who="ada",
        )
    assert [row.done for row in rows(served, select(slots))] == [False]
    later = served.rater()
    trust_in(served, later, ALWAYS)
    later.take("faces").begin().walk()
    assert asked(served)[TESTS:].count("gold") == GOLD


def test_an_abandoned_session_leaves_its_gold_to_the_next_rater(served: ServedPanel) -> None:
    rater = served.rater()
    trust_in(served, rater, NEVER)
    visitor = rater.take("faces").begin()
    visitor.answer()
    visitor.post("withdraw", delete=False)
    assert rows(served, select(gold_paces)) == []
    later = served.rater()
    trust_in(served, later, ALWAYS)
    later.take("faces").begin().walk()
    assert asked(served)[1:].count("gold") == GOLD


def test_skips_and_repeated_requests_change_nothing_of_it(served: ServedPanel) -> None:
    rater = served.rater()
    trust_in(served, rater, NEVER)
    visitor = rater.take("faces").begin()
    trial_now = visitor.trial
    visitor.post("skip", trial=trial_now["trial"], attempt=trial_now["attempt"], reason="broken")
    while visitor.state["step"] == "trial":
        visitor.ponder()
        body = visitor.body()
        first, again = (visitor.client.post("/api/answer", json=body).json() for _ in range(2))
        assert again["state"]["progress"] == first["state"]["progress"]
        visitor.state = again["state"]
    visitor.walk()
    assert "gold" not in asked(served)
    assert Counter(row.trial for row in rows(served, select(responses))).most_common(1)[0][1] == 1


class TestTrust:
    def write(self, panel: Database, gold: Mapping[str, list[int]]) -> dict[str, Any]:
        with panel.writing() as connection:
            fill(connection, len(gold))
            for rater, answers in zip(("p-000", "p-001", "p-002"), gold.values(), strict=False):
                connection.execute(update(work).where(work.c.rater == rater).values(gold=answers))
            write_trust(connection, now=1.0)
            return {row.rater: row.pace for row in connection.execute(select(trust))}

    def test_it_takes_twenty_gold_trials_and_no_alarm(self, panel: Database) -> None:
        paces = self.write(panel, {"new": [1] * 19, "good": [1, 1, 1, 1, 0] * 12, "worse": [1] * 40 + [0] * 40})
        assert list(paces) == ["p-001"]
        pace = GoldPace(**paces["p-001"])
        assert 0.02 < pace.calm < 0.05
        assert 0 <= pace.statistic < pace.threshold
