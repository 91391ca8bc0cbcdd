"""A realism predictor taught by made-up people, who call pictures real or generated: is it calibrated?

    python benchmarks/realism_world.py FOLDER

paints pictures by five generators and real ones, shows each to 5 made-up people (a real one to 10), trains
the recipe ``tiny-realism`` and prints, on prompts it has not seen, what the learn stage says of it; then its bins;
then what can only be known here, where every person's chance to call a picture generated is planted: how near the
predicted share is to that of all people, within each generator, and what the true shares would reach. Every part
is skipped where it was done; a run that was killed goes on.
"""

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.learn.card import number, shown
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.simulate.expectation import chance_of_generated
from beholder.simulate.people import draw_people
from beholder.simulate.world import MANIFEST, World, paint_world, write_truth
from beholder.stats.correlation.coefficients import correlation
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.calibration_error import calibration_error
from beholder.stats.prediction.soft_label_likelihood import soft_label_likelihood
from beholder.study.study import FILE_NAME
from beholder.tables.store import TRUTH_ROOM, Store

WORLD = World(prompts=1200, reals=3000, size=96)
PEOPLE, TRIALS = 300, 200
"""Each person sees 100 pictures of one generator and 100 real ones."""

RECIPE = "tiny-realism"
CROWD = 1000
"""Honest people over whom the true share of a picture is taken."""


def make_world(folder: Path) -> None:
    """Paint, ask and consolidate, as far as it is not done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(WORLD, Path(scratch))
            manifest = Path(scratch) / MANIFEST
            make_study(["layer6-realism"], folder, manifest=manifest, copy=True, raters=PEOPLE, trials=TRIALS)
        write_truth(Store(folder), WORLD, painted)
    print(design(folder), flush=True)
    print(run_simulated(folder, people=PEOPLE), flush=True)
    print(consolidate(folder), flush=True)


def held_out(folder: Path) -> pl.DataFrame:
    """The pictures of the test: predicted ``score``, ``share`` of the ``answers``, and ``true`` share."""
    store = Store(folder)
    scores = store.read("predictions").filter(pl.col("model") == RECIPE).select("image", "score")
    labels = store.read("labels").filter(pl.col("method") == "share").select("image", "answers", share="value")
    images = store.read("images").select("image", "generator", "prompt")
    planted = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "detectability")
    found = (
        scores.join(labels, on="image")
        .join(images, on="image")
        .join(planted.select("image", planted="score"), on="image")
    )
    crowd = draw_people(CROWD, 0, np.random.default_rng(0))
    true = chance_of_generated(found["planted"].to_numpy(), crowd)
    return found.with_columns(true=pl.Series(true), group=pl.col("prompt").rank("dense").cast(pl.Int64) - 1)


def print_bins(found: pl.DataFrame) -> None:
    """The bins that the calibration error comes from."""
    group = found["group"].to_numpy()
    weights = rater_weights(np.zeros(int(group.max()) + 1, np.int64), 2000, np.random.default_rng(0))
    predicted, share, answers = (found[name].to_numpy() for name in ("score", "share", "answers"))
    error = calibration_error(predicted, share, answers, weights, clusters=group)
    low, high = wilson(error.observed * error.answers, error.answers)
    print(f"\nECE {shown(error.value, error.low, error.high)}; by chance alone {number(error.by_chance)}\n")
    print("| predicted | said *generated* | answers |\n|---|---|---|")
    for one in range(len(error.answers)):
        observed = shown(error.observed[one], low[one], high[one])
        print(f"| {number(error.predicted[one])} | {observed} | {error.answers[one]:,.0f} |")


def print_truth(found: pl.DataFrame) -> None:
    """The predictions against the planted shares, and what these would reach."""
    maker = (found["generator"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    group, score, share, true = (found[name].to_numpy() for name in ("group", "score", "share", "true"))
    print("\n| correlation | predicted, with those asked | predicted, with all people | true, with those asked |")
    print("|---|---|---|---|")
    columns = ((score, share), (score, true), (true, share))
    for name in sorted(found["generator"].unique()):
        mine = (found["generator"] == name).to_numpy()
        cells = [correlation(one[mine], two[mine]) for one, two in columns]
        print(f"| {name} ({mine.sum()}) | {' | '.join(shown(one.value, one.low, one.high) for one in cells)} |")
    cells = [partial_correlation(one, two, maker) for one, two in columns]
    print(f"| within generators | {' | '.join(shown(one.value, one.low, one.high) for one in cells)} |")
    answers = found["answers"].to_numpy()
    said = np.rint(share * answers)
    weights = rater_weights(np.zeros(int(group.max()) + 1, np.int64), 2000, np.random.default_rng(0))
    print("\n| shares | log-likelihood an answer | more than generator means |\n|---|---|---|")
    for who, given in (("predicted", score), ("true", true)):
        one = soft_label_likelihood(given, said, answers, maker, weights, clusters=group)
        mine, gain = one.predictions, one.gain
        cells_of = (shown(mine.value, mine.low, mine.high), shown(gain.value, gain.low, gain.high))
        print(f"| {who} | {' | '.join(cells_of)} |")
    print(f"| generator means | {shown(one.generators.value, one.generators.low, one.generators.high)} | |")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    began = time.monotonic()
    make_world(given.folder)
    print(f"world: {time.monotonic() - began:.0f} s", flush=True)
    done = learn(given.folder, load_recipe(RECIPE), resume=True)
    print(done)
    print((done.folder / "README.md").read_text(encoding="utf-8").partition("## What it is worth")[2])
    found = held_out(given.folder)
    print_bins(found)
    print_truth(found)


if __name__ == "__main__":
    main()
