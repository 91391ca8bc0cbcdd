"""How much memory images in Parquet files take while they are read, by how many files there are.

    python benchmarks/parquet_reading.py --files 1 5

Each file has 2,000 images of 100 KB of random bytes (they are read, not decoded), in row groups of 100 rows, and
all in one row group for comparison. Every measurement is a process of its own.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from beholder.images.sources import find_images

IMAGES, SIZE, GROUP = 2000, 100_000, 100


def write(path: Path, rows_per_group: int, rng: np.random.Generator) -> None:
    rows = [{"bytes": rng.bytes(SIZE), "path": None} for _ in range(IMAGES)]
    images = pl.Series("image", rows, dtype=pl.Struct({"bytes": pl.Binary, "path": pl.String}))
    images.to_frame().write_parquet(path, row_group_size=rows_per_group)


def read(folder: Path) -> None:
    before, began = peak(), time.monotonic()
    size = sum(len(image.load()[1]) for image in find_images(folder))
    print(f"{size / 1e6:,.0f} MB read in {time.monotonic() - began:.1f} s, {peak() - before:.0f} MB of memory")


def peak() -> float:
    """Return the most memory of this process so far, in MB; that of getrusage is inherited."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, nargs="+", default=[1, 5])
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read)
        return
    rng = np.random.default_rng(0)
    for rows_per_group in (GROUP, IMAGES):
        for files in arguments.files:
            with tempfile.TemporaryDirectory() as scratch:
                for number in range(files):
                    write(Path(scratch, f"{number}.parquet"), rows_per_group, rng)
                print(f"{files} files, {rows_per_group} rows per group: ", end="", flush=True)
                subprocess.run([sys.executable, __file__, "--read", scratch], check=True)


if __name__ == "__main__":
    main()
