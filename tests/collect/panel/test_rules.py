"""Raters read proposals and the open log, propose, and vote where they sit on the board."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update
from tests.collect.panel.conftest import PanelRater, ServedPanel

from beholder.care.governance import Role
from beholder.collect.panel.board import seat_board
from beholder.collect.panel.open_log import read_log
from beholder.collect.panel.rules_page import PROPOSALS_A_DAY
from beholder.collect.panel.schema import log, proposals, votes
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

ServePanel = Callable[..., ServedPanel]


@pytest.fixture
def served(serve_panel: ServePanel) -> ServedPanel:
    return serve_panel({"faces": RealismQuestion(name="q", design=Design(raters=2, trials=2))})


def seated(served: ServedPanel) -> list[PanelRater]:
    """Three raters of the panel, who sit on its board."""
    people = [served.rater() for _ in range(3)]
    board: dict[str, Role] = {rater.name: "rater" for rater in people}
    board |= {"ada": "researcher", "bob": "researcher", "cyd": "researcher", "eve": "independent"}
    with served.service.database.writing() as connection:
        seat_board(connection, board, now=1.0)
    return people


def rules(rater: PanelRater) -> dict[str, Any]:
    content: dict[str, Any] = rater.client.get("/api/rules").json()
    return content


def test_raters_propose_and_the_board_decides(served: ServedPanel) -> None:
    first, second, third = seated(served)
    outsider = served.rater()
    reply = outsider.post("rules/propose", title="Longer breaks", text="Five minutes.")
    assert reply.json() == {"proposal": 1}
    assert not rules(outsider)["may_vote"]
    assert rules(first)["may_vote"]
    assert outsider.post("rules/vote", proposal=1, choice="yes").status_code == 403
    for rater in (first, second, third):
        assert rater.post("rules/vote", proposal=1, choice="yes", reason="rest").json() == {"status": "open"}
    assert first.post("rules/vote", proposal=1, choice="no").json() == {"status": "open"}  # replaces the first
    researcher = served.researcher()
    for member, status in (("ada", "open"), ("eve", "adopted")):
        body = {"proposal": 1, "member": member, "choice": "yes"}
        assert researcher.post("/researcher/api/vote", json=body).json() == {"status": status}
    assert first.post("rules/vote", proposal=1, choice="yes").status_code == 409  # it is decided
    assert first.post("rules/vote", proposal=7, choice="yes").status_code == 409
    (row,) = rules(outsider)["proposals"]
    assert (row["status"], row["yes"], row["no"], row["by"]) == ("adopted", 4, 1, {"role": "you"})
    with served.service.database.reading() as connection:
        kinds = [entry.kind for entry in read_log(connection)]
    assert kinds[-8:] == ["board", "proposal", *["vote"] * 6]


def test_a_decision_stands_when_the_board_changes(served: ServedPanel) -> None:
    people = seated(served)
    people[0].post("rules/propose", title="Longer breaks", text="Five minutes.")
    for rater in people:
        rater.post("rules/vote", proposal=1, choice="yes")
    served.researcher().post("/researcher/api/vote", json={"proposal": 1, "member": "eve", "choice": "yes"})
    assert people[0].post("delete", answers=False).status_code == 200
    seated(served)
    (row,) = rules(people[1])["proposals"]
    assert (row["status"], row["yes"]) == ("adopted", 4)


def test_proposals_wait_for_a_board(served: ServedPanel) -> None:
    rater = served.rater()
    rater.post("rules/propose", title="Longer breaks", text="Five minutes.")
    (row,) = rules(rater)["proposals"]
    assert (row["status"], row["yes"]) == ("open", 0)
    assert served.researcher().get("/researcher/api/overview").json()["proposals"][0]["status"] == "open"


def test_no_researcher_votes_for_a_rater(served: ServedPanel) -> None:
    first = seated(served)[0]
    first.post("rules/propose", title="Longer breaks", text="Five minutes.")
    body = {"proposal": 1, "member": first.name, "choice": "no"}
    reply = served.researcher().post("/researcher/api/vote", json=body)
    assert (reply.status_code, reply.json()["detail"]["code"]) == (409, "votes-alone")
    with served.service.database.reading() as connection:
        assert connection.execute(select(votes)).all() == []


def test_other_raters_stay_unnamed_and_researchers_sign(served: ServedPanel) -> None:
    first, second, _ = seated(served)
    first.post("rules/propose", title="Longer breaks", text="Five minutes.")
    first.post("rules/vote", proposal=1, choice="yes", reason="rest")
    served.researcher().post("/researcher/api/vote", json={"proposal": 1, "member": "ada", "choice": "no"})
    reply = second.client.get("/api/rules")
    assert first.name not in reply.text
    (row,) = reply.json()["proposals"]
    assert row["by"] == {"role": "rater"}
    assert [vote["by"] for vote in row["votes"]] == [{"role": "rater"}, {"role": "researcher", "name": "ada"}]
    entries = reply.json()["log"]
    assert [entry["kind"] for entry in entries[:4]] == ["vote", "vote", "proposal", "board"]
    assert entries[0]["by"] == {"role": "researcher", "name": "ada"}


def test_changes_need_the_header_and_a_cookie(served: ServedPanel) -> None:
    rater = seated(served)[0]
    bodies = {"propose": {"title": "a", "text": "b"}, "vote": {"proposal": 1, "choice": "yes"}}
    for path, body in bodies.items():
        assert rater.client.post(f"/api/rules/{path}", json=body).status_code == 403
    rater.client.cookies.clear()
    assert rater.client.get("/api/rules").status_code == 401


def test_a_rater_cannot_flood_the_log(served: ServedPanel) -> None:
    rater = served.rater()
    for number in range(PROPOSALS_A_DAY):
        assert rater.post("rules/propose", title=f"Rule {number}", text="x").status_code == 200
    reply = rater.post("rules/propose", title="One more", text="x")
    assert (reply.status_code, reply.json()["detail"]["code"]) == (409, "many-proposals")
    assert rater.post("rules/propose", title="a" * 65, text="x").status_code == 422
    assert rater.post("rules/propose", title="a", text="x" * 5001).status_code == 422
    with served.service.database.writing() as connection:
        connection.execute(update(proposals).values(at=proposals.c.at - 86_401))
    assert rater.post("rules/propose", title="Tomorrow", text="x").status_code == 200


def test_a_changed_log_is_not_shown_as_if_it_were_whole(served: ServedPanel) -> None:
    rater = served.rater()
    rater.post("rules/propose", title="Longer breaks", text="Five minutes.")
    with served.service.database.writing() as connection:
        connection.execute(
            update(log).where(log.c.kind == "proposal").values(detail={"proposal": 1, "title": "no"})
        )
    reply = rater.client.get("/api/rules")
    assert reply.status_code >= 400
    assert "Longer" not in reply.text


def test_who_is_forgotten_leaves_the_board_and_the_name_of_the_proposals(served: ServedPanel) -> None:
    first, second, _ = seated(served)
    first.post("rules/propose", title="Longer breaks", text="Five minutes.")
    first.post("rules/vote", proposal=1, choice="yes")
    assert first.post("delete", answers=False).status_code == 200
    (row,) = second.client.get("/api/rules").json()["proposals"]
    assert (row["by"], row["votes"]) == ({"role": "rater"}, [])
    with served.service.database.reading() as connection:
        assert first.name not in connection.scalars(select(proposals.c.by)).all()
