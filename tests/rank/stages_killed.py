"""Run by ``test_stages_killed.py``, in a process of its own: the loop, each stage killed on its way to the disk.

For each stage and for several n, ``FOLDER/STAGE-n/killed`` is what lay on the disk when the stage was killed at
its n-th step on the file system, and ``FOLDER/STAGE-n/rerun`` the same after the loop was run again. Polars must
not have begun its threads before a fork, so this process itself touches no frame.
"""

import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.simulate import expectation

KILLED = 9

STAGES: dict[str, Callable[[Path], object]] = {
    "design": design,
    "collect": lambda folder: run_simulated(folder, people=4, bad=1),
    "consolidate": consolidate,
    "rank": rank,
}

KILLS = {
    "design": (1, 2, 3, 4),
    "collect": (1, 4, 7, 8, 11, 14, 16, 19),
    "consolidate": (2, 7, 9, 11, 15),
    "rank": (1, 3, 5, 6, 8),
}
"""At which steps; a table takes four: its temporary file, flush, rename, and the folder's flush."""


def main() -> None:
    folder, prepared = Path(sys.argv[1]), Path(sys.argv[2])
    expectation.HONEST_RATERS = 20  # for speed
    before = prepared
    for stage, run in STAGES.items():
        for n in KILLS[stage]:
            killed, rerun = folder / f"{stage}-{n}" / "killed", folder / f"{stage}-{n}" / "rerun"
            shutil.copytree(before, killed)
            code = in_a_child(lambda: kill_at(n, run, killed))  # noqa: B023 - called at once
            assert code == KILLED, f"{stage} ended with {code} before step {n}"
            shutil.copytree(killed, rerun)
            assert in_a_child(lambda: loop(rerun)) == 0  # noqa: B023
        after = folder / f"after-{stage}"
        shutil.copytree(before, after)
        assert in_a_child(lambda: run(after)) == 0  # noqa: B023
        before = after


def in_a_child(work: Callable[[], object]) -> int:
    """Do it in a copy of this process; the exit code."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def loop(folder: Path) -> None:
    for run in STAGES.values():
        run(folder)


def kill_at(n: int, run: Callable[[Path], object], folder: Path) -> None:
    """Die before the n-th call that makes, flushes or renames a file."""
    steps = itertools.count(1)

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: object, **kwargs: object) -> object:
            if next(steps) == n:
                os._exit(KILLED)
            return call(*args, **kwargs)

        return wrapped

    tempfile.mkstemp = watched(tempfile.mkstemp)
    os.fsync = watched(os.fsync)
    Path.replace = watched(Path.replace)  # type: ignore[method-assign]
    run(folder)


if __name__ == "__main__":
    main()
