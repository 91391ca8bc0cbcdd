"""A synthetic study of rich feedback, and two scorers trained on it: one that improves images, and a held-out one.

    python benchmarks/improve_world.py FOLDER

renders 1,600 prompts by five generators, simulates three raters per image, and trains ``own`` (convolutions on a
frozen encoder) on 85 % of the prompts, and ``held-out`` (the same, started elsewhere) on the other 15 %. Neither
has seen an image or a label of the other, nor a prompt on which improvements are measured. Parts that exist
already are skipped; the minutes of training are printed.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import polars as pl
import torch

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.weights.checkpoint import RECORD, read_record
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.study.study import FILE_NAME
from beholder.tables.store import FEATURES_ROOM, TABLES_ROOM, Store

PROMPTS, SIZE, TRIALS, RATERS_PER_IMAGE, SEED = 1_600, 192, 100, 3, 101
RECIPE = "tiny-rich-cnn"
OWN = ("training.epochs=4", "training.validate_every=400", "training.save_every=400")
HELD_OUT = (
    *("training.epochs=12", "training.validate_every=60", "training.save_every=200"),
    *("training.seed=7", "split.test=0.05", "split.validation=0.1"),
)


def train_scorers(folder: Path) -> tuple[Path, Path]:
    """Return the folders of the two scorers, which are trained as far as they are not."""
    make_world(folder / "own")
    own, held_out = (folder / name / MODELS_FOLDER / name for name in ("own", "held-out"))
    if not (own / RECORD).is_file():
        learn(folder / "own", load_recipe(RECIPE, list(OWN)), name="own", resume=True)
    if not (held_out / RECORD).is_file():
        make_remainder(folder / "own", folder / "held-out")
        learn(folder / "held-out", load_recipe(RECIPE, list(HELD_OUT)), name="held-out", resume=True)
    return own, held_out


def make_world(folder: Path) -> None:
    """Render, simulate raters and consolidate, as far as it is not done."""
    world = World(prompts=PROMPTS, reals=1, size=SIZE, seed=SEED)
    raters = PROMPTS * len(world.generators) * RATERS_PER_IMAGE // TRIALS
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(world, Path(scratch))
            manifest = Path(scratch) / MANIFEST
            make_study(
                ["rich-feedback"], folder, manifest=manifest, copy=True, raters=raters, trials=TRIALS, seed=SEED
            )
        write_ground_truth(Store(folder), world, painted)
    if not Store(folder).has("labels"):
        design(folder)
        run_simulated(folder, people=raters)
        consolidate(folder)


def make_remainder(folder: Path, remainder: Path) -> None:
    """Make a study of the images that the first scorer was tested on, which it was not trained on."""
    unseen = Store(folder).read("predictions")["image"].unique()
    shutil.rmtree(remainder, ignore_errors=True)
    (remainder / TABLES_ROOM).mkdir(parents=True)
    shutil.copy(folder / FILE_NAME, remainder / FILE_NAME)
    for room in ("images", FEATURES_ROOM):
        (remainder / room).symlink_to((folder / room).resolve())
    for name in ("prompts", "images", "sessions", "judgements", "labels", "regions", "trials"):
        table = pl.read_parquet(Store(folder).path(name))
        if "image" in table.columns:
            table = table.filter(pl.col("image").is_in(unseen.implode()))
        table.write_parquet(remainder / TABLES_ROOM / f"{name}.parquet")


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    for model in train_scorers(folder):
        about = read_record(model).about
        print(f"{model.name}: trained in {float(str(about['seconds'])) / 60:.1f} minutes on one core", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
