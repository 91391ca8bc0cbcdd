"""Each stage of the loop, killed: every table stays whole, and running the loop again ends as if undisturbed."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.catalogue import TABLES
from beholder.tables.store import TABLES_ROOM, TRUTH_ROOM, Store

SCRIPT = Path(__file__).with_name("stages_killed.py")
ROOMS = (TABLES_ROOM, TRUTH_ROOM)
QUESTIONS: tuple[AnyQuestion, ...] = (
    RealismQuestion(name="real", design=Design(raters=3, trials=6)),
    PairQuestion(name="pref", design=Design(raters=3, trials=6)),
    RatingQuestion(name="mos", design=Design(raters=3, trials=6)),
)


def test_killed_at_any_step(bare_study: Callable[..., Path], tmp_path: Path) -> None:
    folder = tmp_path / "kills"
    one_thread = os.environ | {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT), str(folder), str(bare_study(*QUESTIONS))]
    subprocess.run(command, check=True, timeout=300, env=one_thread)

    undisturbed = content(folder / "after-rank")
    assert len(undisturbed) == 2 + 1 + 4 + 6 + 3 + 2  # the tables of all stages, and two of the truth
    stages = ("design", "collect", "consolidate", "rank")
    for before, stage in zip(("", *stages), stages, strict=False):
        old = content(folder / f"after-{before}") if before else {}
        new = content(folder / f"after-{stage}")
        runs = list(folder.glob(f"{stage}-*"))
        assert len(runs) >= 4
        for run in runs:
            check_tables(run / "killed")
            for name, content_now in content(run / "killed").items():
                assert content_now in (old.get(name, new[name]), new[name]), (run, name)
            assert content(run / "rerun") == undisturbed, run
            assert not list((run / "rerun").rglob("*.tmp")), run


def check_tables(folder: Path) -> None:
    """Every table on the disk opens and passes its checks, references included."""
    for room in ROOMS:
        store = Store(folder, room)
        for name in TABLES:
            if store.has(name):
                store.read(name)


def content(folder: Path) -> dict[str, bytes]:
    return {
        f"{room}/{path.name}": path.read_bytes()
        for room in ROOMS
        for path in (folder / room).glob("[!.]*.parquet")
    }
