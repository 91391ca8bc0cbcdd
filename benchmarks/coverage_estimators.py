"""How often intervals of means, d′, correlations, prediction-powered means and rankings hold the truth.

    python benchmarks/coverage_estimators.py [--studies 2000] [--draws 1000] [--seed 1] [--only NAME …]

Prints markdown tables; ``docs/measured/coverage-estimators.md`` is a saved run. Shares, Bradley–Terry,
Krippendorff's α and separations of a finished study are in ``coverage_clustered.py``. One process; each section
has a seed of its own.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from coverage_clustered import PEOPLE, percent, table
from numpy.typing import NDArray
from scipy import special

from beholder.stats.bootstrap import clustered_ratio, person_weights
from beholder.stats.confidence_sequence import asymptotic_sequence, log_capital
from beholder.stats.correlation import KINDS, Kind, correlation
from beholder.stats.correlation_bootstrap import bootstrap_correlation
from beholder.stats.detection import detection
from beholder.stats.holm import holm
from beholder.stats.plackett_luce import plackett_luce
from beholder.stats.prediction_powered import Powered, powered, powered_difference, powered_mean
from beholder.stats.sequential_separation import sequential_separation

BATCH = 20  # independent studies that share one set of bootstrap weights
LEVEL = 0.95


def one_group(people: int) -> NDArray[np.int64]:
    return np.zeros(people, np.int64)


def batches(studies: int, people: int, draws: int, rng: np.random.Generator) -> Iterator[NDArray[np.int32]]:
    """Weights for each batch of studies."""
    for _ in range(-(-studies // BATCH)):
        yield person_weights(one_group(people), draws, rng)


def mean_ratings(studies: int, draws: int, rng: np.random.Generator) -> str:
    """Ratings 1–5: everyone has a mean of their own and 4–40 ratings; the truth is the mean over all people."""
    rows = []
    for people in PEOPLE:
        held, width, naive = [], [], []
        for weights in batches(studies, people, draws, rng):
            answers = rng.integers(4, 40, (people, BATCH), endpoint=True)
            leaning = rng.beta(3, 2, (people, BATCH))
            sums = answers + rng.binomial(
                4 * answers, leaning
            )  # each rating is 1 + Bin(4, leaning): mean 1 + 4 · .6
            found = clustered_ratio(sums, answers, weights)
            held.append((found.low <= 3.4) & (found.high >= 3.4))
            width.append(found.high - found.low)
            total = answers.sum(axis=0)
            reach = 1.96 * np.sqrt(4 * 0.6 * 0.4 / total)
            naive.append(np.abs(sums.sum(axis=0) / total - 3.4) <= reach)
        rows.append(
            (str(people), percent(float(np.mean(naive))), percent(float(np.mean(held))), f"{np.mean(width):.2f}")
        )
    header = ("people", "answers as independent", "expanded BCa over people", "mean width")
    return table("Mean rating 1–5, 4–40 ratings a person, nominal 95 %", header, rows)


def d_primes(studies: int, draws: int, rng: np.random.Generator) -> str:
    """Everyone has a d′ and a criterion of their own; the truth is the mean of the corrected d′ over all
    people."""
    rows = []
    trials = 50
    truth = _expected_d_prime(trials)
    for people in PEOPLE:
        held = []
        for weights in batches(studies, people, draws, rng):
            d, c = rng.normal(1.0, 0.5, (people, BATCH)), rng.normal(0, 0.3, (people, BATCH))
            hits = rng.binomial(trials, special.ndtr(d / 2 - c))
            alarms = rng.binomial(trials, special.ndtr(-d / 2 - c))
            score = detection(hits, trials, alarms, trials).d_prime
            found = clustered_ratio(score, np.ones_like(score), weights)
            held.append((found.low <= truth) & (truth <= found.high))
        rows.append((str(people), percent(float(np.mean(held)))))
    return table(f"Mean d′, {trials} + {trials} images a person, nominal 95 %", ("people", "expanded BCa"), rows)


def _expected_d_prime(trials: int) -> float:
    """The mean corrected d′ of a large population, by quadrature over d′ and criterion."""
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


def correlations(studies: int, draws: int, rng: np.random.Generator) -> str:
    """Normal pairs with ρ = .6, and their exponentials: the same ranks, but far from normal."""
    rho, sigma = 0.6, 0.8
    truths: dict[Kind, float] = {
        "pearson": rho,
        "spearman": 6 / np.pi * np.arcsin(rho / 2),
        "kendall": 2 / np.pi * np.arcsin(rho),
    }
    skewed = np.expm1(rho * sigma**2) / np.expm1(sigma**2)
    cases: list[tuple[str, Kind, float, bool]] = [(f"normal, {kind}", kind, truths[kind], False) for kind in KINDS]
    cases.append(("log-normal, pearson", "pearson", skewed, True))
    rows = []
    for points in PEOPLE:
        held = np.zeros((len(cases), 3))
        count = 0
        for weights in batches(studies, points, draws, rng):
            for _ in range(BATCH):
                x = rng.normal(size=points)
                y = rho * x + np.sqrt(1 - rho**2) * rng.normal(size=points)
                count += 1
                for case, (_, kind, truth, bent) in enumerate(cases):
                    one, two = (np.exp(sigma * x), np.exp(sigma * y)) if bent else (x, y)
                    closed = correlation(one, two, kind=kind)
                    drawn = [
                        bootstrap_correlation(one, two, weights, kind=kind, rule=rule)
                        for rule in ("percentile", "bca")
                    ]
                    held[case] += [found.low <= truth <= found.high for found in (closed, *drawn)]
        rows += [(name, str(points), *map(percent, held[i] / count)) for i, (name, *_) in enumerate(cases)]
    header = ("world", "points", "closed form", "expanded percentile", "expanded BCa")
    return table("Correlations, ρ = .6, nominal 95 %", header, rows)


def powered_means(studies: int, _: int, rng: np.random.Generator) -> str:
    """Ten labels a person beside 2,000 scored images; and the difference of two generators by the same people."""
    rows = []
    for name, noise in (("scores of r = .9", 0.48), ("scores of r = .5", 1.73), ("useless scores", np.inf)):
        for people in PEOPLE:
            held, ratio = np.zeros(5), np.zeros((3, studies))
            for study in range(studies):
                habit = rng.normal(0, 0.3, people)
                first, second = (_labelled(habit, noise, rng) for _ in range(2))
                found = [powered_mean(first, tuning=tuning) for tuning in (0.0, 1.0, None)]
                gap = [powered_difference(first, second, tuning=tuning) for tuning in (0.0, None)]
                held += [one.low <= 0 <= one.high for one in (*found, *gap)]
                widths = [one.high - one.low for one in (*found, *gap)]
                ratio[:, study] = widths[1] / widths[0], widths[2] / widths[0], widths[4] / widths[3]
            change = [f"{100 * (value - 1):+.0f}" for value in ratio.mean(axis=1)]
            shares = [percent(share) for share in held / studies]
            rows.append((name, str(people), *shares[:3], *change[:2], *shares[3:], change[2]))
    means = ("labels alone", "PPI", "PPI++", "PPI width, %", "PPI++ width, %")
    header = ("world", "people", *means, "difference, labels alone", "difference, PPI++", "its width, %")
    return table("Prediction-powered means, clustered by person, nominal 95 %", header, rows)


def _labelled(habit: NDArray[np.float64], noise: float, rng: np.random.Generator) -> Powered:
    """Ten labels from each person, and a score for each labelled image and 2,000 others; all means are 0."""
    who = np.repeat(np.arange(len(habit)), 10)
    truth = rng.normal(size=len(who) + 2000)
    off = rng.normal(size=len(truth))
    score = off if np.isinf(noise) else truth + noise * off
    label = truth[: len(who)] + habit[who] + rng.normal(0, 0.3, len(who))
    return powered(label, score[: len(who)], score[len(who) :], clusters=who)


def rankings(studies: int, draws: int, rng: np.random.Generator) -> str:
    """Plackett–Luce: everyone ranks five sets of four out of five generators."""
    truth = np.array([-0.8, -0.4, 0.0, 0.4, 0.8])
    rows = []
    for people in PEOPLE:
        held = []
        for weights in batches(studies, people, draws, rng):
            for _ in range(BATCH):
                who = np.repeat(np.arange(people), 5)
                worth = truth + rng.gumbel(size=(len(who), 5))  # (rankings, items)
                left_out = rng.integers(0, 5, len(worth))
                worth[np.arange(len(worth)), left_out] = -np.inf
                order = np.argsort(-worth, axis=1)[:, :4]
                found = plackett_luce(who, order, items=5, weights=weights).estimates()
                held.append((found.low <= truth) & (truth <= found.high))
        rows.append(("5 generators, 5 rankings of 4 each", str(people), percent(float(np.mean(held)))))
    return table("Plackett–Luce ratings, nominal 95 %", ("world", "people", "expanded BCa"), rows)


def looking(studies: int, _: int, rng: np.random.Generator) -> str:
    """Five equal generators, ten pairs, looked at after every person up to 150: any false separation, ever."""
    people, cells = 150, 5
    rows = []
    for name, within in (("the same people judge all", True), ("different people", False)):
        wrong = np.zeros(2)
        for _ in range(studies):
            habit = rng.normal(0, 0.1, (people, 1)) if within else 0.0
            scores = np.clip(rng.normal(0.4, 0.12, (people, cells)) + habit, 0, 1)
            wrong += [_ever_betting(scores, within=within), _ever_t_test(scores, within=within)]
        rows.append((name, *map(percent, wrong / studies)))
    header = ("world", "sequential separation", "t tests with Holm at every look")
    return table("Any false separation at any look, nominal at most 5 %", header, rows)


def _ever_betting(scores: NDArray[np.float64], *, within: bool) -> bool:
    people, cells = scores.shape
    if within:
        return bool(sequential_separation(scores, within=True).separated.any())
    rows = np.full((people * cells, cells), np.nan)
    rows[np.arange(people * cells), np.tile(np.arange(cells), people)] = scores.ravel()
    return bool(sequential_separation(rows, within=False).separated.any())


def _ever_t_test(scores: NDArray[np.float64], *, within: bool) -> bool:
    """Whether any of Holm's tests is ever significant from the fifth person on; what daily looking comes to."""
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


