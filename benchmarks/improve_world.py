"""Two synthetic studies of rich feedback with a scorer trained on each: one that improves, and a held-out one.

    python benchmarks/improve_world.py FOLDER [own | held-out]

renders 1,600 and 900 prompts by five generators, with raters of their own; simulates three raters per
image; and trains ``own`` (convolutions) on the first and ``held-out`` (a network that reads the prompt) on the
second. Neither has seen a prompt of the other, nor any prompt on which improvements are measured. Parts that exist
already are skipped; the minutes of training are printed.
"""

import sys
import tempfile
from pathlib import Path

import torch

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.weights.checkpoint import read_record
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store

SIZE, TRIALS, RATERS_PER_IMAGE = 192, 100, 3
SCORERS = {
    "own": (
        101,
        1_600,
        "tiny-rich-cnn",
        ("training.epochs=4", "training.validate_every=400", "training.save_every=400"),
    ),
    "held-out": (
        202,
        900,
        "tiny-rich-feedback",
        ("training.epochs=6", "training.validate_every=300", "training.save_every=300"),
    ),
}
"""Name -> seed and prompts of its world, recipe, and what is changed in it for so few images."""


def scorer_folder(folder: Path, name: str) -> Path:
    """The folder of a trained scorer, which is made and trained as far as it is not."""
    seed, prompts, recipe, changed = SCORERS[name]
    make_world(folder / name, seed, prompts)
    learn(folder / name, load_recipe(recipe, list(changed)), name=name, resume=True)
    return folder / name / MODELS_FOLDER / name


def make_world(folder: Path, seed: int, prompts: int) -> None:
    """Render, simulate raters and consolidate, as far as it is not done."""
    world = World(prompts=prompts, reals=1, size=SIZE, seed=seed)
    raters = prompts * len(world.generators) * RATERS_PER_IMAGE // TRIALS
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(world, Path(scratch))
            manifest = Path(scratch) / MANIFEST
            make_study(
                ["rich-feedback"], folder, manifest=manifest, copy=True, raters=raters, trials=TRIALS, seed=seed
            )
        write_ground_truth(Store(folder), world, painted)
    design(folder)
    run_simulated(folder, people=raters)
    if not Store(folder).has("labels"):
        consolidate(folder)


def main(folder: Path, names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in names or SCORERS:
        about = read_record(scorer_folder(folder, name)).about
        print(f"{name}: trained in {float(str(about['seconds'])) / 60:.1f} minutes on one core", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
