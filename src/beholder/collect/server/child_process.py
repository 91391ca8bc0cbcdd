"""Child processes of the command that starts the server: work on the tables thus costs the server no memory."""

import os
import subprocess
import sys
from pathlib import Path

from beholder.collect.database.address import DATABASE
from beholder.errors import StageError

GO = "go\n"
"""What a waiting child is sent."""


def run_child(*arguments: str | Path, url: str = "") -> str:
    """Run ``python -m …`` and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {DATABASE: url},
    )
    return _output(str(arguments[0]), done.returncode, done.stdout, done.stderr)


class WaitingChild:
    """A ``python -m …`` that imports its modules at once and waits until it is told to work."""

    def __init__(self, module: str, *arguments: str | Path, url: str = "") -> None:
        self._module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {DATABASE: url},
        )

    def work(self) -> str:
        """Tell it to work, and return what it prints."""
        out, errors = self._process.communicate(GO)
        return _output(self._module, self._process.returncode, out, errors)

    def dismiss(self) -> None:
        """End it, unless it has worked: nothing was done."""
        if self._process.returncode is None:
            self._process.kill()
            self._process.communicate()


def _output(module: str, code: int, out: str, errors: str) -> str:
    if code == 2:
        raise StageError(errors.strip().removeprefix("error: "))
    if code:
        raise RuntimeError(f"{module} failed:\n{errors}")
    return out.strip()
