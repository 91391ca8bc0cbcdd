"""Coverage of confidence intervals of inter-rater agreement: simulated raters with known habits.

    python benchmarks/coverage_agreement.py [--studies 2000] [--draws 1000] [--seed 1] [--workers 2]
    [--only NAME …]

Prints markdown tables; ``docs/measured/agreement.md`` has a saved run. Labels and rankings have fixed items;
the items of intraclass correlations are sampled for each study, as their confidence intervals are over items.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.agreement.fleiss import fleiss_kappa
from beholder.stats.agreement.gwet import gwet_ac
from beholder.stats.agreement.intraclass import intraclass
from beholder.stats.agreement.kendall_w import concordance_of_sets, kendall_w
from beholder.stats.agreement.krippendorff import krippendorff_alpha
from beholder.stats.intervals.bootstrap import rater_weights

RATERS = (10, 30, 100)
BATCH = 20  # studies a job
KINDS = np.random.default_rng(0).integers(0, 2, 80)  # the items that are labelled
QUALITY = np.random.default_rng(0).normal(size=20)  # and those that are ordered
SETS = QUALITY.reshape(5, 4)  # the same as five sets of four
ITEMS = 30  # that are scored
SPREADS = (1.0, 0.5, 1.0)  # standard deviations of items, raters and noise

Job = tuple[str, int, int, np.random.SeedSequence]
"""A world, the numbers of raters and of bootstrap replicates, and the seed of one batch of studies."""

Batch = Callable[[Job], NDArray[np.float64]]
"""Returns (studies, statistics): 1 where the interval covers the true value."""


def label_batch(job: Job) -> NDArray[np.float64]:
    """Nominal labels: a rater knows some of the answers and guesses the rest, for all or half of the items."""
    world, raters, draws, seed = job
    rng = np.random.default_rng(seed)
    alpha, ac1 = label_truths()
    held = []
    for _ in range(BATCH):
        weights = rater_weights(np.zeros(raters, np.int64), draws, rng)
        answers = simulate_labels(raters, 0.5 if world == "half" else 0.0, rng)
        estimates = [
            (krippendorff_alpha(*answers, weights, scale="nominal"), alpha),
            (fleiss_kappa(*answers, weights), alpha),
            (gwet_ac(*answers, weights), ac1),
        ]
        held.append([estimate.low <= truth <= estimate.high for estimate, truth in estimates])
    return np.array(held, np.float64)


def order_batch(job: Job) -> NDArray[np.float64]:
    """Rankings of twenty items by every rater; and of five sets of four items, three sets per rater."""
    _, raters, _, seed = job
    rng = np.random.default_rng(seed)
    who, what = (index.ravel() for index in np.indices((raters, len(QUALITY))))
    held = []
    for _ in range(BATCH):
        concordance = kendall_w(who, what, simulate_scores(QUALITY, raters, rng).ravel()).w
        truth = (1 + (raters - 1) * CORRELATION) / raters
        own = np.argsort(rng.random((raters, 5)), axis=1) < 3  # (raters, sets)
        rows = own[who, what // 4]
        scores = simulate_scores(QUALITY, raters, rng).ravel()
        set_concordance = concordance_of_sets(
            who[rows], what[rows] // 4, what[rows] % 4, scores[rows]
        ).mean_correlation
        held.append(
            [
                concordance.low <= truth <= concordance.high,
                set_concordance.low <= set_truth(own.sum(axis=0)) <= set_concordance.high,
            ]
        )
    return np.array(held, np.float64)


def score_batch(job: Job) -> NDArray[np.float64]:
    """Scores: item + rater + noise, unrounded or rounded to 1 … 5; for ICC(1) each score has another rater."""
    world, raters, _, seed = job
    rng = np.random.default_rng(seed)
    cut = world == "1 to 5"
    share, agreed = icc_truths(cut)
    held = []
    what, who = (index.ravel() for index in np.indices((ITEMS, raters)))
    for _ in range(BATCH):
        item = SPREADS[0] * rng.normal(size=(ITEMS, 1))
        rater, strangers = (SPREADS[1] * rng.normal(size=shape) for shape in ((1, raters), (ITEMS, raters)))
        noise = SPREADS[2] * rng.normal(size=(ITEMS, raters))
        first = intraclass(who, what, on_scale(item + strangers + noise, cut).ravel()).one_way
        both = intraclass(who, what, on_scale(item + rater + noise, cut).ravel())
        estimates = ((first, share), (both.random, share), (both.fixed, agreed))
        held.append([estimate.low <= truth <= estimate.high for estimate, truth in estimates])
    return np.array(held, np.float64)


def simulate_labels(
    raters: int, absent: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return raters, items and labels: a rater knows a proportion ~ beta(3, 2), guesses the rest."""
    shape = (raters, len(KINDS))
    knows = rng.random(shape) < rng.beta(3, 2, size=(raters, 1))
    labels = np.where(knows, KINDS, rng.integers(0, 2, shape))
    who, what = np.nonzero(rng.random(shape) >= absent)
    return who, what, labels[who, what]


