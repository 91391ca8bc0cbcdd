"""A two-tower model trained from scratch on simulated raters, compared with the ideal observer.

    python benchmarks/two_tower_world.py FOLDER [--prompts N] [--alike]

renders a world of small images, simulates raters' votes on pairs of them, trains the recipe ``tiny-two-tower``
and prints how often it picks the image that a rater picked, on held-out prompts, next to the ideal observer, who
knows the true quality. With ``--alike`` all five generators are equally bad, so that the generator-mean baseline
is at chance. Parts that exist already are skipped; a killed run can be resumed.
"""

import argparse
import logging
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.learn.examples import read_votes
from beholder.learn.formatting import format_with_interval
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.simulate.policies import GENERATORS
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.bootstrap_intervals import percentile_interval
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.store import TRUTH_ROOM, Store

SIZE, TRIALS = 64, 100
PEOPLE_A_PROMPT = 0.3
"""About three answers for each of the 10 pairs of a prompt."""

RECIPE = "tiny-two-tower"
ALIKE = tuple(replace(GENERATORS[2], name=name) for name in ("alpha", "beta", "gamma", "delta", "epsilon"))
"""Five generators with the faults of the middle one."""


def make_world(folder: Path, prompts: int, *, alike: bool) -> None:
    """Render, simulate raters and consolidate, as far as it is not done."""
    raters = round(PEOPLE_A_PROMPT * prompts)
    world = World(prompts=prompts, reals=1, size=SIZE, generators=ALIKE if alike else GENERATORS)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(world, Path(scratch))
            make_study(
                ["hpd-pairs"], folder, manifest=Path(scratch) / MANIFEST, copy=True, raters=raters, trials=TRIALS
            )
        write_ground_truth(Store(folder), world, painted)
    print(design(folder), flush=True)
    print(run_simulated(folder, people=raters), flush=True)
    print(consolidate(folder), flush=True)


def against_the_ideal(folder: Path) -> None:
    """Return how often model and ideal observer pick what a rater picked, and the ratio, resampling prompts."""
    store = Store(folder)
    predicted = _scores(store.read("predictions").filter(pl.col("model") == RECIPE))
    truth = Store(folder, TRUTH_ROOM).read("scores")
    ideal = _scores(truth.filter(pl.col("aspect") == "overall"))
    prompts = dict(store.read("images").select("image", "prompt").iter_rows())
    votes = read_votes(store, load_study(folder), None).filter(
        pl.col("image").is_in(list(predicted)) & pl.col("other").is_in(list(predicted)) & (pl.col("lead") != 0)
    )
    rows = list(votes.select("image", "other", "lead").iter_rows())
    group = np.unique([prompts[image] for image, _, _ in rows], return_inverse=True)[1]
    right = {
        name: np.bincount(
            group, [np.sign(scores[image] - scores[other]) == lead for image, other, lead in rows]
        ).astype(np.float64)
        for name, scores in (("model", predicted), ("ideal observer", ideal))
    }
    answer_counts = np.bincount(group)
    weights = rater_weights(np.zeros(len(answer_counts), np.int64), 2000, np.random.default_rng(0))
    print(f"\n{len(rows):,} single answers on pairs of {len(answer_counts)} prompts that were held out\n")
    print("| who picks | proportion of answers matched |\n|---|---|")
    for name, counts in right.items():
        print(f"| {name} | {_ratio(counts, answer_counts, weights)} |")
    print(f"| model ÷ ideal observer | {_ratio(right['model'], right['ideal observer'], weights)} |")


def _scores(frame: pl.DataFrame) -> dict[str, float]:
    return dict(frame.select("image", "score").iter_rows())


def _ratio(above: NDArray[np.number], below: NDArray[np.number], weights: NDArray[np.int32]) -> str:
    replicates = (weights @ above) / (weights @ below)
    low, high = percentile_interval(replicates[:, None], len(above))
    return format_with_interval(float(above.sum() / below.sum()), float(low[0]), float(high[0]))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--prompts", type=int, default=2000)
    parser.add_argument("--alike", action="store_true")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    arguments.folder.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    make_world(arguments.folder, arguments.prompts, alike=arguments.alike)
    print(f"world: {time.monotonic() - began:.0f} s", flush=True)
    done = learn(arguments.folder, load_recipe(RECIPE), resume=True)
    print(done)
    print((done.folder / "README.md").read_text(encoding="utf-8").partition("## What it is worth")[2])
    against_the_ideal(arguments.folder)


if __name__ == "__main__":
    main()
