"""A synthetic world with rich feedback of three simulated raters per image, to train the rich-feedback model on.

    python benchmarks/rich_world.py FOLDER

renders small images of prompts by five generators, simulates raters, and consolidates. Parts that exist already
are skipped.
"""

import sys
import tempfile
import time
from pathlib import Path

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store

PROMPTS, SIZE, TRIALS, RATERS_PER_IMAGE = 10_000, 192, 100, 3


def make_world(folder: Path, *, prompts: int = PROMPTS, seed: int = 0) -> None:
    """Render, simulate raters and consolidate, as far as it is not done; the seed is of images and raters."""
    world = World(prompts=prompts, reals=1, size=SIZE, seed=seed)
    raters = prompts * len(world.generators) * RATERS_PER_IMAGE // TRIALS
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(world, Path(scratch))
            make_study(
                ["rich-feedback"],
                folder,
                manifest=Path(scratch) / MANIFEST,
                copy=True,
                raters=raters,
                trials=TRIALS,
                seed=seed,
            )
        write_ground_truth(Store(folder), world, painted)
    print(design(folder), flush=True)
    print(run_simulated(folder, people=raters), flush=True)
    if not Store(folder).has("labels"):  # labels that models were trained on stay as they are
        print(consolidate(folder), flush=True)


def main(folder: Path) -> None:
    began = time.monotonic()
    make_world(folder)
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
