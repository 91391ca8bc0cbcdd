"""Rich feedback trained on the synthetic world: both variants and all baselines, in the paper's four tables.

    python benchmarks/rich_learn.py FOLDER [--seeds 3] [--recipe NAME[=SEEDS] …] [--at-once 2] [--fresh]

makes the world, trains each recipe with each seed on prompts that the test does not have, and prints the tables,
with confidence intervals over prompts and the standard deviation over seeds; FOLDER/tables.csv has every figure.
Parts that exist already are skipped, and a killed run can be resumed; the minutes that each model took, on one
core, are printed first. With --fresh, FOLDER is a development world: the tables are of another world, whose seed
is drawn after training, with the differences of the first recipe to each other (see rich_fresh.py).
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch
from click.testing import CliRunner
from rich_fresh import PROMPTS as FRESH_PROMPTS
from rich_fresh import evaluate_fresh
from rich_world import PROMPTS, make_world

from beholder.cli.evaluate import evaluate
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.models.weights.checkpoint import read_record

RECIPES = (
    "tiny-rich-grounded",
    "tiny-rich-feedback",
    "tiny-rich-feedback-augmented",
    "tiny-rich-cnn",
    "tiny-rich-similarity",
    "tiny-rich-similarity-tuned",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--recipe", action="append", help="train only this one; with NAME=SEEDS, so many seeds")
    parser.add_argument("--at-once", type=int, default=2, help="models trained side by side, one core each")
    parser.add_argument("--set", action="append", default=[], help="a change to every recipe")
    parser.add_argument("--prompts", type=int, default=PROMPTS, help="of the world of FOLDER")
    parser.add_argument("--fresh", action="store_true", help="test on a world whose seed is drawn after training")
    parser.add_argument("--fresh-prompts", type=int, default=FRESH_PROMPTS, help="of that world")
    arguments = parser.parse_args()
    jobs = _jobs(parser, arguments.recipe or RECIPES, arguments.seeds)
    make_world(arguments.folder, prompts=arguments.prompts)
    fresh = get_context("spawn")  # a fork would copy the locks of Polars' threads
    with ProcessPoolExecutor(arguments.at_once, mp_context=fresh) as pool:
        each = len(jobs)
        names = list(pool.map(_train, [arguments.folder] * each, *zip(*jobs, strict=True), [arguments.set] * each))
    groups: dict[str, list[str]] = {}
    for (recipe, _), name in zip(jobs, names, strict=True):
        groups.setdefault(recipe, []).append(name)
    if arguments.fresh:
        evaluate_fresh(arguments.folder, groups, arguments.fresh_prompts)
        return
    rows = [f"--together={recipe}={','.join(names)}" for recipe, names in groups.items()]
    options = [str(arguments.folder), *rows, f"--csv={arguments.folder / 'tables.csv'}"]
    print(CliRunner().invoke(evaluate, options, catch_exceptions=False).output)


def _jobs(parser: argparse.ArgumentParser, recipes: Sequence[str], seeds: int) -> list[tuple[str, int]]:
    """Recipe and seed of every model."""
    jobs = []
    for text in recipes:
        recipe, _, count = text.partition("=")
        if recipe not in RECIPES or not (count or str(seeds)).isdecimal():
            parser.error(f"--recipe {text}: expected NAME or NAME=SEEDS; names: {', '.join(RECIPES)}")
        jobs += [(recipe, seed) for seed in range(int(count or seeds))]
    return jobs


def _train(folder: Path, recipe: str, seed: int, changes: list[str]) -> str:
    """Return the name of the model, trained now unless it was before."""
    torch.set_num_threads(1)
    name = f"{recipe}-seed-{seed}"
    outcome = run(folder, load_recipe(recipe, [*changes, f"training.seed={seed}"]), name=name, resume=True)
    about = read_record(folder / MODELS_FOLDER / name).about
    minutes = float(str(about["seconds"])) / 60
    print(json.dumps({"model": name, "minutes": round(minutes, 1), "skipped": outcome.skipped}), flush=True)
    return name


if __name__ == "__main__":
    main()
