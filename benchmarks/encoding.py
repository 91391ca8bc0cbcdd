"""From a folder of JPEGs to features, compared with the network alone: ``python benchmarks/encoding.py FOLDER``.

The bare forward pass takes the same images, decoded and preprocessed beforehand; the whole pipeline starts with
the files and ends with vectors on disk. They alternate, after one warm-up of each, in one process. Prints a
markdown table; ``docs/measured/encoding.md`` is a saved run.
"""

import argparse
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.images.decode import decode
from beholder.images.in_order import batches, in_order
from beholder.images.sources import find_images
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode
from beholder.models.encoders.encoder import BATCH, Encoder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--encoder", default="efficientnet-lite0")
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.jpg"))[: arguments.images]
    encoder = load_encoder(arguments.encoder)
    stacks = prepared(encoder, files)
    ways: dict[str, Callable[[], object]] = {
        "bare forward, torch's own threads": partial(forward, encoder, stacks, 1),
        "bare forward, a batch a core": partial(forward, encoder, stacks, os.cpu_count() or 1),
        "reading and preparing alone": partial(_read, encoder, files),
        "folder to features on disk": partial(_encode_folder, encoder, files),
    }
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, torch {torch.__version__}")
    keep_freed_memory()
    print(f"{arguments.encoder}, {len(files)} JPEGs, {arguments.turns} turns\n")
    seconds = time_alternately(ways, arguments.turns)
    complete = seconds["folder to features on disk"]
    print("| way | images/s | CPU time an image | whole way ÷ this: time (range) | CPU time (range) |")
    print("|---|---|---|---|---|")
    for name, times in seconds.items():
        rate = len(files) / statistics.median(run.wall for run in times)
        each = statistics.median(run.cpu for run in times) / len(files) * 1000
        wall = ratios([run.wall for run in complete], [run.wall for run in times])
        cpu = ratios([run.cpu for run in complete], [run.cpu for run in times])
        print(f"| {name} | {rate:.0f} | {each:.1f} ms | {wall} | {cpu} |")


@dataclass(frozen=True)
class RunTime:
    """Seconds of one run: elapsed, and CPU time of all cores together."""

    wall: float
    cpu: float


def ratios(complete: list[float], part: list[float]) -> str:
    """Return median and range of the ratios within a run."""
    quotients = sorted(numerator / denominator for numerator, denominator in zip(complete, part, strict=True))
    return f"{statistics.median(quotients):.2f} ({quotients[0]:.2f}–{quotients[-1]:.2f})"


def prepared(encoder: Encoder, files: list[Path]) -> list[NDArray[np.float32]]:
    """Return as many batches as the files make, but only a few different ones, to limit memory."""
    few = files[: 8 * BATCH]
    stacks = [
        np.stack([encoder.preprocessing.prepare(decode(file.read_bytes())) for file in batch])
        for batch in batches(few, BATCH)
    ]
    return [stacks[number % len(stacks)][: len(batch)] for number, batch in enumerate(batches(files, BATCH))]


def forward(encoder: Encoder, stacks: list[NDArray[np.float32]], workers: int) -> None:
    with encoder.threads(workers) if workers > 1 else nullcontext():
        for _ in in_order(encoder.network, stacks, workers):
            pass


def _read(encoder: Encoder, files: list[Path]) -> None:
    def prepare(file: Path) -> None:
        encoder.preprocessing.prepare(decode(file.read_bytes()))

    for _ in in_order(prepare, files, os.cpu_count() or 1):
        pass


def _encode_folder(encoder: Encoder, files: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        features = encode(find_images(*files), encoder, folder=Path(folder))
        assert features.vectors.shape == (len(files), encoder.dims)


def time_alternately(
    ways: dict[str, Callable[[], object]], turns: int, *, warm: bool = True
) -> dict[str, list[RunTime]]:
    """Run the methods alternately, ``turns`` times, after one warm-up."""
    seconds: dict[str, list[RunTime]] = {name: [] for name in ways}
    for turn in range(turns + warm):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            way()
            if turn >= warm:
                seconds[name].append(RunTime(time.perf_counter() - wall, time.process_time() - cpu))
    return seconds


if __name__ == "__main__":
    main()
