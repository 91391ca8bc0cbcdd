"""A child process as a worker: it is started again after every way in which it can fail."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.errors import RefusalError, WorkerError
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.connection import Limits
from beholder.workers.messages import ImageRequest

FAULTY = Path(__file__).with_name("faulty_worker.py")
LIMITS = Limits(start_seconds=20, reply_seconds=20, stop_seconds=5)


def connect(mode: str = "", limits: Limits = LIMITS) -> ChildConnection:
    return ChildConnection([sys.executable, "-S", str(FAULTY), mode], limits=limits)


@pytest.fixture
def connection() -> ChildConnection:
    return connect()


@pytest.fixture
def worker(connection: ChildConnection) -> Iterator[Worker]:
    with Worker(connection) as worker:
        yield worker


def test_it_serves_request_after_request(worker: Worker, connection: ChildConnection) -> None:
    first = worker.generate(ImageRequest(prompt="a cat", seed=1))
    second = worker.generate(ImageRequest(prompt="a dog"))
    assert first.content == second.content  # the same process
    assert second.prompt == "a dog!"
    assert connection.starts == 1
    assert str(worker.identity) == "faulty"
    assert worker.score([b"abc", b""], ["x", None]).tolist() == [3.0, 0.0]


def test_it_ends_when_the_client_closes_it(worker: Worker) -> None:
    process = int(worker.generate(ImageRequest(prompt="a cat")).content)
    os.kill(process, 0)
    worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert worker.generate(ImageRequest(prompt="a cat")).content != str(process).encode()


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("crash", r"crashed: killed by SIGSEGV\n  \| segfault ahead"),
        ("exit", "crashed: ended with exit code 4"),
        ("garbage", "not a reply: a line of JSON with an object is expected, found: Traceback"),
        ("huge", "not a reply: announces 99,999,999,999 bytes; at most 1,000,000,000 are accepted"),
    ],
)
def test_it_is_started_again_after_a_failure(
    worker: Worker, connection: ChildConnection, prompt: str, message: str
) -> None:
    before = worker.generate(ImageRequest(prompt="a cat")).content
    with pytest.raises(WorkerError, match=message):
        worker.generate(ImageRequest(prompt=prompt))
    assert worker.generate(ImageRequest(prompt="a cat")).content != before
    assert connection.starts == 2


def test_what_it_declines_or_cannot_do_does_not_end_it(worker: Worker, connection: ChildConnection) -> None:
    with pytest.raises(RefusalError, match=r"^not allowed$"):
        worker.generate(ImageRequest(prompt="refuse"))
    with pytest.raises(WorkerError, match="no idea"):
        worker.generate(ImageRequest(prompt="fail"))
    with pytest.raises(WorkerError, match="a reply with one image is expected, found 0 blobs"):
        worker.generate(ImageRequest(prompt="short"))
    with pytest.raises(WorkerError, match="cannot features; its tasks are: generate, score, embed"):
        worker.features([b"x"])
    with pytest.raises(WorkerError, match="numbers that are not finite"):
        worker.embed(["x"])
    assert connection.starts == 1


def test_a_reply_to_another_request_is_not_mistaken_for_this_one(worker: Worker) -> None:
    assert worker.generate(ImageRequest(prompt="late")).content == b"of this request"


def test_a_hanging_worker_is_killed_in_time() -> None:
    began = time.monotonic()
    with Worker(connect(limits=Limits(start_seconds=20, reply_seconds=0.3))) as worker:
        process = int(worker.generate(ImageRequest(prompt="a cat")).content)
        with pytest.raises(WorkerError, match=r"timeout: no reply for 0\.3 s"):
            worker.generate(ImageRequest(prompt="hang"))
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)
    assert time.monotonic() - began < 20


def test_a_worker_that_misses_its_heartbeats_counts_as_hanging() -> None:
    """Ten heartbeats of 0.05 s: long before the time limit of the request."""
    with Worker(connect("silent")) as worker, pytest.raises(WorkerError, match=r"timeout: no reply for 0\.5 s"):
        worker.generate(ImageRequest(prompt="hang"))


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("version", "speaks version 99 of the protocol; this beholder speaks version 1"),
        ("nameless", "its greeting is not valid: name: Field required"),
        ("stillborn", r"crashed: ended with exit code 3\n  \| out of memory\n  \| CUDA is not there"),
        ("mute", "timeout: no greeting for 0.5 s"),
        ("chatty", "not a reply: a line of JSON with an object is expected, found: Loading pipeline"),
    ],
)
def test_a_worker_that_does_not_greet(mode: str, message: str) -> None:
    limits = Limits(start_seconds=0.5 if mode == "mute" else 20)
    with Worker(connect(mode, limits)) as worker, pytest.raises(WorkerError, match=message):
        _ = worker.identity


def test_a_command_that_does_not_exist() -> None:
    with pytest.raises(WorkerError, match="no-such-program: cannot be started"):
        ChildConnection(["no-such-program"]).open()
