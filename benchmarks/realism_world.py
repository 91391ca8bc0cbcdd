"""A realism predictor trained on simulated raters, who call images real or generated: is it calibrated?

    python benchmarks/realism_world.py FOLDER

renders images by five generators and real ones, shows each to 5 simulated raters (a real one to 10), trains the
recipe ``tiny-realism`` and prints, on held-out prompts, the evaluation of the learn stage; then the bins of the
calibration error; then a comparison with the ground truth, the probability that a rater calls an image
generated: the correlation of the predicted with the true proportion, within each generator, and what the true
proportions themselves would achieve. Parts that exist already are skipped; a killed run can be resumed.
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
from beholder.learn.formatting import format_number, format_with_interval
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run as learn
from beholder.simulate.expectation import chance_of_generated
from beholder.simulate.raters import draw_raters
from beholder.simulate.world import MANIFEST, World, paint_world, write_ground_truth
from beholder.stats.correlation.coefficients import Correlation, correlation
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.proportions import wilson
from beholder.stats.prediction.calibration_error import calibration_error
from beholder.stats.prediction.soft_label_likelihood import soft_label_likelihood
from beholder.study.study import FILE_NAME
from beholder.tables.store import TRUTH_ROOM, Store

WORLD = World(prompts=1200, reals=3000, size=96)
RATERS, TRIALS = 300, 200
"""Each rater sees 100 images of one generator and 100 real ones."""

RECIPE = "tiny-realism"
PANEL = 1000
"""Number of honest raters over whom the true proportion of an image is averaged."""


def make_world(folder: Path) -> None:
    """Render, simulate raters and consolidate, as far as it is not done."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not (folder / FILE_NAME).is_file():
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            painted = paint_world(WORLD, Path(scratch))
            manifest = Path(scratch) / MANIFEST
            make_study(["layer6-realism"], folder, manifest=manifest, copy=True, raters=RATERS, trials=TRIALS)
        write_ground_truth(Store(folder), WORLD, painted)
    print(design(folder), flush=True)
    print(run_simulated(folder, people=RATERS), flush=True)
    print(consolidate(folder), flush=True)


def held_out(folder: Path) -> pl.DataFrame:
    """Return the test images: predicted ``score``, observed ``share`` of the ``answers``, ``true`` proportion."""
    store = Store(folder)
    scores = store.read("predictions").filter(pl.col("model") == RECIPE).select("image", "score")
    labels = store.read("labels").filter(pl.col("method") == "share").select("image", "answers", share="value")
    images = store.read("images").select("image", "generator", "prompt")
    ground_truth = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "detectability")
    rows = (
        scores.join(labels, on="image")
        .join(images, on="image")
        .join(ground_truth.select("image", detectability="score"), on="image")
    )
    panel = draw_raters(PANEL, 0, np.random.default_rng(0))
    true_proportions = chance_of_generated(rows["detectability"].to_numpy(), panel)
    return rows.with_columns(
        true=pl.Series(true_proportions), group=pl.col("prompt").rank("dense").cast(pl.Int64) - 1
    )


def print_bins(rows: pl.DataFrame) -> None:
    """Print the bins of the calibration error."""
    group = rows["group"].to_numpy()
    weights = rater_weights(np.zeros(int(group.max()) + 1, np.int64), 2000, np.random.default_rng(0))
    predicted, share, answers = (rows[name].to_numpy() for name in ("score", "share", "answers"))
    error = calibration_error(predicted, share, answers, weights, clusters=group)
    low, high = wilson(error.observed * error.answers, error.answers)
    ece = format_with_interval(error.value, error.low, error.high)
    print(f"\nECE {ece}; by chance {format_number(error.by_chance)}\n")
    print("| predicted | said *generated* | answers |\n|---|---|---|")
    for number in range(len(error.answers)):
        observed = format_with_interval(error.observed[number], low[number], high[number])
        print(f"| {format_number(error.predicted[number])} | {observed} | {error.answers[number]:,.0f} |")


def print_truth(rows: pl.DataFrame) -> None:
    """Print the predictions against the true proportions, and what these would achieve."""
    generators = (rows["generator"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    group, score, share, true_proportions = (rows[name].to_numpy() for name in ("group", "score", "share", "true"))
    print("\n| correlation | predicted, with those asked | predicted, with all raters | true, with those asked |")
    print("|---|---|---|---|")
    columns = ((score, share), (score, true_proportions), (true_proportions, share))
    for name in sorted(rows["generator"].unique()):
        rows_of = (rows["generator"] == name).to_numpy()
        cells = [correlation(first[rows_of], second[rows_of]) for first, second in columns]
        print(f"| {name} ({rows_of.sum()}) | {' | '.join(_cell(cell) for cell in cells)} |")
    cells = [partial_correlation(first, second, generators) for first, second in columns]
    print(f"| within generators | {' | '.join(_cell(cell) for cell in cells)} |")
    answers = rows["answers"].to_numpy()
    generated_answers = np.rint(share * answers)
    weights = rater_weights(np.zeros(int(group.max()) + 1, np.int64), 2000, np.random.default_rng(0))
    print("\n| proportions | log-likelihood per answer | more than generator means |\n|---|---|---|")
    for who, proportions in (("predicted", score), ("true", true_proportions)):
        likelihood = soft_label_likelihood(
            proportions, generated_answers, answers, generators, weights, clusters=group
        )
        estimate, gain = likelihood.predictions, likelihood.gain
        written = (_cell(estimate), _cell(gain))
        print(f"| {who} | {' | '.join(written)} |")
    print(f"| generator means | {_cell(likelihood.generators)} | |")


def _cell(estimate: Correlation | Estimate) -> str:
    return format_with_interval(estimate.value, estimate.low, estimate.high)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    began = time.monotonic()
    make_world(arguments.folder)
    print(f"world: {time.monotonic() - began:.0f} s", flush=True)
    outcome = learn(arguments.folder, load_recipe(RECIPE), resume=True)
    print(outcome)
    print((outcome.folder / "README.md").read_text(encoding="utf-8").partition("## Agreement with raters")[2])
    rows = held_out(arguments.folder)
    print_bins(rows)
    print_truth(rows)


if __name__ == "__main__":
    main()
