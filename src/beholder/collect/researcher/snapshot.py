"""A temporary copy of the study as it stands now, for results that do not disturb it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder.collect.exchange.export import export
from beholder.errors import StageError
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.room import room_on_disk
from beholder.tables.store import Store

INPUTS = ("prompts", "images", "trials")


@contextmanager
def snapshot(folder: Path, url: str) -> Iterator[Path]:
    """Create a temporary study folder with the tables of the design and the current content of the database."""
    with TemporaryDirectory(prefix="beholder-now-") as name:
        copy = Path(name)
        with room_on_disk(copy):
            write_study(copy, load_study(folder))
            for table in INPUTS:
                target = Store(copy).path(table)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(Store(folder).path(table), target)
        export(copy, url)
        yield copy


def write_study(folder: Path, study: Study) -> None:
    """Write the study file of a copy."""
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")


def run_stage(stage: str, folder: Path) -> None:
    """Run another stage in a child process: stages communicate through tables, never through calls."""
    done = subprocess.run(
        [sys.executable, "-m", "beholder", stage, str(folder), "--force", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 2:
        raise StageError(_without_folder(done.stderr.strip().removeprefix("error: "), folder))
    if done.returncode:
        raise RuntimeError(f"beholder {stage} failed:\n{done.stderr}")


def _without_folder(message: str, folder: Path) -> str:
    """Return a message that does not name the copy: its folder is gone when the message is read."""
    return message.replace(f"{folder}: ", "").replace(f"{folder}/", "").replace(str(folder), "the study")
