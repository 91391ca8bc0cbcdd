"""Active time: measured by the page, added up by the server, bounded by its clock; reported time beside it."""

from collections.abc import Callable

import pytest
from tests.collect.conftest import Served

from beholder.collect.exchange.export import export
from beholder.collect.panel.active_time import time_between
from beholder.collect.panel.schema import open_panel, work
from beholder.collect.panel.studies import add_study
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Served]
QUESTION = RealismQuestion(name="q", design=Design(raters=2, trials=2))


def test_no_more_than_has_passed(serve: Serve) -> None:
    served = serve(QUESTION)
    visitor = served.visitor().begin()
    assert visitor.client.post("/api/time", json={"active": 3600}).json()["active_seconds"] < 60
    served.move_clock(100)
    before = visitor.client.post("/api/time", json={"active": 0}).json()["active_seconds"]
    after = visitor.client.post("/api/time", json={"active": 40}).json()["active_seconds"]
    assert after - before == pytest.approx(40)
    served.move_clock(10)
    assert visitor.client.post("/api/heartbeat", json={"active": 3600}).status_code == 204
    total = visitor.client.post("/api/time", json={"active": 0}).json()["active_seconds"]
    assert total - after < 75  # since the last report: 60 s of the first move and 10 s of the second
    assert visitor.client.post("/api/time", json={"active": -1}).status_code == 422
    visitor.walk()
    served.move_clock(1000)
    assert visitor.client.post("/api/time", json={"active": 500}).json()["active_seconds"] == pytest.approx(total)


def test_both_times_come_into_the_panel(serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> None:
    served = serve(QUESTION)
    visitor = served.visitor().begin(PROLIFIC_PID="ada")
    served.move_clock(90)
    visitor.client.post("/api/time", json={"active": 80})
    visitor.walk("debrief")
    assert visitor.state["debrief"] == {"asks_time": True, "job_survey": False}
    assert visitor.post("debrief", clear=4, fair=4, comment="", minutes=2.5).status_code == 200
    export(served.folder, served.url)
    panel = open_panel(tmp_path_factory.mktemp("panel"), create=True)
    with panel.writing() as connection:
        add_study(connection, served.folder, researcher="eve", now=1.0)
        (row,) = connection.execute(work.select()).all()
    assert row.active_seconds == pytest.approx(80)
    assert row.reported_seconds == 150


def test_between_answers_by_hand() -> None:
    assert time_between([0, 10, 100, 102], usual_seconds=6) == 10 + 30 + 2
    assert time_between([0, 100], usual_seconds=40) == 80
    assert time_between([5], usual_seconds=6) == 0


def test_the_job_survey_is_asked_where_the_study_says_so(serve: Serve) -> None:
    served = serve(QUESTION, collect={"job_survey": True})
    for points in (2, 6):
        visitor = served.visitor().begin().walk("debrief")
        assert visitor.state["debrief"]["job_survey"] is True
        job = {"autonomy": points, "autonomy-reversed": 8 - points, "nonsense": 3}
        assert visitor.post("debrief", comment="", job=job).status_code == 200
    client = served.client(follow_redirects=True)
    client.get("/researcher", params={"token": served.service.catalogue.secret("researcher")})
    scores = client.get("/researcher/api/results/job").json()
    assert (scores["raters"], scores["weakest"], scores["motivating"]) == (2, "autonomy", None)
    assert [(row["name"], row["value"]) for row in scores["rows"]] == [("autonomy", 4.0)]
