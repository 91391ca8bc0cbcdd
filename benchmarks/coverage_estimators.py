"""Coverage of confidence intervals of means, d′, correlations, prediction-powered means and rankings.

    python benchmarks/coverage_estimators.py [--studies 2000] [--draws 1000] [--seed 1] [--workers 2] [--only
    NAME …]

Prints markdown tables; ``docs/measured/coverage-estimators.md`` is a saved run. Proportions, Bradley–Terry and
Krippendorff's α are in ``coverage_clustered.py``, separations of a finished study in ``coverage_verdicts.py``. One
process; each section has a seed of its own.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from coverage_clustered import RATERS, RATINGS, percent, table
from numpy.typing import NDArray
from scipy import special

from beholder.stats.comparisons.plackett_luce import plackett_luce
from beholder.stats.correlation.bootstrap import bootstrap_correlation
from beholder.stats.correlation.coefficients import Kind, correlation
from beholder.stats.correlation.jackknife import jackknife_correlation
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights
from beholder.stats.intervals.confidence_sequence import asymptotic_sequence, log_capital
from beholder.stats.prediction.prediction_powered import Powered, powered, powered_difference, powered_mean
from beholder.stats.psychophysics.detection import detection
from beholder.stats.significance.holm import holm
from beholder.stats.significance.power import means_group
from beholder.stats.significance.sequential_separation import sequential_separation

BATCH = 20  # independent studies that share one set of bootstrap weights
TRIALS = 50  # images of each kind for d′
RHO, SIGMA = 0.6, 0.8

CASES: tuple[tuple[str, Kind, float, str], ...] = (
    ("normal, Pearson", "pearson", RHO, "normal"),
    ("normal, Spearman", "spearman", 6 / np.pi * np.arcsin(RHO / 2), "normal"),
    ("normal, Kendall", "kendall", 2 / np.pi * np.arcsin(RHO), "normal"),
    ("log-normal, Pearson", "pearson", np.expm1(RHO * SIGMA**2) / np.expm1(SIGMA**2), "log-normal"),
    ("heavy tails (t, 5), Pearson", "pearson", RHO, "heavy"),
)
"""A name, a coefficient, its true value, and the columns: normal, exponentials, or both over one root of χ²."""

RESAMPLED = CASES[:4]
"""The worlds on which the alternative intervals were compared."""


Job = tuple[int, int, np.random.SeedSequence]
"""The numbers of raters and of bootstrap replicates, and the seed of one batch of studies."""


def weights_of(raters: int, draws: int, rng: np.random.Generator) -> NDArray[np.int32]:
    return rater_weights(np.zeros(raters, np.int64), draws, rng)


def rating_batch(job: Job) -> NDArray[np.float64]:
    """Ratings 1–5: raters have different means and 4–40 ratings each; the true value is the population mean."""
    raters, draws, seed = job
    rng = np.random.default_rng(seed)
    answers = rng.integers(4, 40, (raters, BATCH), endpoint=True)
    sums = answers + rng.binomial(4 * answers, rng.beta(3, 2, (raters, BATCH)))  # 1 + Bin(4, .6 on average) each
    total, truth = answers.sum(axis=0), 3.4
    naive = np.abs(sums.sum(axis=0) / total - truth) <= 1.96 * np.sqrt(4 * 0.6 * 0.4 / total)
    estimate = clustered_ratio(sums, answers, weights_of(raters, draws, rng))
    return np.array(
        [naive, (estimate.low <= truth) & (estimate.high >= truth), estimate.high - estimate.low], np.float64
    )


def d_prime_batch(job: Job) -> NDArray[np.float64]:
    """Raters have different d′ and criteria; the true value is the population mean of the corrected d′."""
    raters, draws, seed = job
    rng = np.random.default_rng(seed)
    truth = _expected_d_prime(TRIALS)
    d, c = rng.normal(1.0, 0.5, (raters, BATCH)), rng.normal(0, 0.3, (raters, BATCH))
    hits = rng.binomial(TRIALS, special.ndtr(d / 2 - c))
    alarms = rng.binomial(TRIALS, special.ndtr(-d / 2 - c))
    score = detection(hits, TRIALS, alarms, TRIALS).d_prime
    estimate = clustered_ratio(score, np.ones_like(score), weights_of(raters, draws, rng))
    return np.array([(estimate.low <= truth) & (truth <= estimate.high)], np.float64)


def _expected_d_prime(trials: int) -> float:
    """Return the mean corrected d′ of the population, by quadrature over d′ and criterion."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    weights = weights / weights.sum()
    d, c = (axis.ravel() for axis in np.meshgrid(1 + 0.5 * nodes, 0.3 * nodes, indexing="ij"))
    count = np.arange(trials + 1)
    z = special.ndtri((count + 0.5) / (trials + 1))

    def mean_z(chance: NDArray[np.float64]) -> NDArray[np.float64]:
        ways = np.exp(
            special.gammaln(trials + 1) - special.gammaln(count + 1) - special.gammaln(trials - count + 1)
        )
        return np.asarray((ways * chance[:, None] ** count * (1 - chance[:, None]) ** (trials - count)) @ z)

    gap = mean_z(special.ndtr(d / 2 - c)) - mean_z(special.ndtr(-d / 2 - c))
    return float(np.outer(weights, weights).ravel() @ gap)


