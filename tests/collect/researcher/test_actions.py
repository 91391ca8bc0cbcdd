"""Actions of the researcher: pausing, excluding raters, inviting, extending, previewing; all of it logged."""

import json
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from tests.collect.conftest import Serve, Served
from tests.collect.researcher.test_overview import ask, sign_in

from beholder.collect.exchange.added_slots import EXTENSIONS_KEY
from beholder.collect.exchange.export import collected_tables, export
from beholder.collect.exchange.load import load
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.kinds.timed_realism import TimedRealismQuestion
from beholder.study.question import Design

Json = dict[str, Any]
PAIR = PairQuestion(name="q", design=Design(raters=2, trials=6, repeats=2))


def do(client: httpx.Client, deed: str, *, status: int = 200, **body: object) -> Json:
    reply = client.post(f"/researcher/api/{deed}", json=body, timeout=240)
    assert reply.status_code == status, reply.text
    content: Json = reply.json()
    return content


def last_event(served: Served) -> tuple[str, Json]:
    kind, detail = served.rows("select kind, detail from events order by id desc limit 1")[0]
    return kind, json.loads(detail)


def test_a_paused_study_lets_nobody_go_on(serve: Serve) -> None:
    served = serve(PAIR)
    visitor = served.visitor().begin()
    client = sign_in(served)
    do(client, "pause", reason="the server moves")
    assert last_event(served) == ("researcher-pause", {"who": "link", "reason": "the server moves"})
    assert ask(client, "overview")["paused"] is True
    visitor.get("state")
    assert visitor.state["step"] == "paused"
    assert served.visitor().enter().status_code == 409
    do(client, "resume", reason="done")
    visitor.get("state")
    visitor.walk()
    assert [entry["kind"] for entry in ask(client, "overview")["log"]] == ["resume", "pause"]


def test_who_is_left_out_is_replaced(serve: Serve) -> None:
    served = serve(PAIR)
    out = served.visitor().begin(PROLIFIC_PID="out").walk()
    included = served.visitor().begin(PROLIFIC_PID="kept").walk()
    assert included.state["done"]["outcome"] == "complete"
    client = sign_in(served)
    assert served.visitor().enter().status_code == 409  # full
    rater = next(row["rater"] for row in ask(client, "raters")["rows"] if row["session"] in first_session(served))
    assert do(client, "exclude", rater=rater, reason="a machine") == {"opened": 1}
    assert last_event(served)[1] == {"who": "link", "reason": "a machine", "person": rater, "opened": 1}
    assert out.enter(PROLIFIC_PID="out").status_code == 403
    assert served.count("responses") == 16
    assert rater not in collected_tables(served.url)["answers"]["rater"].to_list()
    assert sum(c["collected"] for c in ask(client, "overview")["questions"][0]["cells"]) == 6
    other = served.visitor().begin().walk()
    assert other.state["done"]["outcome"] == "complete"
    assert collected_tables(served.url)["answers"].filter(pl.col("valid"))["trial"].is_duplicated().sum() == 0
    assert served.rows("select count(*) from slots where done")[0][0] == 2
    assert do(client, "include", rater=rater, reason="a person") == {"closed": 0}
    assert collected_tables(served.url)["answers"].height == 24


def first_session(served: Served) -> set[str]:
    return {served.rows("select session from sessions order by started limit 1")[0][0]}


def test_leaving_someone_out_ends_and_pays_what_they_do(serve: Serve) -> None:
    served = serve(PAIR, pay={"base": 2.0})
    visitor = served.visitor().begin()
    for _ in range(4):
        visitor.answer()
    client = sign_in(served)
    (row,) = ask(client, "raters")["rows"]
    do(client, "exclude", rater=row["rater"], reason="asked us to")
    visitor.get("state")
    assert (visitor.state["step"], visitor.state["done"]["outcome"], visitor.state["done"]["pay"]) == (
        "done",
        "returned",
        1.0,
    )
    assert visitor.post("heartbeat").status_code == 204
    assert served.rows("select count(*) from slots where session is null and not done")[0][0] == 2