def label_truths() -> tuple[float, float]:
    """Return α (and κ) and AC1 with infinitely many raters.

    A rater is correct with probability .6 + .4/2, so two raters agree on an item with .8² + .2²; an answer is 1
    with chance p, so two answers at random agree with p² + (1−p)².
    """
    agree = 0.8**2 + 0.2**2
    p = 0.8 * KINDS.mean() + 0.2 * (1 - KINDS.mean())
    chance, gwet = p**2 + (1 - p) ** 2, 2 * p * (1 - p)
    return float((agree - chance) / (1 - chance)), float((agree - gwet) / (1 - gwet))


def simulate_scores(quality: NDArray[np.float64], raters: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return scores (raters, items): quality with a noise level that differs between raters."""
    return quality + rng.uniform(0.5, 2.5, (raters, 1)) * rng.normal(size=(raters, len(quality)))


def mean_correlation(quality: NDArray[np.float64]) -> float:
    """Return Spearman's correlation of two raters, on average over infinitely many: the variance of mean ranks."""
    ranks = stats.rankdata(simulate_scores(quality, 100_000, np.random.default_rng(1)), axis=1)
    items = len(quality)
    return float(((ranks.mean(axis=0) - (items + 1) / 2) ** 2).sum() / (items * (items**2 - 1) / 12))


CORRELATION = mean_correlation(QUALITY)
OF_SETS = np.array([mean_correlation(quality) for quality in SETS])


def set_truth(raters: NDArray[np.int64]) -> float:
    """Return the mean correlation of sets that ``raters`` raters ranked, weighted by (m − 1)/m as W is."""
    weight = np.where(raters > 1, (raters - 1) / np.maximum(raters, 1), 0.0)
    return float(weight @ OF_SETS / weight.sum())


def on_scale(scores: NDArray[np.float64], cut: bool) -> NDArray[np.float64]:
    return np.clip(np.rint(3 + scores), 1, 5) if cut else scores


def icc_truths(cut: bool) -> tuple[float, float]:
    """Return ICC(1) = ICC(2), and ICC(3), with infinitely many items and raters, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    weights = weights / weights.sum()
    item, rater = SPREADS[0] * nodes[:, None], SPREADS[1] * nodes
    edges = np.array([1.5, 2.5, 3.5, 4.5]) - 3
    if cut:
        above = special.ndtr((item[..., None] + rater[:, None] - edges) / SPREADS[2])  # chance to exceed each edge
        mean = 1 + above.sum(axis=-1)
        square = 1 + above @ np.diff(np.arange(1, 6) ** 2)
    else:
        mean, square = item + rater, (item + rater) ** 2 + SPREADS[2] ** 2
    centre = weights @ mean @ weights
    total = weights @ square @ weights - centre**2
    of_items = weights @ (mean @ weights - centre) ** 2
    of_raters = weights @ (weights @ mean - centre) ** 2
    return float(of_items / total), float(of_items / (total - of_raters))


SECTIONS: dict[str, tuple[Batch, tuple[str, ...], str, tuple[str, ...]]] = {
    "labels": (
        label_batch,
        ("all", "half"),
        "items judged by each",
        ("Krippendorff's α", "Fleiss' κ", "Gwet's AC1"),
    ),
    "orders": (order_batch, ("own size",), "noise", ("Kendall's W", "W of five sets, three each")),
    "scores": (score_batch, ("normal", "1 to 5"), "scores", ("ICC(1)", "ICC(2)", "ICC(3)")),
}
"""What is simulated, the worlds, the header of their column, and the statistics."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    began = time.perf_counter()
    batches = -(-options.studies // BATCH)
    with ProcessPoolExecutor(options.workers) as pool:
        for name in options.only:
            batch, worlds, head, statistics = SECTIONS[name]
            root = np.random.SeedSequence(options.seed)
            print(f"| {head} | raters | {' | '.join(statistics)} |\n|---|---|{'---|' * len(statistics)}")
            for world, raters in product(worlds, RATERS):
                jobs = [(world, raters, options.draws, seed) for seed in root.spawn(batches)]
                shares = np.concatenate(list(pool.map(batch, jobs))).mean(axis=0)
                cells = " | ".join(f"{100 * share:.1f}" for share in shares)
                print(f"| {world} | {raters} | {cells} |", flush=True)
            print()
    print(f"{batches * BATCH} studies a row, {options.draws} draws, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
