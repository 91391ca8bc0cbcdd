"""One server for a panel: sign-in by a link, studies taken and left, and what one rater may know of another."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from sqlalchemy import insert, select, update
from tests.collect.panel.conftest import PanelRater, ServedPanel

from beholder.collect.database.schema import identities, persons, responses
from beholder.collect.panel.feed import seconds_until_open
from beholder.collect.panel.refresh import refresh
from beholder.collect.panel.schema import flags, payments, raters, ratings, studies, work
from beholder.collect.researcher.actions import exclude
from beholder.collect.session.progress import is_paused
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

ServePanel = Callable[..., ServedPanel]

HEAVY = ("polars", "numpy", "PIL", "scipy", "torch", "httpx", "alembic")

REALISM = RealismQuestion(name="q", design=Design(raters=6, trials=4, gold_every=2))
PAIR = PairQuestion(name="p", design=Design(raters=6, trials=4))


@pytest.fixture
def served(serve_panel: ServePanel) -> ServedPanel:
    return serve_panel({"faces": REALISM, "pairs": PAIR})


def test_a_rater_takes_two_studies_and_comes_back(served: ServedPanel) -> None:
    rater = served.rater()
    page = rater.page()
    assert {offer["study"] for offer in page["offers"]} == {"faces", "pairs"}
    assert page["history"] == []
    visitor = rater.take("faces")
    visitor.begin().walk()
    assert visitor.state["done"]["panel"] is True
    page = rater.page()
    (row,) = page["history"]
    assert (row["study"], row["status"], row["trials"]) == ("faces", "complete", 6)
    assert row["cents"] > 0
    assert [offer["study"] for offer in page["offers"]] == ["pairs"]
    rater.take("pairs").begin().answer()
    again = served.rater(served.link())
    assert again.name != rater.name
    assert {offer["study"]: offer["running"] for offer in rater.page()["offers"]} == {"pairs": True}


def test_the_same_link_leads_back_to_the_same_rater_on_another_device(served: ServedPanel) -> None:
    link = served.link()
    first = served.rater(link)
    first.take("faces").begin().answer()
    second = served.rater(link)
    assert second.name == first.name
    visitor = second.take("faces")
    assert visitor.enter().status_code == 200
    assert (visitor.state["step"], visitor.state["progress"]["done"]) == ("trial", 1)


def test_each_study_keeps_its_own_answers_and_no_name_of_the_panel(served: ServedPanel) -> None:
    rater = served.rater()
    rater.take("faces").begin().walk()
    with served.service.services["pairs"].database.reading() as connection:
        assert connection.execute(select(responses)).all() == []
        assert connection.execute(select(persons)).all() == []
    with served.service.services["faces"].database.reading() as connection:
        (person,) = connection.execute(select(persons)).all()
    assert rater.name not in person.person


class TestWhoMaySeeWhat:
    def test_without_a_link_nothing(self, served: ServedPanel) -> None:
        with httpx.Client(base_url=served.address) as client:
            assert client.get("/").status_code == 200
            assert client.get("/api/me").status_code == 401
            assert client.post("/api/enter", json={"link": "a" * 32}).status_code == 404
            client.cookies.set("beholder_panel", "a" * 32)
            assert client.get("/api/me").status_code == 401

    def test_links_and_cookies_cannot_be_guessed_and_are_not_stored(self, served: ServedPanel) -> None:
        links = {served.link() for _ in range(50)}
        assert len(links) == 50
        assert min(map(len, links)) >= len("/i/") + 32  # 192 bits
        rater = served.rater(links.pop())
        content = b"".join(path.read_bytes() for path in served.folder.glob("panel.sqlite*"))
        cookie = rater.client.cookies["beholder_panel"].partition(".")[0]
        assert cookie.encode() not in content
        assert all(link.removeprefix("/i/").encode() not in content for link in links)

    def test_one_rater_never_sees_another(self, served: ServedPanel) -> None:
        first, second = served.rater(), served.rater()
        first.take("faces").begin().walk()
        first.post("flag", study="faces", kind="other", text="a secret word")
        first.post("contact", address="ada@example.org", language="en")
        text = second.client.get("/api/me").text
        assert first.name not in text
        assert "secret word" not in text
        assert "ada@example.org" not in text
        for path, body in (
            ("rate", {"rating": 1}),
            ("flag", {"kind": "other"}),
            ("appeal", {"statement": "let me in"}),
        ):
            assert second.post(path, study="faces", **body).status_code == 404

    def test_a_study_lets_nobody_in_who_has_not_taken_it(self, served: ServedPanel) -> None:
        rater = served.rater()
        body = {"parameters": {}, "path": "/", "language": "en"}
        assert (
            rater.client.post("/s/faces/api/enter", json=body).status_code == 200
        )  # as anybody: the link is open
        with served.service.services["faces"].database.reading() as connection:
            assert [row.platform for row in connection.execute(select(persons))] == ["open"]

    def test_a_cookie_of_one_study_is_not_sent_to_another(self, served: ServedPanel) -> None:
        rater = served.rater()
        rater.take("faces").begin()
        paths = {cookie.name: cookie.path for cookie in rater.client.cookies.jar}
        assert paths == {"beholder_panel": "/", "beholder": "/s/faces/"}
        assert rater.client.get("/s/pairs/api/state").status_code == 401

    def test_every_change_needs_the_header(self, served: ServedPanel) -> None:
        rater = served.rater()
        rater.take("faces").begin().walk()
        bodies: dict[str, dict[str, Any]] = {
            "take": {"study": "pairs"},
            "rate": {"study": "faces", "rating": 1},
            "flag": {"study": "faces", "kind": "other"},
            "appeal": {"study": "faces", "statement": "no"},
            "contact": {"address": "a@b.c", "language": "en"},
            "interests": {"kinds": ["pair"]},
            "opt-out": {},
            "opt-in": {},
            "sign-out": {},
            "delete": {"answers": True},
        }
        for path, body in bodies.items():
            for headers in ({}, {"X-Beholder-CSRF": "a" * 32}):
                assert rater.client.post(f"/api/{path}", json=body, headers=headers).status_code == 403, path
        form = rater.client.post("/api/delete", content="answers=true")  # what a form of another site sends
        assert form.status_code in (403, 422)
        assert rater.page()["history"][0]["rating"] is None

    def test_a_raters_cookie_opens_no_page_of_the_researcher(self, served: ServedPanel) -> None:
        rater = served.rater()
        for path in ("overview", "results/raters", "results/pay?study=faces", "results/credit"):
            assert rater.client.get(f"/researcher/api/{path}").status_code == 401
            assert rater.client.get(f"/s/faces/researcher/api/{path.partition('/')[0]}").status_code == 401

    def test_signing_out_and_a_new_link_end_the_cookie(self, served: ServedPanel) -> None:
        rater = served.rater()
        cookie = rater.client.cookies["beholder_panel"]
        assert rater.post("sign-out").status_code == 200
        rater.client.cookies.set("beholder_panel", cookie)
        assert rater.client.get("/api/me").status_code == 401


class TestAccess:
    def test_best_rated_first_and_everyone_after_a_while(self, served: ServedPanel) -> None:
        best, ordinary = served.rater(), served.rater()
        for rater, rating in ((best, 3), (ordinary, 1)):
            with served.service.database.writing() as connection:
                values = {"study": "faces", "rater": rater.name, "giver": "researcher"}
                connection.execute(insert(ratings).values(rating=rating, at=1.0, **values))
        newcomer = served.rater()
        waits = {
            name: {offer["study"]: offer["opens_in"] for offer in rater.page()["offers"]}["pairs"]
            for name, rater in (("best", best), ("newcomer", newcomer), ("ordinary", ordinary))
        }
        assert waits["best"] == 0
        assert 500 < waits["newcomer"] <= 600  # 3.0 now, 2.0 after 5 minutes, 1.99 after 10
        assert 800 < waits["ordinary"] <= 900
        assert newcomer.post("take", study="pairs").status_code == 409
        with served.service.database.writing() as connection:
            connection.execute(update(studies).where(studies.c.study == "pairs").values(opened=time.time() - 601))
        assert newcomer.post("take", study="pairs").status_code == 200
        assert ordinary.post("take", study="pairs").status_code == 409

    def test_a_study_that_gets_less_work_opens_sooner(self, served: ServedPanel) -> None:
        workers = [served.rater() for _ in range(2)]
        for rater in workers:
            rater.take("faces").begin().walk()
        with served.service.database.writing() as connection:
            values = {"study": "faces", "rater": workers[0].name, "giver": "researcher"}
            connection.execute(insert(ratings).values(rating=3, at=1.0, **values))
        served.service._progress.clear()  # else it is two seconds old
        # pending 4 and 6 of 10, recent 2 and 0: pairs is behind by .6, its threshold of 3.0 falls to 1.2
        waits = {offer["study"]: offer["opens_in"] for offer in served.rater().page()["offers"]}
        assert waits["pairs"] == 0
        assert waits["faces"] > 500

    def test_a_step_that_nobody_reaches_is_not_waited_for(self) -> None:
        assert seconds_until_open(1.99, 0, best=1.99) == 0
        assert seconds_until_open(1.99, 60, best=2.2) == 240
        assert seconds_until_open(1.0, 0, best=3.0) == 900
        assert seconds_until_open(1.5, 0, best=3.0, lowered=0.5) == 0  # fair progress halves the threshold

    def test_order_by_rating_interest_and_pay(self, served: ServedPanel) -> None:
        rater = served.rater()
        first = [offer["study"] for offer in rater.page()["offers"]]
        assert rater.post("interests", kinds=["pair", "nonsense"]).json() == {"interests": ["pair"]}
        assert [offer["study"] for offer in rater.page()["offers"]] == ["pairs", "faces"]
        assert set(first) == {"pairs", "faces"}

    def test_opted_out_and_back(self, served: ServedPanel) -> None:
        rater = served.rater()
        rater.post("contact", address="ada@example.org", language="en")
        assert rater.page()["contact"] is not None
        rater.post("opt-out")
        page = rater.page()
        assert (page["opted_out"], page["contact"], page["offers"]) == (True, None, [])
        rater.post("opt-in")
        assert len(rater.page()["offers"]) == 2


def test_seven_flags_pause_the_study_itself(served: ServedPanel) -> None:
    people = [served.rater() for _ in range(6)]
    for rater in people:
        rater.take("faces").begin().walk()
        assert rater.post("flag", study="faces", kind="pay too low").json() == {"paused": False}
    with served.service.database.writing() as connection:  # the study has six slots
        connection.execute(insert(raters).values(rater="p-seventh", joined=0.0, simulated=False))
        values = {"study": "faces", "rater": "p-seventh", "kind": "other", "text": "", "at": 0.0}
        connection.execute(insert(flags).values(**values))
    assert people[0].post("flag", study="faces", kind="other").json() == {"paused": True}
    state = people[0].client.get("/s/pairs/api/health")
    assert state.status_code == 200
    researcher = served.researcher()
    overview = researcher.get("/researcher/api/overview").json()
    paused = {study["study"]: study["paused"] is not None for study in overview["studies"]}
    assert paused == {"faces": True, "pairs": False}
    with served.service.services["faces"].database.reading() as connection:
        assert is_paused(connection)
    assert (
        researcher.post("/researcher/api/resume", json={"study": "faces", "reason": "pay raised"}).status_code
        == 200
    )
    with served.service.services["faces"].database.reading() as connection:
        assert not is_paused(connection)


def excluded(served: ServedPanel) -> PanelRater:
    """A rater who was excluded from a study, and knows why."""
    rater = served.rater()
    visitor = rater.take("faces").begin()
    visitor.answer()
    service = served.service.services["faces"]
    with service.database.writing() as connection:
        person = str(connection.scalar(select(persons.c.person)))
        exclude(
            connection, service.catalogue, service.study, person, reason="too fast", now=service.now(), who="ada"
        )
    return rater


def test_an_excluded_rater_sees_the_reason_answers_and_is_let_in_again(served: ServedPanel) -> None:
    rater = excluded(served)
    (row,) = rater.page()["history"]
    assert row["excluded"] == "too fast"
    assert rater.post("appeal", study="faces", statement="my cat did it").status_code == 200
    assert rater.post("appeal", study="faces", statement="again").status_code == 409
    researcher = served.researcher()
    (appeal,) = researcher.get("/researcher/api/overview").json()["appeals"]
    assert (appeal["reason"], appeal["statement"]) == ("too fast", "my cat did it")
    assert appeal["record"][0]["trials"] == 1
    body = {"appeal": appeal["appeal"], "accept": True, "reason": "plausible"}
    assert researcher.post("/researcher/api/appeal", json=body).status_code == 200
    assert researcher.post("/researcher/api/appeal", json=body).status_code == 409
    (row,) = rater.page()["history"]
    assert (row["excluded"], row["appeal"]["decision"], row["appeal"]["reason"]) == (None, "accepted", "plausible")


def test_standings_are_shown_with_intervals_and_gold_only_after_the_study(served: ServedPanel) -> None:
    people = [served.rater() for _ in range(3)]
    for rater in people:
        rater.take("faces").begin().walk()
        rater.page()
    refresh(served.service.database, now=time.time())
    assert "gold" not in people[0].page()["history"][0]["standing"]
    researcher = served.researcher()
    assert researcher.post("/researcher/api/close", json={"study": "faces"}).status_code == 200
    text = {"study": "faces", "text": "People see fakes.", "link": "https://example.org/report"}
    assert researcher.post("/researcher/api/publish", json=text).status_code == 200
    wrong = text | {"link": "javascript:alert(1)"}
    assert researcher.post("/researcher/api/publish", json=wrong).status_code == 409
    page = people[0].page()
    gold = page["history"][0]["standing"]["gold"]
    assert gold["trials"] == 2
    assert gold["low"] <= gold["value"] <= gold["high"]
    assert page["history"][0]["results"] == {"text": "People see fakes.", "link": "https://example.org/report"}
    assert [skill["kind"] for skill in page["skills"]] == ["realism"]


def test_fair_pay_is_reported_proposed_frozen_and_approved(served: ServedPanel) -> None:
    people = [served.rater() for _ in range(3)]
    for rater in people:
        rater.take("faces").begin().walk()
        rater.page()
    with served.service.database.writing() as connection:
        connection.execute(update(work).values(active_seconds=900.0))
    researcher = served.researcher()
    pay = researcher.get("/researcher/api/results/pay", params={"study": "faces"}).json()
    assert pay["questions"][0]["seconds"]["value"] == 900
    assert len(pay["questions"][0]["missing"]) == 3
    assert pay["payments"] == []  # looking proposes nothing
    proposed = researcher.post("/researcher/api/results/propose", json={"study": "faces"}).json()
    assert proposed["top_ups"] == 3
    pay = researcher.get("/researcher/api/results/pay", params={"study": "faces"}).json()
    names = [payment["payment"] for payment in pay["payments"]]
    early = researcher.post("/researcher/api/payments", json={"payments": names, "approve": True})
    assert early.status_code == 409  # raters may object for 12 hours
    body = {"payments": names[:1], "approve": True, "without_grace": True}
    assert researcher.post("/researcher/api/payments", json=body).json() == {"decided": 1}
    session = pay["sessions"][0]["session"]
    frozen = {"study": "faces", "session": session, "frozen": True, "reason": "asleep"}
    assert researcher.post("/researcher/api/freeze", json=frozen).status_code == 200
    assert people[0].page()["history"][0]["frozen"] == "asleep"
    ledger = researcher.get("/researcher/api/overview").json()["ledger"]
    assert sum(account["cents"] for account in ledger) == 0
    assert ledger != []
    owed = [rater for rater in people if rater.post("delete", answers=True).status_code == 409]
    assert len(owed) == 3  # proposed or approved, both are open


def test_who_leaves_takes_the_answers_along(served: ServedPanel) -> None:
    rater = served.rater()
    rater.take("faces").begin().walk()
    assert rater.post("delete", answers=True).json() == {"deleted": True}
    assert rater.client.get("/api/me").status_code == 401
    with served.service.database.reading() as connection:
        assert connection.execute(select(raters)).all() == []
        assert connection.execute(select(payments)).all() == []
    with served.service.services["faces"].database.reading() as connection:
        assert connection.execute(select(responses)).all() == []
        assert connection.execute(select(identities)).all() == []
    content = b"".join(path.read_bytes() for path in served.folder.glob("panel.sqlite*"))
    assert rater.name.encode() not in content


def test_the_serving_process_of_a_panel_loads_nothing_heavy() -> None:
    code = (
        "import sys, beholder.cli.panel, beholder.collect.panel.server.serve;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