def correlation_batch(job: Job) -> NDArray[np.float64]:
    """The intervals in use, closed forms and the jackknife, on normal pairs with ρ = .6 and transformed ones."""
    points, _, seed = job
    rng = np.random.default_rng(seed)
    held = np.zeros((len(CASES), 2, BATCH))
    for study in range(BATCH):
        x, y = _normal_pairs(points, rng)
        tails = np.sqrt(5 / rng.chisquare(5, points))
        worlds = {
            "normal": (x, y),
            "log-normal": (np.exp(SIGMA * x), np.exp(SIGMA * y)),
            "heavy": (tails * x, tails * y),
        }
        for case, (_, kind, truth, world) in enumerate(CASES):
            estimates = (correlation(*worlds[world], kind=kind), jackknife_correlation(*worlds[world], kind=kind))
            held[case, :, study] = [each.low <= truth <= each.high for each in estimates]
    return held.reshape(-1, BATCH)


def resampled_batch(job: Job) -> NDArray[np.float64]:
    """The alternatives: percentile and BCa bootstrap; log-normal pairs have the ranks of normal ones."""
    points, draws, seed = job
    rng = np.random.default_rng(seed)
    weights = weights_of(points, draws, rng)
    held = np.zeros((len(RESAMPLED), 2, BATCH))
    for study in range(BATCH):
        x, y = _normal_pairs(points, rng)
        for case, (_, kind, truth, world) in enumerate(RESAMPLED):
            first, second = (np.exp(SIGMA * x), np.exp(SIGMA * y)) if world == "log-normal" else (x, y)
            estimates = [
                bootstrap_correlation(first, second, weights, kind=kind, rule=rule)
                for rule in ("percentile", "bca")
            ]
            held[case, :, study] = [each.low <= truth <= each.high for each in estimates]
    return held.reshape(-1, BATCH)