def test_included_again_a_place_is_done_again(serve: Serve) -> None:
    served = serve(PAIR)
    served.visitor().begin().walk()
    client = sign_in(served)
    (row,) = ask(client, "raters")["rows"]
    do(client, "exclude", rater=row["rater"], reason="x")
    assert do(client, "include", rater=row["rater"], reason="y") == {"closed": 1}
    assert ask(client, "overview")["questions"][0]["slots"]["done"] == 1


def test_deeds_that_make_no_sense_are_refused(serve: Serve) -> None:
    served = serve(PAIR)
    served.visitor().begin().walk()
    client = sign_in(served)
    (row,) = ask(client, "raters")["rows"]
    do(client, "exclude", status=404, rater="r-nobody", reason="x")
    do(client, "exclude", status=422, rater=row["rater"], reason="")
    do(client, "include", status=409, rater=row["rater"], reason="x")
    do(client, "exclude", rater=row["rater"], reason="x")
    do(client, "exclude", status=409, rater=row["rater"], reason="x")
    do(client, "close", status=404, session="s-none")
    do(client, "close", status=409, session=row["session"])
    do(client, "extend", status=409, question="none", slots=1, reason="")
    do(client, "invite", status=422, count=0)
    do(client, "pause", status=422, reason="", more=1)


def test_a_session_can_be_closed(serve: Serve) -> None:
    design_ = Design(raters=1, trials=4)
    served = serve(TimedRealismQuestion(name="q", design=design_))
    visitor = served.visitor().begin()
    visitor.answer()
    client = sign_in(served)
    (row,) = ask(client, "raters")["rows"]
    do(client, "close", session=row["session"], reason="asleep")
    visitor.get("state")
    assert visitor.state["done"]["outcome"] == "returned"
    assert collected_tables(served.url)["answers"]["valid"].to_list() == [False]  # half a staircase is none
    assert served.visitor().begin().state["progress"]["total"] == 4


def test_invitations_admit_one_rater_each(serve: Serve) -> None:
    served = serve(PAIR, collect={"open_link": False})
    assert served.visitor().enter().status_code == 403
    client = sign_in(served)
    links = do(client, "invite", count=3, note="class 5b")["links"]
    assert len(set(links)) == 3
    assert served.visitor().enter(links[0]).status_code == 200
    assert served.visitor().enter(links[0]).status_code == 200  # another device
    assert served.count("persons") == 1
    assert served.visitor().enter("/i/guessed-wrong").status_code == 403
    stored = str(served.rows("select * from invitations"))
    assert not any(link.removeprefix("/i/") in stored for link in links)


def test_slots_are_added_without_touching_the_others(serve: Serve) -> None:
    served = serve(PAIR)
    for _ in range(2):
        served.visitor().begin().walk()
    file = served.folder / "tables" / "trials.parquet"
    before = pl.read_parquet(file)
    client = sign_in(served)
    added = do(client, "extend", question="q", slots=3, reason="a wider interval than planned")
    assert (added["first_slot"], added["slots"], added["trials"]) == (2, 3, 24)
    after = pl.read_parquet(file)
    assert after.head(before.height).equals(before)
    new = after.tail(24)
    assert new["slot"].unique().sort().to_list() == [2, 3, 4]
    assert new.filter(pl.col("role") == "repeat")["repeats"].is_in(new["trial"].to_list()).all()
    assert last_event(served) == (
        "researcher-extend",
        {"who": "link", "reason": "a wider interval than planned", **added},
    )
    assert json.loads(pl.read_parquet_metadata(file)[EXTENSIONS_KEY]) == [added]
    visitor = served.visitor().begin().walk()
    assert visitor.state["done"]["outcome"] == "complete"
    again = do(client, "extend", question="q", slots=1, reason="")
    assert (again["first_slot"], again["seed"] == added["seed"]) == (5, False)


def test_after_an_extension_all_else_goes_on(serve: Serve) -> None:
    """The design counts as unchanged, the database as loaded, and answers to the new trials can be exported."""
    served = serve(PAIR)
    served.visitor().begin().walk()
    do(sign_in(served), "extend", question="q", slots=1, reason="")
    load(served.folder, served.url)
    export(served.folder, served.url)
    assert design(served.folder).skipped
    assert design(served.folder, force=True).skipped