def sequences(studies: int, _: int, rng: np.random.Generator) -> str:
    """The mean of 300 people, looked at after each: any look that misses the truth."""
    people, rows = 300, []
    for name, a, b in (("rates .40, sd .12", 6, 9), ("rates .125, sd .08", 2, 14), ("rates .10, mode at 0", 1, 9)):
        truth = a / (a + b)
        scores = rng.binomial(40, rng.beta(a, b, (studies, people))) / 40
        betting = [log_capital(row, np.array([truth])).max() >= np.log(20) for row in scores]
        asymptotic = [asymptotic_sequence(row) for row in scores]
        missed = [np.any((one.low > truth) | (one.high < truth)) for one in asymptotic]
        n = np.arange(1, people + 1)
        mean = np.cumsum(scores, axis=1) / n
        spread = np.sqrt(np.maximum(np.cumsum(scores**2, axis=1) / n - mean**2, 1e-300) / np.maximum(n - 1, 1))
        reach = special.stdtrit(np.maximum(n - 1, 1), 0.975) * spread
        plain = np.any(np.abs(mean - truth)[:, 9:] > reach[:, 9:], axis=1)
        rows.append((name, *map(percent, (np.mean(betting), np.mean(missed), plain.mean()))))
    header = ("world", "betting", "asymptotic", "t interval at every look from the tenth on")
    return table("Truth missed at any look, nominal at most 5 %", header, rows)


SECTIONS: dict[str, Callable[[int, int, np.random.Generator], str]] = {
    "ratings": mean_ratings,
    "d-prime": d_primes,
    "correlations": correlations,
    "powered": powered_means,
    "rankings": rankings,
    "looking": looking,
    "sequences": sequences,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    seeds = dict(zip(SECTIONS, np.random.SeedSequence(options.seed).spawn(len(SECTIONS)), strict=True))
    for name in options.only:
        began = time.process_time()
        print(SECTIONS[name](options.studies, options.draws, np.random.default_rng(seeds[name])))
        print(f"{options.studies} studies a row, {time.process_time() - began:.0f} s of one core\n", flush=True)


if __name__ == "__main__":
    main()
