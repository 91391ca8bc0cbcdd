"""Coverage of confidence intervals of exposure thresholds: of one rater, and of the mean over raters.

    python benchmarks/coverage_thresholds.py [--studies 2000] [--draws 1000] [--seed 1] [--only NAME …]
    [--trials N …]

Prints markdown tables; ``docs/measured/coverage-thresholds.md`` is a saved run. One process. An observer is
correct at exposure t with probability ½ + (½ − λ)(1 − exp(−ln 2 · (t/θ)^b)); the parameter of interest is the
exposure at which 75 % of answers are correct.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.intervals.bootstrap import clustered_ratio, rater_weights
from beholder.stats.psychophysics.psychometric import fit_psychometric, threshold_estimate
from beholder.stats.psychophysics.staircase_analysis import modal_level, summarise_staircase

RATERS = (10, 30, 100)
TRIALS = (150, 450, 900)  # one, three and six blocks
LEVELS = np.array([100, 140, 200, 280, 400, 560, 800.0])  # of constant stimuli, in ms
START, FLOOR, CEILING, DOWN, UP = 500, 100, 1000, 10, 30  # HYPE-time's staircase
BLOCK = 150
SLOPE, LAPSE, TARGET = 2.5, 0.02, 0.75
POPULATION = 4000  # observers that studies draw from
BATCH = 20  # studies that share one set of bootstrap weights


def chance(exposure: NDArray[np.float64], theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability of a correct answer."""
    return np.asarray(0.5 + (0.5 - LAPSE) * -np.expm1(-np.log(2) * (exposure / theta) ** SLOPE), np.float64)


def level_at_target(theta: float) -> float:
    detection = (TARGET - 0.5) / (0.5 - LAPSE)
    return float(theta * (-np.log1p(-detection) / np.log(2)) ** (1 / SLOPE))


def staircases(
    theta: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the exposures of each observer's block, and whether the answers were correct, (observers, trials)."""
    exposures = np.empty((len(theta), BLOCK))
    right = np.empty((len(theta), BLOCK), np.bool_)
    level = np.full(len(theta), float(START))
    for trial in range(BLOCK):
        exposures[:, trial] = level
        right[:, trial] = rng.random(len(theta)) < chance(level, theta)
        level = np.clip(level + np.where(right[:, trial], -DOWN, UP), FLOOR, CEILING)
    return exposures, right


def one_rater(options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Rows: constant stimuli and staircases, the threshold of one observer with its profile interval."""
    rows: list[tuple[str, ...]] = []
    for trials in options.trials:
        held: dict[str, list[bool]] = {"constant stimuli": [], "staircase": []}
        rng = np.random.default_rng([options.seed, trials])
        thetas = np.exp(rng.normal(np.log(300), 0.2, options.studies))
        for theta in thetas:
            exposures, right = staircases(np.full(-(-trials // BLOCK), theta), rng)
            constant = np.resize(LEVELS, trials)
            fits = {
                "constant stimuli": (constant, rng.random(trials) < chance(constant, theta)),
                "staircase": (exposures.ravel()[:trials], right.ravel()[:trials]),
            }
            for name, (levels, answers) in fits.items():
                fit = fit_psychometric(levels, answers.astype(np.float64), lapse=LAPSE)
                estimate = threshold_estimate(fit, TARGET)
                held[name].append(estimate.low <= level_at_target(theta) <= estimate.high)
        rows += [(name, str(trials), _percent(np.mean(each))) for name, each in held.items()]
    return rows


def many_raters(options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Rows: the mean over raters of a block's threshold; studies sample from a population with a known mean."""
    rng = np.random.default_rng(options.seed)
    population = estimates_of_population(rng)
    rows = []
    for raters in RATERS:
        cells = [str(raters)]
        for scores in population.values():
            truth, held = scores.mean(), []
            for _ in range(-(-options.studies // BATCH)):
                drawn = rng.choice(scores, (raters, BATCH))
                weights = rater_weights(np.zeros(raters, np.int64), options.draws, rng)
                estimate = clustered_ratio(drawn, np.ones_like(drawn), weights)
                held.append((estimate.low <= truth) & (truth <= estimate.high))
            cells.append(_percent(np.mean(held)))
        rows.append(tuple(cells))
    return rows


def estimates_of_population(rng: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    """Return the estimates from the blocks of a population, one per observer; undefined ones are omitted."""
    theta = np.exp(rng.normal(np.log(300), 0.35, POPULATION))
    estimates: dict[str, list[float]] = {"modal exposure": [], "late reversals": [], "by likelihood": []}
    for exposures, right in zip(*staircases(theta, rng), strict=True):
        estimates["modal exposure"].append(modal_level(exposures))
        estimates["late reversals"].append(
            summarise_staircase(exposures, right, floor=FLOOR, ceiling=CEILING).reversal_mean
        )
        estimates["by likelihood"].append(_by_likelihood(exposures, right))
    return {name: np.array(scores)[np.isfinite(scores)] for name, scores in estimates.items()}


def _by_likelihood(exposures: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """Estimate as ``consolidate`` does: within the limits, and nothing where the fit is unreliable."""
    try:
        fit = fit_psychometric(exposures, right.astype(np.float64), lapse=LAPSE)
    except StatisticsError:
        return float(np.nan)
    return float(np.nan) if fit.doubtful else float(np.clip(fit.level_at(TARGET), FLOOR, CEILING))


def _percent(proportion: float | np.floating) -> str:
    return f"{100 * proportion:.1f}"


Section = tuple[Callable[[argparse.Namespace], list[tuple[str, ...]]], str, tuple[str, ...]]
"""The function that makes the rows, the title, and the column headers."""

SECTIONS: dict[str, Section] = {
    "rater": (
        one_rater,
        "One rater's threshold, nominal 95 %",
        ("trials shown as", "trials", "profile likelihood"),
    ),
    "raters": (
        many_raters,
        f"Mean threshold over raters, a block of {BLOCK} trials each, nominal 95 %",
        ("raters", "modal exposure", "late reversals", "by likelihood"),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--trials", nargs="*", type=int, choices=TRIALS, default=TRIALS, help="of one rater")
    options = parser.parse_args()
    began = time.perf_counter()
    for name in options.only:
        section, title, header = SECTIONS[name]
        print(f"## {title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
        for row in section(options):
            print(f"| {' | '.join(row)} |", flush=True)
        print()
    print(f"{options.studies} studies a row, {options.draws} draws, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
