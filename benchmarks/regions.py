"""How fast a table of heatmaps opens: a synthetic study as large as RichHF-18K.

    python benchmarks/regions.py [--images 18000] [--side 512] [--reads 200]

Prints a markdown table; ``docs/measured/regions.md`` is a saved run. Every image has a map of either aspect, from
three raters' disks; the maps of a few hundred images are drawn, and used again for the others.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from beholder.feedback.heatmap import encode_heatmap
from beholder.feedback.regions import open_regions
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

ASPECTS = ("implausibility", "misalignment")
DRAWN = 300


def drawn_maps(side: int, rng: np.random.Generator) -> list[bytes]:
    """Return maps of three raters, each with up to four disks of a twentieth of the side."""
    rows, columns = np.indices((side, side))
    maps = []
    for _ in range(DRAWN):
        total = np.zeros((side, side))
        for _ in range(3):
            own = np.zeros((side, side), np.bool_)
            for x, y in rng.uniform(0, side, (rng.integers(0, 5), 2)):
                own |= (rows - y) ** 2 + (columns - x) ** 2 <= (side / 20) ** 2
            total += own
        maps.append(encode_heatmap(total / 3))
    return maps


def write(folder: Path, images: int, side: int) -> Store:
    """Write the ``regions`` and ``images`` of a synthetic study."""
    rng = np.random.default_rng(1)
    maps = drawn_maps(side, rng)
    names = [f"image-{n:05d}" for n in range(images)]
    regions = pl.DataFrame(
        {
            "question": "feedback",
            "aspect": [aspect for aspect in ASPECTS for _ in names],
            "image": names * 2,
            "heatmap": [maps[place] for place in rng.integers(0, DRAWN, 2 * images)],
            "width": side,
            "height": side,
            "raters": 3,
        }
    )
    store = Store(folder)
    regions = regions.cast({"width": pl.Int64, "height": pl.Int64, "raters": pl.Int64})
    about = {"generator": "g", "real": False, "gold": False, "width": side, "height": side}
    image_rows = TABLES["images"].frame(
        [{"image": name, "path": f"images/{name}.png", "sha256": name, **about} for name in names]
    )
    record = Provenance("consolidate", {}, 0, {})
    store.write({"images": image_rows, "regions": regions}, record)
    return store


def seconds(work: Callable[[], object], turns: int = 5) -> float:
    """Return the median time of some runs."""
    times = []
    for _ in range(turns):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--images", type=int, default=18_000)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--reads", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        store = write(Path(place), options.images, options.side)
        opened = open_regions(store)
        keys = list(opened)
        picked = [keys[n] for n in np.random.default_rng(2).integers(0, len(keys), options.reads)]
        megabytes = store.path("regions").stat().st_size / 1e6
        rows = [
            ("open: all keys, no map", seconds(lambda: open_regions(store))),
            ("one map, any of them", seconds(lambda: [opened.heatmap(*key) for key in picked]) / options.reads),
            ("for comparison: read the whole table", seconds(lambda: pl.read_parquet(store.path("regions")), 3)),
        ]
    print(
        f"{len(keys):,} maps of {options.images:,} images, {options.side} × {options.side}, {megabytes:.0f} MB\n"
    )
    print("| what | time |\n|---|---|")
    for what, spent in rows:
        print(f"| {what} | {1000 * spent:.1f} ms |")


if __name__ == "__main__":
    main()
