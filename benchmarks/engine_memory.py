"""The most memory that the driver of an engine has, in a process that imports nothing else; see ``engine.py``.

python benchmarks/engine_memory.py driver FOLDER IMAGES     # score_in_shards
python benchmarks/engine_memory.py command FOLDER IMAGES    # beholder score --engine ray --json, to a file
python benchmarks/engine_memory.py table FOLDER IMAGES      # the same without --json
"""

import os
import sys
from contextlib import redirect_stdout
from pathlib import Path

from beholder.cli.main import main as command_line
from beholder.engines.engine import open_engine
from beholder.images.sources import captions, find_images
from beholder.scorers.shards.in_shards import Judges, score_in_shards

A_TAR = 5_000
"""Images in each tar file."""


def main(name: str, folder: Path, images: int) -> None:
    tars = sorted(folder.glob("*.tar"))[: images // A_TAR]
    if name == "driver":
        score_by_driver(tars, images)
    else:
        score_by_command(tars, folder, ["--json"] if name == "command" else [])
    print(peak())


def score_by_driver(tars: list[Path], number: int) -> None:
    images = find_images(*tars)
    with open_engine("ray", workers=2) as engine:
        scores = score_in_shards(engine, images, captions(images), Judges(scorers=("brightness",)))
    assert len(scores.names) == number


def score_by_command(tars: list[Path], folder: Path, options: list[str]) -> None:
    words = ["score", *map(str, tars), "--scorer", "brightness", "--engine", "ray", "--workers", "2"]
    with (folder / "scores.out").open("w") as file, redirect_stdout(file):
        assert command_line([*words, *options]) == 0


def peak() -> float:
    """Return the most memory in MB that this process had; its own, not that of what started it."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    name, folder, images = sys.argv[1:]
    main(name, Path(folder), int(images))
