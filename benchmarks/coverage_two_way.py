"""Coverage of two-way confidence intervals: the rate over all raters and all images.

    python benchmarks/coverage_two_way.py [--studies 2000] [--draws 1000] [--seed 1] [--workers 2]
    [--raters N …]

Prints a markdown table; ``docs/measured/two-way.md`` is a saved run. Every row has a seed of
its own, so that rows can be run separately.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights
from beholder.stats.intervals.two_way_bootstrap import two_way_ratio, two_way_replicates

RATERS, IMAGES = (10, 30, 100), (30, 200)
BATCH = 20  # independent studies that share one set of bootstrap weights


@dataclass(frozen=True)
class World:
    """The log-odds of an answer are the sum of an intercept, a rater effect and an image effect, both normal."""

    name: str
    base: float
    habit: float
    looks: float
    judged: float  # proportion of the images each rater judges

    def truth(self) -> float:
        """Return the rate over all raters and images, by quadrature."""
        nodes, masses = np.polynomial.hermite_e.hermegauss(81)
        rates = special.expit(self.base + np.hypot(self.habit, self.looks) * nodes)
        return float(rates @ masses / masses.sum())


WORLDS = (
    World("rate .50, both effects alike (sd .7), all images each", 0.0, 0.7, 0.7, 1.0),
    World("rate .17, raters differ more (1, .5), half of the images each", -2.0, 1.0, 0.5, 0.5),
    World("rate .24, images differ more (.3, 1.2), half of the images each", -1.5, 0.3, 1.2, 0.5),
)


def batch(job: tuple[World, int, int, int, np.random.SeedSequence]) -> NDArray[np.float64]:
    """Return (rules, studies): 1 where the interval covers the true value."""
    world, raters, images, draws, seed = job
    rng = np.random.default_rng(seed)
    truth = world.truth()
    u = rater_weights(np.zeros(raters, np.int64), draws, rng)
    v = rater_weights(np.zeros(images, np.int64), draws, rng)
    held = np.zeros((3, BATCH))
    for number in range(BATCH):
        habit, looks = rng.normal(0, world.habit, (raters, 1)), rng.normal(0, world.looks, images)
        answers = rng.random((raters, images)) < special.expit(world.base + habit + looks)
        judged = np.argsort(rng.random((raters, images)), axis=1) < round(world.judged * images)
        who, what = np.nonzero(judged)
        wrong, ones, cell = answers[who, what].astype(np.float64), np.ones(len(who)), np.zeros(len(who), np.int64)
        over_raters = clustered_ratio(
            (answers & judged).sum(axis=1)[:, None], judged.sum(axis=1)[:, None], u, rule="bca"
        )[0]
        plain = np.quantile(two_way_replicates(who, what, wrong, ones, cell, u, v), [0.025, 0.975])
        both = two_way_ratio(who, what, wrong, ones, cell, u, v)[0]
        ends = ((over_raters.low, over_raters.high), plain, (both.low, both.high))
        held[:, number] = [low <= truth <= high for low, high in ends]
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--raters", nargs="*", type=int, choices=RATERS, default=RATERS)
    options = parser.parse_args()
    began = time.perf_counter()
    print("| world | raters | images | over raters only | pigeonhole percentile | calibrated BCa |")
    print("|---|---|---|---|---|---|")
    with ProcessPoolExecutor(options.workers) as pool:
        for (number, world), raters, images in product(enumerate(WORLDS), options.raters, IMAGES):
            root = np.random.SeedSequence([options.seed, number, raters, images])
            jobs = [
                (world, raters, images, options.draws, seed) for seed in root.spawn(-(-options.studies // BATCH))
            ]
            shares = np.concatenate(list(pool.map(batch, jobs)), axis=1).mean(axis=1)
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            print(f"| {world.name} | {raters} | {images} | {cells} |", flush=True)
    print(f"\n{options.studies} studies a row, {options.draws} draws, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
