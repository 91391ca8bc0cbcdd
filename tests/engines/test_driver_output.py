"""What Ray's threads print goes to stderr, what this process prints to stdout."""

import sys
import threading

import pytest

from beholder.engines.driver_output import spoken_on_stderr


class Chatty:
    """Prints from a thread of its own, as Ray does, and when it is connected and disconnected."""

    def __init__(self) -> None:
        self.died, self.ended = threading.Event(), threading.Event()

    def connect(self) -> None:
        print("connected")
        threading.Thread(target=self._listen).start()

    def _listen(self) -> None:
        self.died.wait(10)
        print("(raylet) a worker died")
        sys.stdout.write("whose fault was that?\n")
        self.ended.set()

    def speak(self) -> None:
        self.died.set()
        assert self.ended.wait(10)

    def fail(self) -> None:
        self.speak()
        raise AssertionError

    def disconnect(self) -> None:
        print("not printed until now")


def test_only_what_this_process_prints_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    ray, own = Chatty(), sys.stdout
    with spoken_on_stderr(ray.connect, ray.disconnect):
        print("first")
        ray.speak()
        other = threading.Thread(target=print, args=["second"])
        other.start()
        other.join()
        assert sys.stdout.encoding == own.encoding
    assert sys.stdout is own
    printed = capsys.readouterr()
    assert printed.out.splitlines() == ["first", "second"]
    assert printed.err.splitlines() == [
        "connected",
        "(raylet) a worker died",
        "whose fault was that?",
        "not printed until now",
    ]


def test_stdout_is_put_back_after_an_error_and_a_refused_connection() -> None:
    own = sys.stdout
    ray = Chatty()
    with pytest.raises(AssertionError), spoken_on_stderr(ray.connect, ray.disconnect):
        ray.fail()
    assert sys.stdout is own

    def refuse() -> None:
        raise ConnectionError

    with pytest.raises(ConnectionError), spoken_on_stderr(refuse, ray.disconnect):
        pass
    assert sys.stdout is own


def test_a_stream_that_someone_put_there_meanwhile_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Chatty()
    with spoken_on_stderr(ray.connect, ray.disconnect):
        monkeypatch.setattr(sys, "stdout", sys.stderr)
        ray.speak()
    assert sys.stdout is sys.stderr
