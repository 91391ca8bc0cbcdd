"""Control characters in whatever a researcher's browser sends are refused, and never a failure of the server."""

from urllib.parse import quote

import httpx
import pytest
from tests.collect.conftest import Serve, Served
from tests.collect.researcher.test_access import DEEDS, sign_in

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

CONTROLS = ("\0", "\x01", "\x1b", "\x7f", "\x85")
QUERIES = (
    "raters?question={}",
    "raters?question=q{}",
    "raters?offset={}",
    "raters?limit={}",
    "export/{}",
    "export/csv{}",
)
PAGES = ("/researcher?token={}", "/researcher/preview/{}", "/researcher/preview/q{}", "/researcher/preview/api/{}")


def send_controls(client: httpx.Client, control: str) -> dict[str, int]:
    """Put a control character into every text that the researcher's interface takes: request -> status."""
    csrf = {"X-Beholder-CSRF": client.get("/researcher/api/overview").json()["csrf"]}
    statuses: dict[str, int] = {}
    for deed, body in DEEDS.items():
        names = {
            "reason",
            *(["note"] if deed == "invite" else []),
            *(n for n, v in body.items() if isinstance(v, str)),
        }
        for name in sorted(names):
            for text in (control, f"q{control}"):
                reply = client.post(f"/researcher/api/{deed}", json={**body, name: text}, headers=csrf)
                statuses[f"{deed} {name} {text!r}"] = reply.status_code
    for path in (*(f"/researcher/api/{query}" for query in QUERIES), *PAGES):
        statuses[path] = client.get(path.format(quote(control))).status_code
    for fields in ({"name": control, "password": control}, {"token": control}):
        statuses[f"form {sorted(fields)}"] = client.post("/researcher", data=fields).status_code
    client.get("/researcher/preview/q")
    entry = {"parameters": {}, "path": control, "language": control}
    entered = client.post("/researcher/preview/api/enter", json=entry).status_code
    statuses["preview enter"] = 400 if entered == 200 else entered  # a language that is not known is no fault
    return statuses


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(RealismQuestion(name="q", design=Design(raters=2, trials=4)), limited=False)


@pytest.mark.parametrize("control", CONTROLS)
def test_every_text_with_a_control_character_is_refused(served: Served, control: str) -> None:
    client, before = sign_in(served), served.counts()
    for request, status in send_controls(client, control).items():
        expected = (422,) if request.split()[0] in DEEDS or "question=" in request else range(400, 500)
        assert status in expected, (request, status)
    assert served.counts() == before


def test_a_reason_may_have_several_lines(served: Served) -> None:
    client = sign_in(served)
    csrf = client.get("/researcher/api/overview").json()["csrf"]
    body = {"reason": "first line\r\n\tsecond line – “quoted”, 日本"}
    assert client.post("/researcher/api/pause", json=body, headers={"X-Beholder-CSRF": csrf}).status_code == 200
