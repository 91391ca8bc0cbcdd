"""A worker as a child process: frames on its stdin and stdout, its stderr kept for messages."""

import logging
import os
import queue
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from beholder.errors import WorkerError
from beholder.workers.connection import Limits
from beholder.workers.frames import Frame, FrameError, pack_frame, read_frame
from beholder.workers.identity import Identity, read_greeting

logger = logging.getLogger(__name__)

STDERR_LINES = 20
"""Last lines of stderr that a message quotes."""

ENDED = "ended"
"""What the reader reports at the end of the child's stdout."""


class ChildConnection:
    """A child process that is started when it is first needed, and again after it ended or was killed."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        limits: Limits | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Remember the command; nothing is started yet.

        ``environment`` is added to that of this process; ``folder`` is where the command runs.
        """
        self._command = list(command)
        self._limits = limits or Limits()
        self._environment = dict(environment or {})
        self._folder = folder
        self._child: _Child | None = None
        self._identity: Identity | None = None
        self.starts = 0
        """How often a process was started."""

    @property
    def label(self) -> str:
        """The command, as far as it fits into a message."""
        text = " ".join(self._command)
        return text if len(text) <= 100 else f"{text[:99]}…"

    def open(self) -> Identity:
        """Start the process unless it runs, and return its identity."""
        if self._child is not None and self._identity is not None:
            return self._identity
        child = _Child(self._command, self._environment, self._folder, self._limits)
        self.starts += 1
        self._child = child
        try:
            deadline = time.monotonic() + self._limits.start_seconds
            header = self._next(child, deadline, None, "greeting").header
            self._identity = read_greeting(header, self.label)
        except WorkerError:
            self._drop()
            raise
        return self._identity

    def exchange(self, request: Frame) -> Frame:
        """Send a request and return its reply."""
        identity = self.open()
        child = self._child
        if child is None:
            raise WorkerError(f"{self.label}: not running")
        deadline = time.monotonic() + self._limits.reply_seconds
        try:
            child.send(request)
            while True:
                reply = self._next(child, deadline, identity.heartbeat, "reply")
                if reply.header.get("id") == request.header.get("id"):
                    return reply
        except WorkerError:
            self._drop()
            raise

    def close(self) -> None:
        """Close the child's stdin, and kill it if it does not end."""
        child, self._child = self._child, None
        if child is not None:
            child.stop(self._limits.stop_seconds)

    def _next(self, child: "_Child", deadline: float, heartbeat: float | None, what: str) -> Frame:
        """Return the next frame that is no sign of life."""
        silence = heartbeat * self._limits.silence_heartbeats if heartbeat else float("inf")
        while True:
            remaining = deadline - time.monotonic()
            received = child.receive(min(remaining, silence))
            if isinstance(received, Frame):
                if not received.header.get("alive"):
                    return received
            elif received is None:
                seconds = silence if silence < remaining else self._limits.reply_seconds
                seconds = self._limits.start_seconds if what == "greeting" else seconds
                message = f"{self.label}: timeout: no {what} for {seconds:g} s{child.quoted_stderr()}"
                raise WorkerError(message, fault="timeout")
            elif received == ENDED:
                message = f"{self.label}: crashed: {child.describe_end()}{child.quoted_stderr()}"
                raise WorkerError(message, fault="crashed")
            else:
                message = f"{self.label}: not a reply: {received}{child.quoted_stderr()}"
                raise WorkerError(message, fault="not-a-reply")

    def _drop(self) -> None:
        """Kill a child that failed: whatever it still writes belongs to nobody."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()


class _Child:
    """One process with its three threads: writing, reading, and listening to stderr."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None, limits: Limits
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **environment},
                cwd=folder,
                start_new_session=True,  # it ends with its own children, and not by an interrupt of the terminal
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise WorkerError(f"{' '.join(command)}: cannot be started ({reason})", fault="start") from error
        self._frames: queue.SimpleQueue[Frame | str] = queue.SimpleQueue()
        self._outgoing: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._largest = limits.reply_bytes
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._write, self._read, self._listen)
        ]
        for thread in self._threads:
            thread.start()

    def send(self, frame: Frame) -> None:
        """Hand a frame to the thread that writes: a child that does not read must not block this one."""
        self._outgoing.put(pack_frame(frame))

    def receive(self, seconds: float) -> Frame | str | None:
        """Return the next frame, why there is none, or ``None`` where nothing came in time."""
        try:
            return self._frames.get(timeout=min(max(seconds, 0.0), threading.TIMEOUT_MAX))
        except queue.Empty:
            return None

    def stop(self, seconds: float) -> None:
        """Close stdin, wait, and kill what still runs."""
        self._outgoing.put(None)
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            logger.warning("%s did not end within %g s and was killed", self._process.args, seconds)
        self.kill()

    def kill(self) -> None:
        """Kill the process and its own children, and wait for the threads."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self._process.kill()
        self._process.wait()
        self._outgoing.put(None)
        for thread in self._threads:
            thread.join(timeout=1.0)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None and not any(thread.is_alive() for thread in self._threads):
                stream.close()

    def describe_end(self) -> str:
        """Say how the process ended."""
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return "it closed its stdout"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def quoted_stderr(self) -> str:
        """Return the last lines of stderr, as the end of a message."""
        self._threads[-1].join(timeout=0.2)
        lines = [line for line in self._stderr if line.strip()]
        return "".join(f"\n  | {line}" for line in lines)

    def _write(self) -> None:
        stream = self._process.stdin
        if stream is None:
            return
        try:
            while (content := self._outgoing.get()) is not None:
                stream.write(content)
                stream.flush()
        except (BrokenPipeError, ValueError):
            pass  # the reader finds out how it ended
        finally:
            _close_quietly(stream)

    def _read(self) -> None:
        stream = self._process.stdout
        if stream is None:
            return
        try:
            while (frame := read_frame(stream, largest=self._largest)) is not None:
                self._frames.put(frame)
            self._frames.put(ENDED)
        except (FrameError, ValueError) as fault:
            self._frames.put(str(fault))

    def _listen(self) -> None:
        for line in self._process.stderr or ():
            text = line.decode(errors="replace").rstrip()
            self._stderr.append(text[:500])
            logger.debug("worker %d: %s", self._process.pid, text)


def _close_quietly(stream: IO[bytes]) -> None:
    with suppress(BrokenPipeError):
        stream.close()
