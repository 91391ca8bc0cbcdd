"""Studies of the painted generator, and the scorers trained on them: what guiding and tuning start from.

    python benchmarks/tune_world.py FOLDER rich
    python benchmarks/tune_world.py FOLDER tiny-rich-cnn
    python benchmarks/tune_world.py FOLDER tiny-rich-grounded
    python benchmarks/tune_world.py FOLDER realism

``FOLDER/rich``: images of the painted generator and of two painters, judged by three simulated raters each, and
the recipes ``tiny-rich-cnn`` and ``tiny-rich-grounded`` trained on them. ``FOLDER/realism``: images of the painted
generator and flawless ones, called real or generated, and the recipe ``tiny-realism``. Parts that exist already
are skipped; a killed run can be resumed.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.models.pipelines.sampling import sample
from beholder.simulate.grammar import Request, draw_requests, prompt_text
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painter import FLAWLESS, Policy, paint
from beholder.simulate.policies import GENERATORS
from beholder.simulate.world import MANIFEST, Painted, World, describe_picture, write_ground_truth, write_manifest
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store

SIZE, PAINTED = 96, "painted"
TRAINING_SEED = 1000
"""The first seed of the painted generator's images in the studies."""
RICH_COUNTS = {PAINTED: 3200, "aurora": 400, "dune": 400}
REALISM_COUNTS = {PAINTED: 1600, "real": 1600}
EPOCHS = {"tiny-rich-cnn": 8, "tiny-rich-grounded": 6, "tiny-realism": 10}


def paint_flow(requests: tuple[Request, ...], folder: Path) -> list[Painted]:
    """Save an image of each request by the painted generator."""
    generator, painted = PaintedGenerator(size=SIZE), []
    (folder / PAINTED).mkdir(parents=True)
    for start in range(0, len(requests), 50):
        part = requests[start : start + 50]
        prompts = [prompt_text(request) for request in part]
        seeds = [TRAINING_SEED + start + number for number in range(len(part))]
        drawn = sample(generator, prompts, seeds)
        pictures = generator.pictures(drawn.latents, generator.context(prompts, seeds))
        for number, (request, picture) in enumerate(zip(part, pictures, strict=True)):
            name = f"{PAINTED}/{start + number:05d}"
            Image.fromarray(picture.pixels).save(folder / f"{name}.png", compress_level=1)
            painted.append(describe_picture(picture, request, image=name, file=f"{name}.png", generator=PAINTED))
    return painted


def paint_policy(requests: tuple[Request, ...], policy: Policy, folder: Path, seed: int) -> list[Painted]:
    """Save an image of each request by a painter, or flawless ones."""
    (folder / policy.name).mkdir(parents=True)
    painted = []
    for number, request in enumerate(requests):
        picture = paint(request, policy, size=SIZE, rng=np.random.default_rng([seed, number]))
        name = f"{policy.name}/{number:05d}"
        Image.fromarray(picture.pixels).save(folder / f"{name}.png", compress_level=1)
        painted.append(describe_picture(picture, request, image=name, file=f"{name}.png", generator=policy.name))
    return painted


def make_world(folder: Path, protocol: str, counts: dict[str, int], raters: int, trials: int, seed: int) -> None:
    """Paint, simulate raters and consolidate, as far as it is not done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        rng = np.random.default_rng([seed, 30])
        policies = {policy.name: policy for policy in (*GENERATORS, FLAWLESS)}
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted: list[Painted] = []
            for which, (name, count) in enumerate(counts.items()):
                requests = draw_requests(count, rng)
                painted += (
                    paint_flow(requests, Path(scratch))
                    if name == PAINTED
                    else paint_policy(requests, policies[name], Path(scratch), 100 * seed + which)
                )
            write_manifest(Path(scratch) / MANIFEST, painted)
            manifest = Path(scratch) / MANIFEST
            make_study([protocol], folder, manifest=manifest, copy=True, raters=raters, trials=trials)
        write_ground_truth(Store(folder), World(prompts=len(painted), reals=0, size=SIZE, seed=seed), painted)
    print(design(folder), flush=True)
    print(run_simulated(folder, people=raters), flush=True)
    if not Store(folder).has("labels"):
        print(consolidate(folder), flush=True)


def train(folder: Path, name: str) -> None:
    """Train a recipe on a study."""
    recipe = load_recipe(name)
    training = recipe.training.model_copy(
        update={"epochs": EPOCHS[name], "validate_every": 200, "save_every": 100}
    )
    print(learn(folder, recipe.model_copy(update={"training": training}), resume=True), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("part", choices=["rich", "realism", "tiny-rich-cnn", "tiny-rich-grounded"])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    folder, part, began = arguments.folder, arguments.part, time.process_time()
    if part == "rich":
        make_world(folder / "rich", "rich-feedback", RICH_COUNTS, raters=120, trials=100, seed=0)
    elif part == "realism":
        make_world(folder / part, "layer6-realism", REALISM_COUNTS, raters=100, trials=160, seed=1)
        train(folder / part, "tiny-realism")
    else:
        train(folder / "rich", part)
    print(f"{part}: {time.process_time() - began:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
