"""HEAD tells what GET would, without the content."""

import pytest
from tests.collect.conftest import Serve

from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

PATHS = ("/", "/q/q", "/i/x", "/r/x", "/researcher", "/api/health", "/api/texts/en", "/static/app.js", "/nothing")


def test_the_same_headers_and_no_body(serve: Serve) -> None:
    client = serve(RealismQuestion(name="q", design=Design(raters=2, trials=4))).client()
    for path in PATHS:
        head, get = client.head(path), client.get(path)
        assert head.status_code == get.status_code, path
        assert head.content == b"", path
        for name in ("content-length", "content-type", "content-security-policy"):
            assert head.headers.get(name) == get.headers.get(name), (path, name)
    assert client.head("/api/begin").status_code == 405  # there is nothing to get


@pytest.mark.parametrize("method", ["PUT", "DELETE", "TRACE"])
def test_other_methods_are_not_taken(serve: Serve, method: str) -> None:
    client = serve(RealismQuestion(name="q", design=Design(raters=2, trials=4))).client()
    assert client.request(method, "/").status_code == 405
