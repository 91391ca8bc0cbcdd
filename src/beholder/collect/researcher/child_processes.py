"""Work on the tables in child processes, so that the server stays small and responsive."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from beholder.collect.database.address import DATABASE
from beholder.errors import NoRoomError, RefusedError, UserError

USER_FAULT = 2
NO_ROOM = 3
"""Exit code of a module that found the disk full."""

LONGEST_SECONDS = 900


def run_module(module: str, url: str, *arguments: str | Path | int) -> Any:  # noqa: ANN401 - whatever JSON the module prints
    """Run ``python -m module`` and parse the JSON it prints; an error of the user becomes a refusal.

    The URL of the database goes through the environment: it may hold a password, and arguments are visible.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST_SECONDS,
            env=os.environ | {DATABASE: url},
        )
    except subprocess.TimeoutExpired as error:
        raise RefusedError(504, "too-slow", f"this took more than {LONGEST_SECONDS // 60} minutes") from error
    if done.returncode in (USER_FAULT, NO_ROOM):
        status, code = (507, "disk-full") if done.returncode == NO_ROOM else (409, "cannot")
        raise RefusedError(status, code, done.stderr.strip().removeprefix("error: "))
    if done.returncode:
        raise RuntimeError(f"{module} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def report_failure(error: UserError) -> int:
    """Print an error of the user, and return the exit code of such a module."""
    sys.stderr.write(f"error: {error}\n")
    return NO_ROOM if isinstance(error, NoRoomError) else USER_FAULT


class CachedOutcome:
    """The last outcome of a slow module, cached until its key changes; one computation at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._key: Hashable = None
        self._value: Any = None

    def get(self, key: Hashable, module: str, url: str, *arguments: str | Path) -> Any:  # noqa: ANN401 - JSON
        """Return the outcome for this key, computed unless it is cached."""
        with self._turn:
            if self._key != key or self._value is None:
                self._value, self._key = run_module(module, url, *arguments), key
            return self._value
