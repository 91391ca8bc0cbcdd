"""A stage that is killed leaves every table whole, and running it again mends all."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beholder.tables.store import Store

SCRIPT = Path(__file__).with_name("killed.py")
WRITTEN = ("sessions", "answers", "marks")


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lay on the disk after the stage was killed at each of its steps, and after it was run again."""
    folder = tmp_path_factory.mktemp("killed")
    few_threads = os.environ | {"POLARS_MAX_THREADS": "1"}  # over a hundred short-lived processes
    subprocess.run([sys.executable, SCRIPT, "steps", folder], check=True, timeout=100, env=few_threads)
    return folder


@pytest.mark.parametrize("start", ["fresh", "with-old"])
class TestKilledAtEachStep:
    def test_there_are_many_steps(self, killed: Path, start: str) -> None:
        # for each table: open, fdopen, write, fsync, chmod, replace, unlink; of the folder: open, fsync
        assert len(list((killed / start).glob("killed-*"))) >= 3 * 9

    def test_tables_are_whole_and_old_or_new(self, killed: Path, start: str) -> None:
        before, after = Store(killed / start / "before"), Store(killed / start / "undisturbed")
        mixed = 0
        for folder in (killed / start).glob("killed-*"):
            store = Store(folder)
            for name in ("trials", *WRITTEN):
                assert store.hash(name) in (before.hash(name), after.hash(name)), (folder, name)
                if store.has(name):
                    store.read(name)  # opens, and passes its check, references included
            mixed += store.hash("sessions") != before.hash("sessions") and store.hash("marks") == before.hash(
                "marks"
            )
        assert mixed > 0  # some were killed between two tables

    def test_running_again_ends_as_if_undisturbed(self, killed: Path, start: str) -> None:
        expected = _content(killed / start / "undisturbed")
        assert set(expected) == {f"{name}.parquet" for name in ("trials", *WRITTEN)}
        for folder in (killed / start).glob("rerun-*"):
            assert _content(folder) == expected, folder

    def test_the_last_one_was_not_killed(self, killed: Path, start: str) -> None:
        last = max((killed / start).glob("killed-*"), key=lambda folder: int(folder.name.removeprefix("killed-")))
        assert _content(last) == _content(killed / start / "undisturbed")


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "tables").iterdir()}


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_moment(tmp_path: Path, seed: int) -> None:
    with subprocess.Popen([sys.executable, SCRIPT, "grow", tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        time.sleep(random.Random(seed).uniform(0, 0.3))
        process.kill()
    assert process.returncode == -9
    sessions, answers, marks = (Store(tmp_path).read(name).height for name in WRITTEN)
    assert sessions % 1000 == answers % 1000 == marks % 1000 == 0
    assert sessions >= answers >= marks >= sessions - 1000
