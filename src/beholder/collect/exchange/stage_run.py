"""Another stage, run in a child process on a copy of the study: stages communicate through tables, not calls."""

import subprocess
import sys
from pathlib import Path

from beholder.errors import StageError
from beholder.study.study import FILE_NAME, Study, dump_study


def write_study(folder: Path, study: Study) -> None:
    """Write the study file of a copy."""
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")


def run_stage(stage: str, folder: Path) -> None:
    """Run a stage; its error is raised without the name of the copy."""
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
