"""Run by ``test_killed.py``, in a process of its own: a stage that writes three tables and is killed on the way.

``steps FOLDER``: for n = 1, 2, … kill the stage at its n-th step on the file system, keep what lies on the disk
as ``FOLDER/killed-n``, run the stage again and keep that as ``FOLDER/rerun-n``; until n is past the last step.
Polars must not have begun its threads before a fork, so this process itself touches no frame.

``grow FOLDER``: write ever larger tables without end.
"""

import itertools
import os
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from beholder.tables.catalogue import TABLES
from beholder.tables.check import conform
from beholder.tables.provenance import Provenance
from beholder.tables.stages import Step
from beholder.tables.store import Store
from beholder.tables.work import Work, perform

KILLED = 9


def main() -> None:
    mode, folder = sys.argv[1], Path(sys.argv[2])
    if mode == "steps":
        steps(folder)
    else:
        grow(folder)


def steps(folder: Path) -> None:
    for old in (False, True):
        room = folder / ("with-old" if old else "fresh")
        in_a_child(lambda: prepare(room / "before", old=old))  # noqa: B023 - called at once
        shutil.copytree(room / "before", room / "undisturbed")
        assert in_a_child(lambda: collect(room / "undisturbed", 20)) == 0  # noqa: B023
        for n in itertools.count(1):
            killed, rerun = room / f"killed-{n}", room / f"rerun-{n}"
            shutil.copytree(room / "before", killed)
            code = in_a_child(lambda: collect(killed, 20, kill_at=n))  # noqa: B023
            assert code in (0, KILLED)
            shutil.copytree(killed, rerun)
            assert in_a_child(lambda: collect(rerun, 20)) == 0  # noqa: B023
            if code == 0:
                break


def in_a_child(work: Callable[[], None]) -> int:
    """Do it in a copy of this process; the exit code."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def prepare(folder: Path, *, old: bool) -> None:
    trials = [
        {"trial": f"t{i}", "question": "q", "kind": "sweep", "slot": i, "position": 0, "block": 0, "role": "test"}
        | {"images": [], "propensity": 1.0}
        for i in range(20)
    ]
    Store(folder).write({"trials": TABLES["trials"].frame(trials)}, Provenance("design", {}, 0, {}))
    if old:
        collect(folder, 10)


def collect(folder: Path, people: int, kill_at: int | None = None) -> None:
    """The stage. Its outputs are named in an order that is not the order of the references."""
    step = Step("collect", inputs=("trials",), outputs=("marks", "answers", "sessions"))
    work = Work(step, {"people": people}, 0)
    if kill_at is not None:
        watch(kill_at)
    perform(Store(folder), work, lambda _: tables(people))


def tables(people: int) -> dict[str, pl.DataFrame]:
    """A session, an answer and a mark for each person; those of fewer people are the first of these."""
    i = pl.int_range(people, eager=True).cast(pl.String)
    noon = pl.lit(datetime(2025, 5, 1, 12, tzinfo=UTC))
    keys = pl.DataFrame({"trial": "t" + i, "session": "s" + i, "rater": "r" + i}).with_columns(
        question=pl.lit("q")
    )
    frames = {
        "sessions": keys.drop("trial").with_columns(
            status=pl.lit("complete"), started=noon, simulated=pl.lit(value=True)
        ),
        "answers": keys.with_columns(
            aspect=pl.lit("realism"), attempt=pl.lit(1, pl.Int64), seconds=pl.lit(1.0)
        ).with_columns(valid=pl.lit(value=True), answered=noon),
        "marks": keys.select("trial", "session").with_columns(
            aspect=pl.lit("hit"), number=pl.lit(0, pl.Int64), kind=pl.lit("press")
        ),
    }
    return {name: conform(frame, TABLES[name]) for name, frame in frames.items()}


def watch(kill_at: int) -> None:
    """Die before the n-th call that touches the file system; so also after each, which is before the next."""
    ahead = itertools.count(1)

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: object, **kwargs: object) -> object:
            if next(ahead) == kill_at:
                os._exit(KILLED)
            return call(*args, **kwargs)

        return wrapped

    for name in ("open", "fdopen", "fsync", "chmod", "replace", "unlink"):
        setattr(os, name, watched(getattr(os, name)))
    pl.DataFrame.write_parquet = watched(pl.DataFrame.write_parquet)  # type: ignore[method-assign]


def grow(folder: Path) -> None:
    prepare(folder, old=False)
    trials = pl.int_range(100_000, eager=True)
    frame = pl.DataFrame({"trial": "t" + trials.cast(pl.String), "slot": trials}).with_columns(
        *(pl.lit("q").alias("question"), pl.lit("sweep").alias("kind"), pl.lit("test").alias("role")),
        *(
            pl.lit(0, pl.Int64).alias("position"),
            pl.lit(0, pl.Int64).alias("block"),
            pl.lit(1.0).alias("propensity"),
        ),
        pl.lit([], pl.List(pl.String)).alias("images"),
    )
    Store(folder).write({"trials": frame}, Provenance("design", {}, 0, {}))
    for thousands in range(1, 100):
        collect(folder, 1000 * thousands)
        if thousands == 1:
            print("begun", flush=True)


if __name__ == "__main__":
    main()
