"""Coming in by every kind of link, again and from elsewhere."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import insert

from beholder.collect.database.schema import invitations
from beholder.collect.session.identity import hash_of
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]


def realism(name: str = "realism", **design: object) -> RealismQuestion:
    return RealismQuestion(name=name, design=Design.model_validate({"raters": 3, "trials": 4} | design))


def pair(name: str = "pair", **design: object) -> PairQuestion:
    return PairQuestion(name=name, design=Design.model_validate({"raters": 2, "trials": 4} | design))


def test_an_open_link_makes_a_new_rater_each_time(serve: Serve) -> None:
    served = serve(realism())
    for _ in range(3):
        assert served.visitor().enter().status_code == 200
    assert len(served.rows("select distinct person from sessions")) == 3
    assert served.rows("select platform from persons") == [("open",)] * 3
    assert served.count("identities") == 0
    refused = served.visitor().enter()
    assert refused.status_code == 409
    assert refused.json()["detail"]["code"] == "full"


def test_a_reload_goes_on_where_it_was(serve: Serve) -> None:
    visitor = serve(realism()).visitor().begin()
    visitor.answer()
    before = visitor.state
    assert visitor.get("state").json() == before
    again = visitor.enter()
    assert again.json() == before | {"resume": again.json()["resume"]}


def test_without_a_cookie_there_is_no_session(serve: Serve) -> None:
    served = serve(realism())
    for client in (served.client(), served.client(cookies={"beholder": "0" * 32})):
        reply = client.get("/api/state")
        assert reply.status_code == 401
        assert reply.json()["detail"]["code"] == "no-session"
        assert client.post("/api/begin", json={}).status_code == 401
        assert client.get("/api/image/" + "0" * 32).status_code == 401
    assert served.count("sessions") == 0


@pytest.mark.parametrize(
    ("parameters", "platform", "identity"),
    [
        ({"PROLIFIC_PID": "5f0c", "STUDY_ID": "s", "SESSION_ID": "x"}, "prolific", "5f0c"),
        ({"workerId": "A1", "assignmentId": "as", "hitId": "h"}, "mturk", "A1"),
        ({"who": "panel-7"}, "panel", "panel-7"),
    ],
)
def test_a_platform_id_is_the_same_rater_on_any_device(
    serve: Serve, parameters: dict[str, str], platform: str, identity: str
) -> None:
    served = serve(realism(), collect={"panel_parameter": "who"})
    phone, desk = served.visitor(), served.visitor()
    phone.begin(**parameters)
    phone.answer()
    assert desk.enter(**parameters).status_code == 200
    assert desk.state["step"] == "trial"
    assert desk.trial["trial"] == phone.trial["trial"]
    assert served.rows("select platform, identity from identities") == [(platform, identity)]
    assert served.count("sessions") == 1
    desk.answer()
    assert phone.get("state").json()["progress"]["done"] == 2


def test_the_id_stands_in_no_table_but_the_one_that_may_be_emptied(serve: Serve) -> None:
    served = serve(
        realism(), collect={"redirect": "https://panel.example/?c={code}&p={PROLIFIC_PID}&s={STUDY_ID}"}
    )
    visitor = served.visitor().begin(PROLIFIC_PID="5f0c77", STUDY_ID="st-1", SESSION_ID="se-1")
    tables = [name for (name,) in served.rows("select name from sqlite_master where type = 'table'")]
    holding = [
        name for name in tables if any("5f0c77" in str(row) for row in served.rows(f"select * from {name}"))
    ]
    assert holding == ["identities"]
    visitor.walk()
    assert visitor.state["done"]["redirect"] == "https://panel.example/?c=&p=5f0c77&s=st-1"
    assert not any("se-1" in str(row) for row in served.rows("select * from sessions"))  # nothing needs it


def test_a_resume_link_goes_on_elsewhere(serve: Serve) -> None:
    served = serve(realism())
    phone, desk = served.visitor(), served.visitor()
    link = phone.enter().json()["resume"]
    phone.walk("trial")
    assert desk.enter(link).status_code == 200
    assert desk.trial["trial"] == phone.trial["trial"]
    assert served.count("sessions") == 1
    assert served.visitor().enter("/r/" + "0" * 32).status_code == 404


def test_an_invitation_admits_one_rater(serve: Serve) -> None:
    served = serve(realism(), collect={"open_link": False})
    assert served.visitor().enter().json()["detail"]["code"] == "no-entry"
    assert served.visitor().enter("/i/unknown").json()["detail"]["code"] == "no-invitation"
    with served.service.database.writing() as connection:
        connection.execute(insert(invitations).values(invitation_hash=hash_of("come-in"), note="", at=0.0))
    first, second = served.visitor(), served.visitor()
    first.begin("/i/come-in")
    assert second.enter("/i/come-in").status_code == 200
    assert second.trial["trial"] == first.trial["trial"]
    assert served.count("identities") == 0


def test_a_link_to_a_question(serve: Serve) -> None:
    served = serve(realism(), pair())
    visitor = served.visitor()
    visitor.begin("/q/pair")
    assert visitor.trial["kind"] == "pair"
    visitor.begin("/q/realism")  # the same person, another question
    assert visitor.trial["kind"] == "realism"
    assert len(served.rows("select distinct person from sessions")) == 1
    assert visitor.enter("/q/pair").json()["trial"]["kind"] == "pair"  # and back to the first
    assert served.count("sessions") == 2
    assert served.visitor().enter("/q/other").status_code == 404


def test_raters_go_to_the_question_with_most_free_slots(serve: Serve) -> None:
    served = serve(realism(raters=2), pair(raters=3))
    kinds = []
    for _ in range(5):
        visitor = served.visitor()
        visitor.begin()
        kinds.append(visitor.trial["kind"])
    assert kinds[0] == "pair"
    assert sorted(kinds) == ["pair"] * 3 + ["realism"] * 2
    assert served.visitor().enter().json()["detail"]["code"] == "full"


def test_who_has_finished_sees_the_end_again_and_is_given_nothing_else(serve: Serve) -> None:
    served = serve(realism(), pair(), collect={"codes": {"complete": "C-1"}})
    done = served.visitor().begin(PROLIFIC_PID="p", SESSION_ID="s").walk().state["done"]
    assert done["code"] == "C-1"
    elsewhere = served.visitor()
    assert elsewhere.enter(PROLIFIC_PID="p", SESSION_ID="s").json()["done"] == done
    assert served.count("sessions") == 1


def test_a_paused_study_lets_nobody_in_and_keeps_who_is_there(serve: Serve) -> None:
    served = serve(realism())
    inside = served.visitor().begin()
    body = inside.body()
    with served.service.database.writing() as connection:
        connection.exec_driver_sql("insert into control (name, value) values ('paused', 'yes')")
    assert served.visitor().enter().json()["detail"]["code"] == "paused"
    assert inside.get("state").json()["step"] == "paused"
    refused = inside.post("answer", **body)
    assert (refused.status_code, refused.json()["detail"]["code"]) == (409, "no-trial")
    with served.service.database.writing() as connection:
        connection.exec_driver_sql("update control set value = 'no' where name = 'paused'")
    assert inside.get("state").json()["step"] == "trial"
    assert inside.post("answer", **body).status_code == 200


def test_the_language_is_chosen_until_the_consent(serve: Serve) -> None:
    served = serve(realism())
    visitor = served.visitor()
    visitor.enter(language="de-AT")
    assert visitor.state["study"]["language"] == "de"
    german = visitor.state["consent"]["text"]
    visitor.enter(language="en")  # the page's language menu
    assert visitor.state["study"]["language"] == "en"
    assert visitor.state["consent"]["text"] != german
    visitor.consent()
    visitor.enter(language="de")
    assert visitor.state["study"]["language"] == "en"
    assert served.visitor().enter(language="xx").json()["study"]["language"] == "en"


def test_an_mturk_preview_takes_no_slot(serve: Serve) -> None:
    served = serve(realism())
    preview = served.visitor().enter(assignmentId="ASSIGNMENT_ID_NOT_AVAILABLE", hitId="h")
    assert preview.status_code == 403
    assert served.counts()["sessions"] == 0


def test_two_tabs_opened_at_once_are_one_session(serve: Serve) -> None:
    served = serve(realism(raters=8))
    visitors = [served.visitor() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda v: v.enter(PROLIFIC_PID="same"), visitors))
    assert [reply.status_code for reply in replies] == [200] * 8
    assert served.count("sessions") == served.count("persons") == 1


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(serve: Serve) -> None:
    served = serve(realism())
    plain = served.visitor().enter().headers["set-cookie"].lower()
    assert "httponly" in plain
    assert "samesite=lax" in plain
    assert "secure" not in plain
    proxied = served.client(headers={"X-Forwarded-Proto": "https"})
    body = {"parameters": {}, "path": "/", "language": "en"}
    assert "; secure" in proxied.post("/api/enter", json=body).headers["set-cookie"].lower()
    framed = body | {"parameters": {"workerId": "A", "turkSubmitTo": "https://www.mturk.com"}}
    assert "samesite=none" in proxied.post("/api/enter", json=framed).headers["set-cookie"].lower()
