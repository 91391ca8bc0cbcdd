"""Prototype rounds over HTTP: small, paid, with mandatory feedback; they stop a study or let it open."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
from tests.collect.conftest import Served, Visitor, encode_once

from beholder.collect.database.address import default_url
from beholder.collect.display import served_images
from beholder.collect.exchange.load import load
from beholder.collect.prototype.gate import require_published, tally_of
from beholder.collect.prototype.rounds import FEEDBACK_MINUTES, new_round, read_round
from beholder.collect.server.application import create_app
from beholder.collect.simulate.rehearsal import listening
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.study.study import load_study
from beholder.study.wages import hourly_pay

QUESTION = PairQuestion(name="q", design=Design(raters=9, trials=16, repeats=5, blocks=5))
FEEDBACK: dict[str, Any] = {"clear": 4, "minutes": 3.5, "pay": 4, "examples": False}


@pytest.fixture
def serve_round(study_folder: Callable[..., Path]) -> Iterator[Callable[..., Served]]:
    with ExitStack() as stack:

        def make(folder: Path | None = None) -> Served:
            room = new_round(folder or study_folder(QUESTION))
            design(room)
            url = default_url(room)
            load(room, url)
            with patch.object(served_images, "encode", encode_once):
                app = create_app(room, url)
            address = stack.enter_context(listening(app))
            stack.callback(app.state.service.database.engine.dispose)
            return Served(room, url, app.state.service.study, address, app.state.service, stack)

        yield make


def test_a_round_is_a_small_study_paid_by_the_same_wage(study_folder: Callable[..., Path]) -> None:
    folder = study_folder(QUESTION)
    room = new_round(folder)
    full, small = load_study(folder), load_study(room)
    held = read_round(room)
    assert held is not None
    assert (held.rule.first_raters, held.items, small.questions[0].design.trials) == (3, 4, 4)  # √9 × √16
    assert small.questions[0].design.raters == held.rule.most_raters
    assert small.name == "test-prototype-1"
    assert small.collect.minutes >= FEEDBACK_MINUTES + 1
    assert hourly_pay(small, small.questions[0]) >= hourly_pay(full, full.questions[0]) - 1e-6
    assert new_round(folder) == room  # nothing was revised
    assert room.stat().st_mode & 0o777 == 0o700


def voted(served: Served, vote: str, **changes: object) -> Visitor:
    visitor = served.visitor().begin()
    visitor.walk("prototype")
    text = "what is a better image?" if vote == "revise" else ""
    reply = visitor.post("prototype", **(FEEDBACK | {"vote": vote, "text": text, "trials": []} | changes))
    assert reply.status_code == 200, reply.text
    return visitor


def test_feedback_is_mandatory_and_ends_the_session(serve_round: Callable[..., Served]) -> None:
    served = serve_round()
    visitor = served.visitor()
    visitor.enter()
    assert "trial run" in visitor.state["consent"]["text"]
    assert visitor.state["consent"]["pay"]["base"] == served.study.pay.base
    visitor.walk("prototype")
    trials = visitor.state["prototype"]["trials"]
    assert len(trials) == 4 + 4  # test trials, and those repeated
    token = trials[0]["images"][0]["token"]
    assert visitor.client.get(f"/api/image/{token}").status_code == 200  # shown again, beside the question
    assert visitor.post("debrief", clear=5, fair=5, comment="").status_code == 409
    for missing in FEEDBACK:
        body = {name: value for name, value in FEEDBACK.items() if name != missing}
        assert visitor.post("prototype", vote="publish", **body).status_code == 422
    assert visitor.post("prototype", vote="revise", text=" ", **FEEDBACK).status_code == 422
    done = visitor.post("prototype", vote="revise", text="unclear", trials=[trials[1]["trial"]], **FEEDBACK)
    assert done.json()["step"] == "done"
    assert served.rows("select status, reported_seconds from sessions") == [("complete", 210.0)]
    assert visitor.post("prototype", vote="publish", **FEEDBACK).status_code == 409


def test_votes_stop_a_study_until_a_revised_round_publishes_it(
    serve_round: Callable[..., Served], study_folder: Callable[..., Path]
) -> None:
    folder = study_folder(QUESTION)
    require_published(folder)  # nobody has tried it: nothing is refused
    served = serve_round(folder)
    with pytest.raises(StageError, match="not decided yet"):
        require_published(folder)
    unclear = voted(served, "revise")
    assert unclear.state["step"] == "done"
    for vote in ("publish", "revise"):
        voted(served, vote)
    # evidence of 2 to revise and 1 to publish: 2·log(.4/.05) + log(.6/.95) = 3.7 > log(.95/.05) = 2.9
    assert tally_of(served.folder).decision == "revise"
    with pytest.raises(StageError, match="2 to revise"):
        require_published(folder)
    assert served.visitor().enter().status_code == 409  # nobody else is asked
    settings = folder / "study.toml"
    before = load_study(folder).questions[0].text
    settings.write_text(
        settings.read_text(encoding="utf-8").replace(before, "Which is sharper?"), encoding="utf-8"
    )
    again = serve_round(folder)
    assert again.folder.name == "2"
    for _ in range(20):
        if tally_of(again.folder).decision != "ask more":
            break
        voted(again, "publish")
    assert tally_of(again.folder).decision == "publish"
    require_published(folder)
    client = signed_in(again)
    view = client.get("/researcher/api/prototype").json()
    assert view["changes"] == [{"place": "q", "before": before, "after": "Which is sharper?"}]
    assert (view["decision"], view["revise"]) == ("publish", 0)


def test_the_researcher_reads_feedback_beside_the_trial(serve_round: Callable[..., Served]) -> None:
    served = serve_round()
    visitor = served.visitor().begin().walk("prototype")
    trial = visitor.state["prototype"]["trials"][2]["trial"]
    visitor.post("prototype", vote="revise", text="both look the same", trials=[trial, "a" * 32], **FEEDBACK)
    client = signed_in(served)
    assert client.get("/researcher/api/overview").json()["prototype"] is True
    view = client.get("/researcher/api/prototype").json()
    assert view["trials"][0]["notes"] == [{"vote": "revise", "text": "both look the same"}]
    assert [len(row["notes"]) for row in view["trials"][1:]] == [0] * (len(view["trials"]) - 1)
    image = view["trials"][0]["images"][0]
    picture = client.get("/researcher/api/prototype/image", params={"image": image})
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/webp")
    assert client.get("/researcher/api/prototype/image", params={"image": "../../study.toml"}).status_code == 404
    stranger = served.client()
    assert stranger.get("/researcher/api/prototype").status_code == 401
    assert stranger.get("/researcher/api/prototype/image", params={"image": image}).status_code == 401


def signed_in(served: Served) -> httpx.Client:
    client = served.client(follow_redirects=True)
    client.get("/researcher", params={"token": served.service.catalogue.secret("researcher")})
    return client
