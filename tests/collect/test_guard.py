"""What stands before every request: headers, limits, and refusals that write nothing."""

import struct
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.guard import ENTRIES, FAULTS, LARGEST_BODY, Buckets
from beholder.images.display import UndisplayableError, common_side, display_size, encode
from beholder.images.formats import LARGEST_PIXELS
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
    refused = client.get("/api/health")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "1"
    assert refused.json()["detail"]["code"] == "too-many"


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
            with warned, pytest.raises(UndisplayableError, match="larger"):
                encode(path, 512, 92)
