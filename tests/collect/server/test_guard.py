"""What stands before every request: headers, limits, and refusals that write nothing."""

import struct
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.server import guard
from beholder.collect.server.guard import ENTRIES, FAULTS, LARGEST_BODY, RETURNS, SIGN_INS, Buckets, network_of
from beholder.collect.session.cookies import RATER_COOKIE, holder_of, token_of
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.display import common_side, display_size, encode
from beholder.images.formats import LARGEST_PIXELS, UndecodableError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]

QUESTION = RealismQuestion(name="q", design=Design(raters=3, trials=4))


def test_headers_on_every_answer(serve: Serve) -> None:
    client = serve(QUESTION).client()
    for path in ("/", "/q/q", "/static/app.js", "/api/health", "/api/state", "/api/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        for part in ("default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors"):
            assert part in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        if path.startswith("/api/"):
            assert headers["cache-control"] == "no-store"


def test_a_body_too_large_is_refused_whether_it_says_so_or_not(serve: Serve) -> None:
    client = serve(QUESTION).client()
    large = b'{"path": "' + b"x" * LARGEST_BODY + b'"}'

    def parts() -> Iterator[bytes]:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for content in (large, parts()):
        reply = client.post("/api/enter", content=content, headers={"content-type": "application/json"})
        assert reply.status_code == 413
        assert reply.json()["detail"]["code"] == "too-large"


TRICKS = (
    "/static/../api.py",
    "/static/..%2f..%2fapi.py",
    "/static/%2e%2e/%2e%2e/database.py",
    "/api/texts/..%2fde",
    "/api/texts/EN",
    "/api/image/..%2f..%2fstudy.toml",
    "/api/image/%00",
    "/static/..\\api.py",
    "/collect.sqlite",
)


def test_no_path_leads_out_of_the_pages(serve: Serve) -> None:
    visitor = serve(QUESTION).visitor().begin()
    for path in TRICKS:
        reply = visitor.client.get(path)
        assert reply.status_code in (404, 422), path
        assert "sqlalchemy" not in reply.text


def test_unknown_keys_wrong_types_and_odd_characters_are_refused(serve: Serve) -> None:
    served = serve(QUESTION)
    visitor = served.visitor().begin()
    before = served.counts()
    bodies: list[tuple[str, bytes]] = [
        ("begin", b'{"more": 1}'),
        ("heartbeat", b"[]"),
        ("heartbeat", b"null"),
        ("heartbeat", b"{"),
        ("heartbeat", b""),
        ("withdraw", b'{"delete": "perhaps"}'),
        ("debrief", b'{"comment": "a\\u0000b"}'),
        ("debrief", b'{"comment": "\\ud800"}'),
        ("debrief", b'{"clear": 1e999}'),
        ("debrief", b'{"clear": NaN}'),
        ("debrief", b'{"comment": ' + b"[" * 5000 + b"]" * 5000 + b"}"),
        ("answer", b'{"trial": "0000000000", "attempt": 1, "key": "kkkkkkkk", "said": [], "seconds": Infinity}'),
        ("enter", b'{"parameters": {"\\ud800": "x"}}'),
        ("enter", b'{"parameters": {"a": 1}}'),
    ]
    for path, body in bodies:
        reply = visitor.client.post(f"/api/{path}", content=body, headers={"content-type": "application/json"})
        assert reply.status_code in (400, 422), (path, body[:60], reply.status_code)
    form = visitor.client.post("/api/withdraw", data={"delete": "true"})  # as another site's form would send it
    assert form.status_code == 422
    plain = visitor.client.post(
        "/api/withdraw", content=b'{"delete": true}', headers={"content-type": "text/plain"}
    )
    assert plain.status_code == 422
    assert served.counts() == before


def test_a_flood_of_refused_requests_is_stopped_for_a_moment(serve: Serve) -> None:
    client = serve(QUESTION).client()
    codes = [client.get("/api/image/guess").status_code for _ in range(FAULTS + 60)]
    assert codes[: FAULTS - 1] == [401] * (FAULTS - 1)
    assert codes[-1] == 429
    refused = client.get("/api/state")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["detail"]["code"] == "too-many"


NEIGHBOUR_FAULTS = 1000


@pytest.fixture
def no_refill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets that stay empty, however slow the machine is."""
    for name in ("ENTRIES", "RETURNS", "SIGN_INS", "FAULTS"):
        monkeypatch.setattr(guard, f"{name}_A_SECOND", 0.0)


def neighbour_faults(served: Any, count: int = NEIGHBOUR_FAULTS, **settings: object) -> list[int]:  # noqa: ANN401
    """What someone behind the same address gets who guesses, with a newly invented cookie each time."""
    client = served.client(**settings)
    codes = []
    for number in range(count):
        invented = f"{number:032x}.{number:032x}"
        reply = client.get("/api/image/guess", headers={"cookie": f"{RATER_COOKIE}={invented}"})
        codes.append(reply.status_code)
    return codes


@pytest.mark.usefixtures("no_refill")
def test_a_valid_session_is_never_refused_for_a_neighbours_faults(serve: Serve) -> None:
    served = serve(RealismQuestion(name="q", design=Design(raters=3, trials=20)))
    rater = served.visitor().begin()
    codes = neighbour_faults(served)
    assert codes == [401] * FAULTS + [429] * (NEIGHBOUR_FAULTS - FAULTS)  # inventing cookies does not help
    for _ in range(10):
        assert rater.answer().status_code == 200
        assert rater.get(f"image/{rater.trial['images'][0]['token']}").status_code == 200
        assert rater.get("state").status_code == 200
        assert neighbour_faults(served, 1) == [429]  # the neighbour still has to wait
    assert not [reply for reply in rater.replies if reply.status_code == 429]


@pytest.mark.usefixtures("no_refill")
def test_someone_new_can_come_in_beside_a_neighbours_faults(serve: Serve) -> None:
    served = serve(QUESTION)
    assert neighbour_faults(served)[-1] == 429
    newcomer = served.visitor()
    for path in ("/", "/q/q", "/static/app.js", "/api/texts/en", "/api/health"):
        assert newcomer.client.get(path).status_code == 200, path
    newcomer.begin().walk()
    assert newcomer.state["done"]["outcome"] == "complete"


@pytest.mark.usefixtures("no_refill")
def test_a_valid_session_comes_in_again_beside_a_flood_of_entries(serve: Serve) -> None:
    served = serve(QUESTION)
    rater, flooding = served.visitor().begin(), served.client()
    body = {"parameters": {}, "path": "/i/guess", "language": "en"}
    codes = [flooding.post("/api/enter", json=body).status_code for _ in range(ENTRIES + 20)]
    assert codes == [403] * (ENTRIES - 1) + [429] * 21  # the rater came in from the same address
    for _ in range(10):
        assert rater.enter().status_code == 200
    again = [rater.enter().status_code for _ in range(RETURNS)]
    assert again == [200] * (RETURNS - 10) + [429] * 10  # its own limit


@pytest.mark.usefixtures("no_refill")
def test_a_session_is_limited_for_its_own_faults_alone(serve: Serve) -> None:
    served = serve(QUESTION)
    faulty, honest = served.visitor().begin(), served.visitor().begin()
    codes = [faulty.get("image/guess").status_code for _ in range(FAULTS + 100)]
    assert codes[0] == 404
    assert codes[-1] == 429
    assert honest.answer().status_code == 200
    assert served.client().get("/api/state").status_code == 401  # nor is anybody else behind the address


@pytest.mark.usefixtures("no_refill")
def test_the_researcher_works_on_beside_a_neighbours_faults(serve: Serve) -> None:
    served = serve(QUESTION)
    researcher = served.client(follow_redirects=True)
    token = served.service.catalogue.secret("researcher")
    assert researcher.get("/researcher", params={"token": token}).status_code == 200
    assert researcher.get("/researcher/api/overview").status_code == 200
    assert neighbour_faults(served)[-1] == 429
    for _ in range(20):
        assert researcher.get("/researcher/api/overview").status_code == 200
    invented = served.client(cookies={"beholder_researcher": "x", "beholder_researcher_pass": "y"})
    assert invented.get("/researcher/api/overview").status_code == 429
    late = served.client(follow_redirects=True)  # signing in is counted apart from faults
    assert late.get("/researcher", params={"token": token}).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_guessing_the_researchers_token_is_limited(serve: Serve) -> None:
    client = serve(QUESTION).client()
    codes = [client.post("/researcher", data={"token": f"guess-{n}"}).status_code for n in range(SIGN_INS + 20)]
    assert codes == [403] * SIGN_INS + [429] * 20


def test_cookies_of_before_still_work_and_invented_stamps_do_not(serve: Serve) -> None:
    served = serve(QUESTION)
    rater = served.visitor().begin()
    cookie = rater.client.cookies[RATER_COOKIE]
    key = served.service.catalogue.secret("token")
    assert holder_of(key, {RATER_COOKIE: cookie}, researcher=False) == cookie
    assert holder_of("another key", {RATER_COOKIE: cookie}, researcher=False) is None
    for invented in (token_of(cookie), f"{token_of(cookie)}.", "." + cookie, cookie[:-1], "é." + cookie, ""):
        assert holder_of(key, {RATER_COOKIE: invented}, researcher=False) is None
    old = served.client(cookies={RATER_COOKIE: token_of(cookie)})
    assert old.get("/api/state").json()["step"] == "trial"


def test_an_address_of_version_6_is_counted_by_its_network() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9")
    assert network_of("2001:db8:1:2::1") != network_of("2001:db8:1:3::1")
    assert network_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert network_of("192.0.2.1") == "192.0.2.1"
    assert network_of("fe80::1%eth0") == network_of("fe80::2")
    assert network_of("a:b") == "a:b"


def test_a_bucket_fills_up_again_and_forgets() -> None:
    now = [0.0]
    buckets = Buckets(3, 0.5, clock=lambda: now[0])
    for _ in range(3):
        assert not buckets.is_empty("a")
        buckets.take("a")
    assert buckets.is_empty("a")
    assert not buckets.is_empty("b")
    now[0] = 1.9
    assert buckets.is_empty("a")
    now[0] = 2.0
    assert not buckets.is_empty("a")
    now[0] = 100.0
    for number in range(20_000):
        buckets.take(str(number))
        assert len(buckets._left) <= 10_000
    assert ENTRIES >= 300  # a whole class may come in at once


class TestPictures:
    def test_sizes(self) -> None:
        assert display_size(100, 50, 40) == (40, 20)
        assert display_size(30, 20, 40) == (30, 20)  # never enlarged
        assert display_size(4000, 1, 40) == (40, 1)
        assert common_side([(300, 200), (100, 250)], 0) == 250
        assert common_side([(3000, 2000)], 0) == 1024
        assert common_side([(300, 200)], 512) == 512

    def test_an_image_of_too_many_pixels_is_not_decoded(self, tmp_path: Path) -> None:
        assert LARGEST_PIXELS < 20000 * 20000
        for side in (11_000, 20_000):  # above our limit, and above twice Pillow's own
            header = b"BM" + struct.pack("<IHHIIiiHHIIiiII", 0, 0, 0, 54, 40, side, side, 1, 24, 0, 0, 0, 0, 0, 0)
            path = tmp_path / "bomb.bmp"
            path.write_bytes(header + b"\0" * 1000)
            warned = pytest.warns() if side < 13_000 else nullcontext()  # Pillow's own warning
            with warned, pytest.raises(UndecodableError, match="larger"):
                encode(path, 512, 92, DEFAULT_BACKGROUND)
