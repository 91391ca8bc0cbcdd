"""How often intervals of agreement hold the truth: simulated raters with known habits, the items fixed.

    python benchmarks/coverage_agreement.py [--studies 2000] [--draws 1000] [--seed 1] [--workers 2]

Prints a markdown table; ``docs/measured/agreement.md`` has a saved run.
"""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from beholder.stats.bootstrap import person_weights
from beholder.stats.fleiss import fleiss_kappa
from beholder.stats.gwet import gwet_ac
from beholder.stats.kendall_w import kendall_w
from beholder.stats.krippendorff import krippendorff_alpha

PEOPLE = (10, 30, 100)
ABSENT = (0.0, 0.5)  # share of items that a rater leaves out
BATCH = 20  # studies a job
KINDS = np.random.default_rng(0).integers(0, 2, 80)  # the items of the first world
QUALITY = np.random.default_rng(0).normal(size=20)  # and of the second
STATISTICS = ("Krippendorff's α", "Fleiss' κ", "Gwet's AC1", "Kendall's W")

Job = tuple[float, int, int, np.random.SeedSequence]


def batch(job: Job) -> NDArray[np.float64]:
    """Return (studies, statistics): 1 where the interval holds the truth; W only where all judged everything."""
    absent, people, draws, seed = job
    rng = np.random.default_rng(seed)
    held = np.full((BATCH, len(STATISTICS)), np.nan)
    alpha, ac1 = label_truths()
    for study in range(BATCH):
        weights = person_weights(np.zeros(people, np.int64), draws, rng)
        answers = simulate_labels(people, absent, rng)
        found = [
            (krippendorff_alpha(*answers, weights, scale="nominal"), alpha),
            (fleiss_kappa(*answers, weights), alpha),
            (gwet_ac(*answers, weights), ac1),
        ]
        if absent == 0:
            who, what = (index.ravel() for index in np.indices((people, len(QUALITY))))
            found.append(
                (kendall_w(who, what, simulate_scores(people, rng).ravel(), weights).w, concordance(people))
            )
        held[study, : len(found)] = [estimate.low <= truth <= estimate.high for estimate, truth in found]
    return held


def simulate_labels(
    people: int, absent: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return raters, items and labels: a rater knows a share ~ beta(3, 2) of the answers and guesses the rest."""
    shape = (people, len(KINDS))
    knows = rng.random(shape) < rng.beta(3, 2, size=(people, 1))
    labels = np.where(knows, KINDS, rng.integers(0, 2, shape))
    who, what = np.nonzero(rng.random(shape) >= absent)
    return who, what, labels[who, what]


def label_truths() -> tuple[float, float]:
    """Return what α (and κ) and AC1 are with endless raters.

    Someone is right with chance .6 + .4/2, so two people agree on an item with .8² + .2²; an answer is 1 with
    chance p, so two answers at random agree with p² + (1−p)².
    """
    agree = 0.8**2 + 0.2**2
    p = 0.8 * KINDS.mean() + 0.2 * (1 - KINDS.mean())
    chance, gwet = p**2 + (1 - p) ** 2, 2 * p * (1 - p)
    return float((agree - chance) / (1 - chance)), float((agree - gwet) / (1 - gwet))


def simulate_scores(people: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return scores (people, items): quality with noise of one's own size."""
    return QUALITY + rng.uniform(0.5, 2.5, (people, 1)) * rng.normal(size=(people, len(QUALITY)))


def concordance(people: int) -> float:
    """Return W of so many raters from the mean correlation r of endless ones: (1 + (m−1) r)/m."""
    return (1 + (people - 1) * MEAN_CORRELATION) / people


def _mean_correlation() -> float:
    ranks = stats.rankdata(simulate_scores(100_000, np.random.default_rng(1)), axis=1)
    items = len(QUALITY)
    return float(((ranks.mean(axis=0) - (items + 1) / 2) ** 2).sum() / (items * (items**2 - 1) / 12))


MEAN_CORRELATION = _mean_correlation()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    began = time.perf_counter()
    root = np.random.SeedSequence(options.seed)
    batches = -(-options.studies // BATCH)
    print(
        "| items judged by each | people | " + " | ".join(STATISTICS) + " |\n|---|---|" + "---|" * len(STATISTICS)
    )
    with ProcessPoolExecutor(options.workers) as pool:
        for absent, people in product(ABSENT, PEOPLE):
            jobs = [(absent, people, options.draws, seed) for seed in root.spawn(batches)]
            shares = np.concatenate(list(pool.map(batch, jobs))).mean(axis=0)
            cells = " | ".join("–" if np.isnan(share) else f"{100 * share:.1f}" for share in shares)
            print(f"| {'half' if absent else 'all'} | {people} | {cells} |", flush=True)
    print(f"\n{batches * BATCH} studies a row, {options.draws} draws, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