def _normal_pairs(points: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x = rng.normal(size=points)
    return x, RHO * x + np.sqrt(1 - RHO**2) * rng.normal(size=points)


def powered_batch(noise: float, job: Job) -> NDArray[np.float64]:
    """Ten labels per rater and 2,000 scored images; and the difference of two generators by the same raters."""
    raters, _, seed = job
    rng = np.random.default_rng(seed)
    rows = np.zeros((8, BATCH))
    for study in range(BATCH):
        habit = rng.normal(0, 0.3, raters)
        first, second = (_labelled(habit, noise, rng) for _ in range(2))
        estimates = [powered_mean(first, tuning=tuning) for tuning in (0.0, 1.0, None)]
        estimates += [powered_difference(first, second, tuning=tuning) for tuning in (0.0, None)]
        width = [each.high - each.low for each in estimates]
        rows[:5, study] = [each.low <= 0 <= each.high for each in estimates]
        rows[5:, study] = width[1] / width[0], width[2] / width[0], width[4] / width[3]
    return rows


def _labelled(habit: NDArray[np.float64], noise: float, rng: np.random.Generator) -> Powered:
    """Return ten labels per rater, and scores of the labelled images and 2,000 others; all means are 0."""
    who = np.repeat(np.arange(len(habit)), 10)
    truth = rng.normal(size=len(who) + 2000)
    off = rng.normal(size=len(truth))
    score = off if np.isinf(noise) else truth + noise * off
    label = truth[: len(who)] + habit[who] + rng.normal(0, 0.3, len(who))
    return powered(label, score[: len(who)], score[len(who) :], clusters=who)


def ranking_batch(job: Job) -> NDArray[np.float64]:
    """Plackett–Luce: each rater ranks five sets of four out of five generators."""
    raters, draws, seed = job
    rng = np.random.default_rng(seed)
    weights = weights_of(raters, draws, rng)
    who = np.repeat(np.arange(raters), 5)
    held = np.zeros((1, BATCH))
    for study in range(BATCH):
        worth = RATINGS + rng.gumbel(size=(len(who), 5))  # (rankings, items)
        worth[np.arange(len(worth)), rng.integers(0, 5, len(worth))] = -np.inf
        order = np.argsort(-worth, axis=1)[:, :4]
        estimates = plackett_luce(who, order, items=5, weights=weights).estimates()
        held[0, study] = np.mean((estimates.low <= RATINGS) & (estimates.high >= RATINGS))
    return held


def looking_batch(within: bool, job: Job) -> NDArray[np.float64]:
    """Five equal generators, ten pairs, tested after every rater: any false separation at any time."""
    raters, _, seed = job
    rng = np.random.default_rng(seed)
    wrong = np.zeros((2, BATCH))
    for study in range(BATCH):
        habit = rng.normal(0, 0.1, (raters, 1)) if within else 0.0
        scores = np.clip(rng.normal(0.4, 0.12, (raters, 5)) + habit, 0, 1)
        wrong[:, study] = _ever_betting(scores, within=within), _ever_t_test(scores, within=within)
    return wrong


def _ever_betting(scores: NDArray[np.float64], *, within: bool) -> bool:
    raters, cells = scores.shape
    if within:
        return bool(sequential_separation(scores, within=True).separated.any())
    rows = np.full((raters * cells, cells), np.nan)
    rows[np.arange(raters * cells), np.tile(np.arange(cells), raters)] = scores.ravel()
    return bool(sequential_separation(rows, within=False).separated.any())


def _ever_t_test(scores: NDArray[np.float64], *, within: bool) -> bool:
    """Return whether any of Holm's tests is ever significant from the fifth rater on (naive repeated testing)."""
    first, second = np.triu_indices(scores.shape[1], k=1)
    n = np.arange(1, len(scores) + 1)[:, None]

    def moments(x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        mean = np.cumsum(x, axis=0) / n
        return mean, (np.cumsum(x**2, axis=0) / n - mean**2) / np.maximum(n - 1, 1)

    if within:
        mean, square = moments(scores[:, first] - scores[:, second])
        degrees = n - 1
    else:
        each, spread = moments(scores)
        mean, square = each[:, first] - each[:, second], spread[:, first] + spread[:, second]
        degrees = 2 * n - 2
    p = 2 * special.stdtr(degrees[4:], -np.abs(mean[4:]) / np.sqrt(square[4:]))
    smallest = p.min(axis=1) <= 0.05 / len(first)
    return any(holm(row).min() <= 0.05 for row in p[smallest])


def sequence_batch(shape: tuple[int, int], job: Job) -> NDArray[np.float64]:
    """The mean of raters' rates, estimated after each rater: any look that misses the true value."""
    raters, _, seed = job
    rng = np.random.default_rng(seed)
    truth = shape[0] / sum(shape)
    scores = rng.binomial(40, rng.beta(*shape, (BATCH, raters))) / 40
    betting = [log_capital(row, np.array([truth])).max() >= np.log(20) for row in scores]
    asymptotic = [asymptotic_sequence(row) for row in scores]
    missed = [bool(np.any((each.low > truth) | (each.high < truth))) for each in asymptotic]
    n = np.arange(1, raters + 1)
    mean = np.cumsum(scores, axis=1) / n
    spread = np.sqrt(np.maximum(np.cumsum(scores**2, axis=1) / n - mean**2, 1e-300) / np.maximum(n - 1, 1))
    reach = special.stdtrit(np.maximum(n - 1, 1), 0.975) * spread
    plain = np.any(np.abs(mean - truth)[:, 9:] > reach[:, 9:], axis=1)
    return np.array([betting, missed, plain], np.float64)


def stopping_batch(gap: float, job: Job) -> NDArray[np.float64]:
    """One pair that differs, judged by the same raters: the number of raters until separation, or infinity."""
    raters, _, seed = job
    rng = np.random.default_rng(seed)
    after = np.full((1, BATCH), np.inf)
    for study in range(BATCH):
        scores = np.clip(rng.normal([0.4 + gap, 0.4], 0.12, (raters, 2)), 0, 1)
        raters_needed = int(sequential_separation(scores, within=True).after[0])
        after[0, study] = raters_needed if raters_needed > 0 else np.inf
    return after


class Runner:
    """Runs batches of studies in several processes; the numbers do not depend on how many."""

    def __init__(self, pool: ProcessPoolExecutor, studies: int, draws: int, seed: int) -> None:
        self.pool, self.studies, self.draws, self.seed = pool, studies, draws, seed

    def raw(self, work: Callable[[Job], NDArray[np.float64]], raters: int, row: int = 0) -> NDArray[np.float64]:
        """Return the results of the batches, (measures, studies); ``row`` distinguishes worlds of one section."""
        seeds = np.random.SeedSequence([self.seed, raters, row]).spawn(-(-self.studies // BATCH))
        return np.concatenate(list(self.pool.map(work, [(raters, self.draws, seed) for seed in seeds])), axis=1)

    def __call__(self, work: Callable[[Job], NDArray[np.float64]], raters: int, row: int = 0) -> list[float]:
        return [float(value) for value in self.raw(work, raters, row).mean(axis=1)]


def ratings(run: Runner) -> str:
    rows = []
    for raters in RATERS:
        naive, held, width = run(rating_batch, raters)
        rows.append((str(raters), percent(naive), percent(held), f"{width:.2f}"))
    header = ("raters", "answers as independent", "expanded BCa over raters", "mean width")
    return table("Mean rating 1–5, 4–40 ratings per rater, nominal 95 %", header, rows)


def d_primes(run: Runner) -> str:
    rows = [(str(raters), *map(percent, run(d_prime_batch, raters))) for raters in RATERS]
    return table(f"Mean d′, {TRIALS} + {TRIALS} images per rater, nominal 95 %", ("raters", "expanded BCa"), rows)


def correlations(run: Runner) -> str:
    rows = []
    for points in RATERS:
        held = np.reshape(run(correlation_batch, points), (len(CASES), 2))
        for (name, kind, *_), row in zip(CASES, held, strict=True):
            cells = [percent(share) for share in row]
            used = 1 if kind == "pearson" else 0
            cells[used] = f"**{cells[used]}**"
            rows.append((name, str(points), *cells))
    return table("Correlations, ρ = .6, nominal 95 %", ("world", "points", "closed form", "jackknife"), rows)


def resampled(run: Runner) -> str:
    rows = []
    for points in RATERS:
        held = np.reshape(run(resampled_batch, points), (len(RESAMPLED), 2))
        rows += [(case[0], str(points), *map(percent, row)) for case, row in zip(RESAMPLED, held, strict=True)]
    header = ("world", "points", "expanded percentile", "expanded BCa")
    return table("Resampled correlations, for comparison, ρ = .6, nominal 95 %", header, rows)


def powered_means(run: Runner) -> str:
    rows = []
    worlds = (
        ("scores of r = .9", 0.48),
        ("scores of r = .75", 0.88),
        ("scores of r = .5", 1.73),
        ("useless scores", np.inf),
    )
    for row, (name, noise) in enumerate(worlds):
        for raters in RATERS:
            means_of_batches = run(partial(powered_batch, noise), raters, row)
            held, width = (
                [percent(x) for x in means_of_batches[:5]],
                [f"{100 * (x - 1):+.0f}" for x in means_of_batches[5:]],
            )
            rows.append((name, str(raters), *held[:3], *width[:2], *held[3:], width[2]))
    means = ("labels alone", "PPI", "PPI++", "PPI width, %", "PPI++ width, %")
    header = ("world", "raters", *means, "difference, labels alone", "difference, PPI++", "its width, %")
    return table("Prediction-powered means, clustered by rater, nominal 95 %", header, rows)


def rankings(run: Runner) -> str:
    rows = [(str(raters), *map(percent, run(ranking_batch, raters))) for raters in RATERS]
    return table(
        "Plackett–Luce, 5 generators, 5 rankings of 4 per rater, nominal 95 %", ("raters", "expanded BCa"), rows
    )


def looking(run: Runner) -> str:
    worlds = (("the same raters judge all", True), ("different raters", False))
    rows = [
        (name, *map(percent, run(partial(looking_batch, within), 150, row)))
        for row, (name, within) in enumerate(worlds)
    ]
    header = ("5 equal generators, 150 raters each", "sequential separation", "t tests with Holm at every look")
    return table("Any false separation at any look, nominal at most 5 %", header, rows)


def sequences(run: Runner) -> str:
    worlds = (("rates .40, sd .12", (6, 9)), ("rates .125, sd .08", (2, 14)), ("rates .10, mode at 0", (1, 9)))
    rows = [
        (name, *map(percent, run(partial(sequence_batch, shape), 300, row)))
        for row, (name, shape) in enumerate(worlds)
    ]
    header = ("300 raters", "betting", "asymptotic", "t interval at every look from the tenth on")
    return table("True value missed at any look, nominal at most 5 %", header, rows)


def stopping(run: Runner) -> str:
    rows = []
    for row, gap in enumerate((0.05, 0.1, 0.2)):
        after = run.raw(partial(stopping_batch, gap), 600, row)[0]
        points = [f"{raters:.0f}" for raters in np.quantile(after, (0.1, 0.5, 0.9), method="nearest")]
        rows.append(
            (f"{gap:.2f}", str(means_group(gap, 0.12)), *points, percent(float(np.isfinite(after).mean())))
        )
    header = ("difference", "planned: one look, power .8", "10 %", "half", "90 %", "separated within 600")
    return table("Raters until a true difference is separated, testing after each", header, rows)


SECTIONS: dict[str, Callable[[Runner], str]] = {
    "ratings": ratings,
    "d-prime": d_primes,
    "correlations": correlations,
    "resampled": resampled,
    "powered": powered_means,
    "rankings": rankings,
    "looking": looking,
    "sequences": sequences,
    "stopping": stopping,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        run = Runner(pool, options.studies, options.draws, options.seed)
        for name in options.only:
            print(SECTIONS[name](run), flush=True)
    print(f"{-(-options.studies // BATCH) * BATCH} studies a row, {options.draws} draws, seed {options.seed}")


if __name__ == "__main__":
    main()
