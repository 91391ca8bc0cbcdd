"""One run of an engine in a process of its own, timed from before that starts until after it has ended.

python benchmarks/engine_run.py ENGINE WORKERS IMAGES FOLDER    # features into FOLDER; prints marks of the clock
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from beholder.distances.shards.encode import encode_in_shards
from beholder.engines.engine import open_engine
from beholder.images.sources import find_images
from beholder.models.encoders.named import NamedEncoder, load_once

ENCODER = "efficientnet-lite0"


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of a run: until its network is loaded, for the images, to end; and of all processors."""

    start: float
    work: float
    end: float
    processor: float
    images: int

    @property
    def total(self) -> float:
        """From before its process starts until after it has ended."""
        return self.start + self.work + self.end

    def __str__(self) -> str:
        return (
            f"{self.images / self.work:.1f} images/s ({self.work:.1f} s, {self.start:.1f} s to start, "
            f"{self.end:.1f} s to end: {self.total:.1f} s); {1e3 * self.processor / self.images:.2f} ms of "
            "processor time per image, the start included"
        )


def spend(engine: str, workers: int, images: Path, room: Path) -> Spent:
    """Encode all images by a fresh process."""
    command = [sys.executable, __file__, engine, str(workers), str(images), str(room)]
    began = time.monotonic()
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    ended, marks = time.monotonic(), json.loads(printed)
    return Spent(
        marks["ready"] - began,
        marks["done"] - marks["ready"],
        ended - marks["done"],
        marks["processor"],
        marks["images"],
    )


def main(name: str, workers: int, folder: Path, room: Path) -> None:
    """Encode all images; every worker has loaded the network before, which is part of the start."""
    images = find_images(folder)
    with open_engine(name, workers=workers) as engine:
        list(engine.map(_loaded_by_one if workers == 1 else _loaded_by_each, range(workers)))
        ready = time.monotonic()
        encode_in_shards(engine, images, NamedEncoder(ENCODER), room)
        marks = {"ready": ready, "done": time.monotonic(), "processor": processor_seconds(), "images": len(images)}
    print(json.dumps(marks))


def _loaded_by_one(_: int) -> None:
    load_once(NamedEncoder(ENCODER))


def _loaded_by_each(_: int) -> None:
    load_once(NamedEncoder(ENCODER))
    time.sleep(0.5)  # so that no worker loads twice while another one starts


def processor_seconds() -> float:
    """Return the processor time so far of this process and all below it, those that ended included."""
    ticks = 0
    for pid in below():
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def below() -> dict[int, str]:
    """Return this process and all below it, with their commands."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(fields[1])
            commands[int(folder.name)] = (folder / "cmdline").read_text()

    def is_below(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_below(parents[process]))

    return {pid: command for pid, command in commands.items() if is_below(pid)}


if __name__ == "__main__":
    name, workers, folder, room = sys.argv[1:]
    main(name, int(workers), Path(folder), Path(room))
