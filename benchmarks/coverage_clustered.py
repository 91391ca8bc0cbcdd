"""Coverage of confidence intervals over raters: simulated studies with known true values.

    python benchmarks/coverage_clustered.py [--studies 2000] [--draws 2000] [--seed 1] [--workers 2]

Prints markdown tables; ``docs/measured/coverage.md`` is a saved run. Separations are in ``coverage_verdicts.py``.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights
from beholder.stats.intervals.proportions import wilson

RATERS = (10, 30, 100)
BATCH = 20  # independent studies that share one set of bootstrap weights


@dataclass(frozen=True)
class RateWorld:
    """Raters with beta-distributed error rates."""

    name: str
    a: float
    b: float
    fewest: int  # answers per rater, uniform between the two
    most: int


RATES = (
    RateWorld("rate .40, sd .12, 100 answers each", 6, 9, 100, 100),
    RateWorld("rate .40, sd .12, 10–80 answers", 6, 9, 10, 80),
    RateWorld("rate .125, sd .08, 40 answers each", 2, 14, 40, 40),
    RateWorld("rate .125, sd .08, 10–80 answers", 2, 14, 10, 80),
    RateWorld("rate .10, sd .09 (mode at 0), 40 answers each", 1, 9, 40, 40),
)


@dataclass(frozen=True)
class VoteWorld:
    """Raters with different tastes: each item's rating is shifted by a normal variable for each rater."""

    name: str
    taste: float
    tie: float | None
    fewest: int  # votes per rater, uniform between the two
    most: int


VOTES = (
    VoteWorld("5 items, taste sd .5, no ties, 40 votes each", 0.5, None, 40, 40),
    VoteWorld("5 items, taste sd .5, ties, 40 votes each", 0.5, -0.7, 40, 40),
    VoteWorld("5 items, taste sd 1, ties, 10–80 votes", 1.0, -0.7, 10, 80),
)
RATINGS = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])


def rate_batch(job: tuple[RateWorld, int, int, np.random.SeedSequence]) -> NDArray[np.float64]:
    """Return for one batch of studies (rules, studies): 1 where the interval covers the true value."""
    world, raters, draws, seed = job
    rng = np.random.default_rng(seed)
    answers = rng.integers(world.fewest, world.most, size=(raters, BATCH), endpoint=True)
    wrong = rng.binomial(answers, rng.beta(world.a, world.b, size=(raters, BATCH)))
    weights = rater_weights(np.zeros(raters, np.int64), draws, rng)
    truth = world.a / (world.a + world.b)
    low, high = wilson(wrong.sum(axis=0), answers.sum(axis=0))
    held = [(low <= truth) & (truth <= high)]
    for rule, expand in (("percentile", False), ("percentile", True), ("bca", True)):
        estimate = clustered_ratio(wrong, answers, weights, rule=rule, expand=expand)  # type: ignore[arg-type]
        held.append((estimate.low <= truth) & (truth <= estimate.high))
    return np.array(held, np.float64)


def vote_batch(job: tuple[VoteWorld, int, int, np.random.SeedSequence]) -> NDArray[np.float64]:
    """Return for one batch of studies (rules, studies × items): 1 where the interval covers the true value."""
    world, raters, draws, seed = job
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(len(RATINGS)), 2)))
    truth = marginal_ratings(world, pairs)
    held = []
    for _ in range(BATCH):
        counts = simulate_votes(world, pairs, raters, rng)
        weights = rater_weights(np.zeros(raters, np.int64), draws, rng)
        fit = bradley_terry(pairs, counts, items=len(RATINGS), weights=weights)
        spread = 1.96 * fit.standard_errors
        row = [np.abs(fit.ratings - truth) <= spread]
        for rule, expand in (("percentile", False), ("percentile", True), ("bca", True)):
            estimates = fit.estimates(rule=rule, expand=expand)  # type: ignore[arg-type]
            row.append((estimates.low <= truth) & (truth <= estimates.high))
        held.append(row)
    return np.array(held, np.float64).transpose(1, 0, 2).reshape(4, -1)


def simulate_votes(
    world: VoteWorld, pairs: NDArray[np.int64], raters: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return counts (raters, pairs, 3)."""
    taste = RATINGS + rng.normal(0, world.taste, size=(raters, len(RATINGS)))
    chances = outcome_chances(taste[:, pairs[:, 0]] - taste[:, pairs[:, 1]], world.tie)
    votes = rng.integers(world.fewest, world.most, size=raters, endpoint=True)
    each = rng.multinomial(votes, np.full(len(pairs), 1 / len(pairs)))  # (raters, pairs)
    return rng.multinomial(each, chances)


def outcome_chances(gap: NDArray[np.float64], tie: float | None) -> NDArray[np.float64]:
    """Return the probabilities of win, loss and tie on the last axis."""
    parts = [np.exp(gap / 2), np.exp(-gap / 2), np.full_like(gap, 0 if tie is None else np.exp(tie))]
    stacked = np.stack(parts, axis=-1)
    return np.asarray(stacked / stacked.sum(axis=-1, keepdims=True))


def marginal_ratings(world: VoteWorld, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the model's estimates with infinitely many raters: the fit to probabilities averaged over tastes.

    A pair's gap is normal with variance 2 × taste², so Gauss–Hermite quadrature gives the averages.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    gap = RATINGS[pairs[:, 0]] - RATINGS[pairs[:, 1]]
    spread = gap[:, None] + np.sqrt(2) * world.taste * nodes  # (pairs, nodes)
    chances = np.einsum("pno,n->po", outcome_chances(spread, world.tie), weights / weights.sum())
    return bradley_terry(pairs, 1e6 * chances, items=len(RATINGS)).ratings


def table(title: str, header: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    names = tuple(header)
    lines = [f"### {title}", "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows), ""])


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    began = time.perf_counter()
    root = np.random.SeedSequence(options.seed)
    batches = -(-options.studies // BATCH)

    with ProcessPoolExecutor(options.workers) as pool:

        def run(work: Callable[..., NDArray[np.float64]], world: object, raters: int) -> NDArray[np.float64]:
            jobs = [(world, raters, options.draws, seed) for seed in root.spawn(batches)]
            held = np.concatenate(list(pool.map(work, jobs)), axis=1)
            return np.asarray(held.mean(axis=1), np.float64)

        rules = ("naive Wilson", "percentile", "expanded percentile", "expanded BCa")
        rows = [(w.name, str(n), *map(percent, run(rate_batch, w, n))) for w in RATES for n in RATERS]
        print(table("Ratio of sums, nominal 95 %", ("world", "raters", *rules), rows), flush=True)
        rules = ("sandwich ± 1.96", *rules[1:])
        rows = [(w.name, str(n), *map(percent, run(vote_batch, w, n))) for w in VOTES for n in RATERS]
        print(table("Bradley–Terry ratings, nominal 95 %", ("world", "raters", *rules), rows), flush=True)
    print(f"{batches * BATCH} studies a row, {options.draws} draws, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
