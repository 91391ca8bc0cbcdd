"""People on 40 prompts of TIFA-160 and scores of all: coverage and width of prediction-powered ratings.

    python benchmarks/tifa_powered.py [--draws 500] [--seed 1]

Prints a markdown table; ``docs/measured/boards.md`` has a saved run. One process. The true value is the mean of
all five people's answers on all 160 prompts. Of the 160, 40 are drawn for people and 120 for the scorer alone:
without replacement, so that every prompt is in one of both parts, or with replacement, as from a population of
prompts of which the 160 are the distribution.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # another package is called tests

from tifa import SCORES, draw_powered, read_tifa  # type: ignore[import-not-found]

USELESS = "noise"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began, tifa = time.monotonic(), read_tifa()
    truth = np.nanmean(tifa.answers, axis=(0, 1))
    image_means = np.nanmean(tifa.answers, axis=0)
    noise = np.random.default_rng([options.seed, 0]).normal(size=image_means.shape)
    print(
        "| score | r of images | drawn | coverage, people alone | coverage, with scores | width, median | mean |"
        " 90 % quantile | λ |\n|---|---|---|---|---|---|---|---|---|"
    )
    for name in (*SCORES, USELESS):
        scores = noise if name == USELESS else tifa.scores[name]
        r = np.corrcoef(scores.ravel(), image_means.ravel())[0, 1]
        for replace in (False, True):
            rng = np.random.default_rng([options.seed, 1, int(replace)])  # the same prompts for every score
            draws = [draw_powered(rng, tifa.answers, scores, replace=replace) for _ in range(options.draws)]
            alone, covered = (
                100 * np.mean([(getattr(d, low) <= truth) & (truth <= getattr(d, high)) for d in draws])
                for low, high in (("classical_low", "classical_high"), ("low", "high"))
            )
            ratios = np.array([d.width_ratio for d in draws])
            weights = np.median([d.tuning for d in draws])
            print(
                f"| {name} | {r:.3f} | {'with' if replace else 'without'} replacement | {alone:.1f} % "
                f"| {covered:.1f} % | {np.median(ratios):.3f} | {ratios.mean():.3f} "
                f"| {np.quantile(ratios, 0.9):.3f} | {weights:.2f} |",
                flush=True,
            )
    print(f"\n{options.draws} draws per row, {5 * options.draws:,} intervals; {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
