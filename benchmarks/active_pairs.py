"""Answers saved by active selection of pairs: simulated raters vote on synthetic items.

    python benchmarks/active_pairs.py [--items 20] [--studies 40] [--answers 1200] [--seed 1]

Prints a markdown table; ``docs/measured/active-pairs.md`` is a saved run.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.comparisons.active_pairs import Posterior, all_pairs, best_batch, laplace_posterior, plan_pairs

SPREAD = 1.0  # standard deviation of the true ratings, and of the prior
LEVELS = (0.7, 0.8, 0.85)  # Kendall's τ with the true ranking

Chooser = Callable[[Posterior, int, np.random.Generator], NDArray[np.int64]]
"""Pairs (batch, 2) to be shown next."""


def evenly(posterior: Posterior, batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
    pairs = all_pairs(len(posterior.mean))
    return pairs[rng.integers(len(pairs), size=batch)]


def by_plan(exploration: float) -> Chooser:
    def choose(posterior: Posterior, batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
        plan = plan_pairs(posterior, batch=batch, exploration=exploration)
        return plan.pairs[plan.draw(batch, rng)]

    return choose


def greedily(posterior: Posterior, batch: int, rng: np.random.Generator) -> NDArray[np.int64]:
    del rng  # nothing is drawn
    return best_batch(posterior, batch)


CHOOSERS: dict[str, Chooser] = {
    "even": evenly,
    "active, 50 % even": by_plan(0.5),
    "active, 20 % even": by_plan(0.2),
    "best batch, nothing drawn": greedily,
}


def study(choose: Chooser, items: int, answers: int, batch: int, seed: int) -> NDArray[np.float64]:
    """Return Kendall's τ with the true order after each batch of answers."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, SPREAD, items)
    first, second, wins = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    accuracy = []
    for _ in range(0, answers, batch):
        posterior = laplace_posterior(first, second, wins, items, SPREAD)
        pairs = choose(posterior, batch, rng)
        won = rng.random(batch) < special.expit(truth[pairs[:, 0]] - truth[pairs[:, 1]])
        first, second = np.concatenate([first, pairs[:, 0]]), np.concatenate([second, pairs[:, 1]])
        wins = np.concatenate([wins, won.astype(np.float64)])
        estimate = laplace_posterior(first, second, wins, items, SPREAD).mean
        accuracy.append(stats.kendalltau(estimate, truth).statistic)
    return np.array(accuracy)


def needed(mean: NDArray[np.float64], level: float, batch: int) -> float:
    """Return the number of answers from which on the mean τ stays at or above ``level``, or nan."""
    below = np.flatnonzero(mean < level)
    after = int(below[-1]) + 1 if len(below) else 0
    return float("nan") if after == len(mean) else float((after + 1) * batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--answers", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    batch, began = options.items, time.perf_counter()
    seeds = [options.seed * 10_000 + number for number in range(options.studies)]
    header = [f"answers to τ = {level}" for level in LEVELS] + [f"τ after {options.answers}", "± se"]
    print(f"| pairs | {' | '.join(header)} |\n|{'---|' * (len(header) + 1)}")
    even: list[float] = []
    for name, choose in CHOOSERS.items():
        runs = np.array([study(choose, options.items, options.answers, batch, seed) for seed in seeds])
        mean = runs.mean(axis=0)
        counts = [needed(mean, level, batch) for level in LEVELS]
        even = even or counts
        cells = [f"{count:.0f} ({count / base:.2f} ×)" for count, base in zip(counts, even, strict=True)]
        error = runs[:, -1].std(ddof=1) / np.sqrt(len(runs))
        print(f"| {name} | {' | '.join(cells)} | {mean[-1]:.3f} | {error:.3f} |", flush=True)
    print(f"\n{options.items} items, {options.studies} studies, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
