"""Any command as a generator: run once per image, without a shell."""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

from beholder.errors import RefusalError, WorkerError
from beholder.generators.template import fill, filling_of
from beholder.study.generating import CommandGenerator
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, ImageRequest, Usage

LARGEST_IMAGE = 256_000_000
STDERR_BYTES = 2000
POLL_SECONDS = (0.001, 0.05)
"""Time between two looks whether the command has ended: from the first to the second, growing."""


class Command:
    """Fills the placeholders of a command, runs it, and reads the image from a file or from stdout.

    The request is on the command's stdin as well, as one line of JSON: prompts need not be arguments.
    """

    seeded = True
    concurrency = 1

    def __init__(self, settings: CommandGenerator, base: Path) -> None:
        """Remember the command; it runs in the folder ``base``."""
        self._settings = settings
        self._base = base
        recorded = {"command": list(settings.command), "version": settings.version}
        self._identity = Identity(name=Path(settings.command[0]).name, tasks=("generate",), settings=recorded)

    @property
    def identity(self) -> Identity:
        """The command as the study has it; its weights are not known."""
        return self._identity

    def generate(self, request: ImageRequest) -> ImageReply:
        """Run the command for one image."""
        with tempfile.TemporaryDirectory(prefix="beholder-") as folder, tempfile.TemporaryFile() as stderr:
            output = Path(folder) / "image"
            with output.with_suffix(".stdout").open("w+b") as stdout:
                usage = self._run(self._filled(request, output), request, stdout, stderr)
                to_file = any("{output}" in part for part in self._settings.command)
                content = _read(output) if to_file else _read(Path(stdout.name))
        return ImageReply(content, usage=usage)

    def close(self) -> None:
        """Nothing is open."""

    def _filled(self, request: ImageRequest, output: Path) -> list[str]:
        filling = filling_of(request, str(output))
        return [fill(part, filling) for part in self._settings.command]

    def _run(self, command: list[str], request: ImageRequest, stdout: IO[bytes], stderr: IO[bytes]) -> Usage:
        began = time.monotonic()
        with tempfile.TemporaryFile() as stdin:
            stdin.write(json.dumps(request.model_dump(mode="json"), ensure_ascii=False).encode() + b"\n")
            stdin.seek(0)
            try:
                process = subprocess.Popen(
                    command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=self._base, start_new_session=True
                )
            except OSError as error:
                message = f"{command[0]}: cannot be started ({error.strerror or error})"
                raise WorkerError(message, fault="start") from error
        ended = _wait(process, began + self._settings.timeout)
        if ended is None:
            message = f"timeout: no image for {self._settings.timeout:g} s{_quoted(stderr)}"
            raise WorkerError(message, fault="timeout")
        code, used = ended
        if code and code == self._settings.refused_code:
            raise RefusalError(_quoted(stderr, prefix="") or f"exit code {code}")
        if code < 0:
            raise WorkerError(f"crashed: killed by {signal.Signals(-code).name}{_quoted(stderr)}", fault="crashed")
        if code:
            raise WorkerError(f"crashed: exit code {code}{_quoted(stderr)}", fault="crashed")
        return Usage(
            seconds=time.monotonic() - began,
            cpu_seconds=used.ru_utime + used.ru_stime,
            peak_memory_mb=_peak_memory_mb(used),
        )


def _peak_memory_mb(used: resource.struct_rusage) -> float | None:
    """The command's largest resident memory in megabytes; None where it stayed below that of this process.

    A process that is started counts the memory of the one that started it, so less cannot be distinguished.
    """
    if used.ru_maxrss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
        return None
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _wait(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[int, resource.struct_rusage] | None:
    """Return exit code and usage; ``None`` where the command and its children were killed at the deadline."""
    pause, longest = POLL_SECONDS
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used
        if time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
        time.sleep(pause)
        pause = min(pause * 1.5, longest)


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise WorkerError("the command ended without an error, but wrote no image", fault="not-an-image")
    if path.stat().st_size > LARGEST_IMAGE:
        raise WorkerError(f"an image of more than {LARGEST_IMAGE:,} bytes", fault="not-an-image")
    return path.read_bytes()


def _quoted(stderr: IO[bytes], prefix: str = "\n  | ") -> str:
    """Return the last lines that the command wrote to stderr."""
    stderr.seek(0, os.SEEK_END)
    stderr.seek(max(stderr.tell() - STDERR_BYTES, 0))
    lines = [line for line in stderr.read().decode(errors="replace").splitlines() if line.strip()][-20:]
    return "".join(f"{prefix}{line}" for line in lines) if prefix else " ".join(lines)
