"""Start the processes that train together on one machine: ``beholder learn … --processes N``.

They find each other by torch's environment variables through a store that this process serves, so that no port is
chosen before it is used. On several machines ``torchrun`` or ``accelerate launch`` start the same command.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import IO

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # torch re-exports it

HOST = "127.0.0.1"
PATIENCE_SECONDS = 20.0
"""How long the others have to end by themselves once a process has failed."""

POLL_SECONDS = 0.1
USERS_FAULT = 2
"""Exit code of an error that the user can mend."""


def run_in_processes(command: Sequence[str], processes: int) -> int:
    """Run ``beholder`` with these arguments in several processes that train together; return the exit code.

    The first process alone prints. If another one fails, what it printed is shown.
    """
    store = TCPStore(HOST, 0, is_master=True, wait_for_workers=False, timeout=timedelta(minutes=5))
    with tempfile.TemporaryFile() as messages:
        started = [
            _start(command, rank, processes, store.port, messages if rank else None) for rank in range(processes)
        ]
        try:
            codes = _wait(started)
        finally:
            for process in started:
                process.kill()
                process.wait()
        if any(codes[1:]) and codes[0] != USERS_FAULT:  # which all of them find, and the first has printed
            messages.seek(0)
            sys.stderr.write(messages.read().decode(errors="replace"))
    return next((code for code in codes if code), 0)


def _start(
    command: Sequence[str], rank: int, processes: int, port: int, messages: IO[bytes] | None
) -> subprocess.Popen[bytes]:
    threads = str(max((os.cpu_count() or 1) // processes, 1))
    environment = {"OMP_NUM_THREADS": threads} | os.environ
    environment |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(processes),
        "LOCAL_WORLD_SIZE": str(processes),
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",
        "TORCHELASTIC_RESTART_COUNT": "0",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "beholder", *command],
        env=environment,
        stdout=None if messages is None else subprocess.DEVNULL,
        stderr=messages,
    )


def _wait(started: Sequence[subprocess.Popen[bytes]]) -> list[int]:
    """Wait until all processes have ended; once one has failed, the others have to end soon. Return exit codes.

    A process that had to be ended counts as successful: it is not the cause.
    """
    failed_at: float | None = None
    while any(process.poll() is None for process in started):
        if failed_at is None and any(process.returncode for process in started):
            failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() - failed_at > PATIENCE_SECONDS:
            break
        time.sleep(POLL_SECONDS)
    return [process.poll() or 0 for process in started]
