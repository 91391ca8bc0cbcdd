"""Who may open the researcher's page, and what a change needs."""

import httpx
import pytest
from tests.collect.conftest import Serve, Served

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

DEEDS: dict[str, dict[str, str | int]] = {
    "pause": {"reason": ""},
    "resume": {"reason": ""},
    "extend": {"question": "q", "slots": 1},
    "exclude": {"rater": "r-1", "reason": "x"},
    "include": {"rater": "r-1", "reason": "x"},
    "invite": {"count": 1},
    "close": {"session": "s-1"},
}
READ = ("overview", "raters", "comments", "results", "export/csv")


@pytest.fixture
def served(serve: Serve) -> Served:
    return serve(RealismQuestion(name="q", design=Design(raters=2, trials=4)))


def token_of(served: Served) -> str:
    return str(served.rows("select value from secrets where name = 'researcher'")[0][0])


def sign_in(served: Served) -> httpx.Client:
    client: httpx.Client = served.client(follow_redirects=True)
    assert client.get("/researcher", params={"token": token_of(served)}).status_code == 200
    return client


def test_the_link_sets_a_cookie_and_hides_the_token(served: Served) -> None:
    client = served.client()
    token = token_of(served)
    reply = client.get("/researcher", params={"token": token})
    assert reply.status_code == 303
    assert reply.headers["location"] == "/researcher"
    cookie = reply.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/researcher"):
        assert part in cookie
    assert token not in cookie
    page = client.get("/researcher")
    assert page.status_code == 200
    assert token not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"


def test_the_form_does_the_same(served: Served) -> None:
    client = served.client(follow_redirects=True)
    reply = client.post("/researcher", data={"token": f" {token_of(served)} "})
    assert (reply.status_code, reply.url.path, reply.url.query) == (200, "/researcher", b"")
    assert client.get("/researcher/api/overview").status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "ä", "x" * 5000])
def test_a_wrong_token_is_refused_and_asked_for_again(served: Served, token: str) -> None:
    client = served.client()
    for reply in (
        client.get("/researcher", params={"token": token}),
        client.post("/researcher", data={"token": token}),
    ):
        assert reply.status_code == 403
        assert "set-cookie" not in reply.headers
        assert 'data-case="token">' in reply.text
    plain = client.get("/researcher")
    assert plain.status_code == 401
    assert 'data-case="token" hidden' in plain.text
    assert '<form method="post" action="researcher">' in plain.text


@pytest.mark.parametrize("path", READ)
def test_nothing_is_told_without_the_cookie(served: Served, path: str) -> None:
    for cookie in (None, "wrong", token_of(served)):
        client = served.client()
        if cookie:
            client.cookies.set("beholder_researcher", cookie, path="/researcher")
        reply = client.get(f"/researcher/api/{path}")
        assert reply.status_code == 401
        assert reply.json()["detail"]["code"] == "not-signed-in"


@pytest.mark.parametrize("deed", DEEDS)
def test_every_change_needs_the_cookie_and_the_header(served: Served, deed: str) -> None:
    before = served.counts()
    stranger = served.client()
    assert stranger.post(f"/researcher/api/{deed}", json=DEEDS[deed]).status_code == 401
    client = sign_in(served)
    csrf = client.get("/researcher/api/overview").json()["csrf"]
    for headers in ({}, {"X-Beholder-CSRF": "wrong"}, {"X-Beholder-CSRF": csrf[:-1]}):
        reply = client.post(f"/researcher/api/{deed}", json=DEEDS[deed], headers=headers)
        assert reply.status_code == 403
        assert reply.json()["detail"]["code"] == "no-csrf"
    stolen = stranger.post(f"/researcher/api/{deed}", json=DEEDS[deed], headers={"X-Beholder-CSRF": csrf})
    assert stolen.status_code == 401
    assert served.counts() == before


def test_a_raters_cookie_opens_nothing(served: Served) -> None:
    visitor = served.visitor().begin()
    assert visitor.client.get("/researcher/api/overview").status_code == 401
    assert visitor.client.get("/researcher/preview/q").status_code == 401


def test_other_sites_are_told_nothing(served: Served) -> None:
    client = sign_in(served)
    reply = client.get("/researcher/api/overview", headers={"Origin": "https://evil.example"})
    assert not [name for name in reply.headers if name.startswith("access-control")]
    reply = client.options("/researcher/api/pause", headers={"Origin": "https://evil.example"})
    assert reply.status_code == 405


def test_generators_never_reach_a_rater(served: Served) -> None:
    visitor = served.visitor().begin().walk()
    all_replies = " ".join(reply.text for reply in visitor.replies)
    for secret in ("zephyr", "quasar", "nimbus", "generator", "gold"):
        assert secret not in all_replies
