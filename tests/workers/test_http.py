"""A worker over HTTP: the same frames, with a token, on a real port."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import numpy as np
import pytest

from beholder.errors import RefusalError, UserError, WorkerError
from beholder.workers.client import Worker
from beholder.workers.connection import Limits
from beholder.workers.http_connection import HttpConnection
from beholder.workers.messages import ImageReply, ImageRequest, Vectors
from beholder.workers.serve_http import TOKEN, make_server
from beholder.workers.service import Service


def paint(request: ImageRequest) -> ImageReply:
    if request.prompt == "refuse":
        raise RefusalError("not that")
    if request.prompt == "fail":
        raise ZeroDivisionError("by zero")
    return ImageReply(f"{request.prompt} {request.seed} {request.width}".encode(), prompt=request.prompt.upper())


def embed(texts: Sequence[str]) -> Vectors:
    return np.array([[len(text), 1.5] for text in texts], np.float32)


SERVICE = Service("echo", weights="ab" * 32, settings={"steps": 4}, generate=paint, embed=embed)


@contextmanager
def served(token: str = "") -> Iterator[str]:
    server = make_server(SERVICE, "127.0.0.1:0", token)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def test_every_reply_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    with served() as url, Worker(HttpConnection(url)) as worker:
        assert str(worker.identity) == "echo@abababababab"
        assert worker.identity.settings == {"steps": 4}
        assert worker.identity.tasks == ("generate", "embed")
        reply = worker.generate(ImageRequest(prompt="a cat", seed=3, width=64))
        assert (reply.content, reply.prompt) == (b"a cat 3 64", "A CAT")
        assert reply.usage.peak_memory_mb is not None
        assert reply.usage.peak_memory_mb > 1
        assert worker.embed(["abc", ""]).tolist() == [[3.0, 1.5], [0.0, 1.5]]
        with pytest.raises(RefusalError, match="not that"):
            worker.generate(ImageRequest(prompt="refuse"))
        with pytest.raises(WorkerError, match="ZeroDivisionError: by zero"):
            worker.generate(ImageRequest(prompt="fail"))
    assert "in paint" in capsys.readouterr().err  # the traceback is the worker's


def test_a_token_must_be_the_same_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    with served("secret") as url:
        with pytest.raises(WorkerError, match="status 401: the token is missing or wrong"):
            HttpConnection(url).open()
        monkeypatch.setenv(TOKEN, "secret")
        assert HttpConnection(url).open().name == "echo"


def test_other_machines_are_served_with_a_token_only() -> None:
    with pytest.raises(UserError, match=r"0\.0\.0\.0:0: other machines could use this worker"):
        make_server(SERVICE, "0.0.0.0:0", "")
    with pytest.raises(UserError, match="'8200' is not of the form HOST:PORT"):
        make_server(SERVICE, "8200", "")


def test_what_is_no_worker() -> None:
    with pytest.raises(WorkerError, match="cannot be reached"):
        HttpConnection("http://127.0.0.1:9/", limits=Limits(start_seconds=2)).open()
    with served() as url:
        assert httpx.post(url, content=b"hello\n").status_code == 400
        assert httpx.post(url, content=b"").status_code == 400
        with pytest.raises(WorkerError, match="more than 10 bytes"):
            HttpConnection(url, limits=Limits(reply_bytes=10)).open()
