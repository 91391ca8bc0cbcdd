"""Work that needs the tables, done in processes of their own: the server stays small and goes on answering."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any

from beholder.collect.database.schema import DATABASE
from beholder.errors import NoRoomError, RefusedError, UserError

USER_FAULT = 2
NO_ROOM = 3
"""With this a module ends that found the disk full."""

LONGEST_SECONDS = 900


def run_module(module: str, url: str, *arguments: str | Path | int) -> Any:  # noqa: ANN401 - whatever JSON the module prints
    """Run ``python -m module`` and read the JSON it prints; its fault of the user becomes a refusal.

    The address of the database goes through the environment: it may hold a password, and others see arguments.
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


def failed(error: UserError) -> int:
    """How such a module ends at a fault of the user: the message, and the code that goes with it."""
    sys.stderr.write(f"error: {error}\n")
    return NO_ROOM if isinstance(error, NoRoomError) else USER_FAULT


class Remembered:
    """The last outcome of slow work, kept as long as what it rests on has not changed; one at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._key: Hashable = None
        self._value: Any = None

    def get(self, key: Hashable, module: str, url: str, *arguments: str | Path) -> Any:  # noqa: ANN401 - JSON
        """The outcome for this key, computed if it is not the one at hand."""
        with self._turn:
            if self._key != key or self._value is None:
                self._value, self._key = run_module(module, url, *arguments), key
            return self._value