def test_an_extension_that_a_crash_cut_short_is_taken_in_at_the_next_start(serve: Serve, tmp_path: Path) -> None:
    """The table was replaced, the database was not: as if the process had died between the two."""
    served = serve(PAIR)
    served.visitor().begin().walk()
    (tmp_path / "old").write_bytes((served.folder / "collect.sqlite").read_bytes())
    before = served.count("trials")
    for file in served.folder.glob("collect.sqlite*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    do(sign_in(served), "extend", question="q", slots=1, reason="")
    copy = f"sqlite:///{tmp_path / 'collect.sqlite'}"
    load(served.folder, copy)
    assert collected_tables(copy)["answers"].height == 8
    assert served.count("trials") == before + 8


def test_trials_that_were_changed_are_still_refused(serve: Serve) -> None:
    served = serve(PAIR)
    served.visitor().begin().walk()
    file = served.folder / "tables" / "trials.parquet"
    drawn = pl.read_parquet(file)
    drawn.with_columns(block=pl.col("block") + 1).write_parquet(file)
    with pytest.raises(StageError, match="changed after raters had answered"):
        load(served.folder, served.url)
    drawn.head(3).write_parquet(file)
    with pytest.raises(StageError, match="changed after raters had answered"):
        load(served.folder, served.url)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (RatingQuestion(name="q", design=Design(raters=6, trials=6, raters_per_item=3)), "cannot exceed raters"),
        (RealismQuestion(name="q", design=Design(raters=3, trials=4, between=True)), "each rater judges one"),
    ],
)
def test_an_extension_that_the_design_cannot_draw_says_why(
    serve: Serve, question: AnyQuestion, message: str
) -> None:
    served = serve(question)
    before = served.count("trials")
    reply = do(sign_in(served), "extend", status=409, question="q", slots=1, reason="")
    assert message in reply["detail"]["message"]
    assert served.count("trials") == before


def test_a_preview_leaves_no_trace(serve: Serve) -> None:
    served = serve(
        PAIR, RealismQuestion(name="real", design=Design(raters=1, trials=4)), collect={"open_link": False}
    )
    client = sign_in(served)
    do(client, "pause", reason="")
    before = served.counts() | {"persons": served.count("persons"), "slots": served.count("slots where session")}
    page = client.get("/researcher/preview/real")
    assert page.text.index("/static/researcher/preview.js") < page.text.index("/static/app.js")
    room = "/researcher/preview/api"
    body: Json = {"parameters": {"PROLIFIC_PID": "me"}, "path": "/researcher/preview/real", "language": "de"}
    state = client.post(f"{room}/enter", json=body).json()
    assert (state["step"], state["study"]["language"]) == ("consent", "de")
    assert "beholder_preview_session" in client.cookies
    assert "beholder" not in client.cookies
    consent = state["consent"]
    client.post(
        f"{room}/consent", json={"agreed": True, **{n: consent[n] for n in ("hash", "version", "language")}}
    )
    client.post(f"{room}/check", json=SCREEN)
    state = client.post(f"{room}/begin", json={}).json()
    assert (
        client.get(f"{room}/image/{state['trial']['images'][0]['token']}").headers["content-type"] == "image/webp"
    )
    for number in range(4):
        answer = {"aspect": "realism", "choice": "real"}
        body = {
            "trial": state["trial"]["trial"],
            "attempt": 1,
            "key": f"preview-{number}",
            "said": [answer],
            "seconds": 1,
        }
        state = client.post(f"{room}/answer", json=body).json()["state"]
    assert state["step"] == "debrief"
    after = served.counts() | {"persons": served.count("persons"), "slots": served.count("slots where session")}
    assert after == before
    assert client.get("/api/state").status_code == 401
    client.get("/researcher/preview/real")
    assert client.get(f"{room}/state").status_code == 401  # reloaded: from the beginning
    assert client.get("/researcher/preview/none").status_code == 404
    assert served.client().post(f"{room}/enter", json=body).status_code == 401


SCREEN = {
    "screen_width": 1,
    "screen_height": 1,
    "viewport_width": 1,
    "viewport_height": 1,
    "pixel_ratio": 1,
    "zoom": 1,
    "frame_ms": 16.7,
    "touch": False,
}
