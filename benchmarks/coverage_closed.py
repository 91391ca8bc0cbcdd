"""Coverage of closed-form confidence intervals: proportions, two metrics, pairwise accuracy, P.910.

    python benchmarks/coverage_closed.py [--studies 2000] [--seed 1] [--only NAME …]

Prints markdown tables; ``docs/measured/coverage-closed.md`` is a saved run. One process. Proportions are not
simulated: their coverage is an exact sum over all outcomes.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from coverage_clustered import RATERS, percent, table
from scipy import stats

from beholder.stats.correlation.dependent import compare_correlations
from beholder.stats.correlation.pair_accuracy import pair_accuracy
from beholder.stats.correlation.partial import partial_correlation
from beholder.stats.intervals.bootstrap import rater_weights
from beholder.stats.intervals.proportions import clopper_pearson, wilson
from beholder.stats.truth.p910 import p910


def proportions(studies: int, seed: int) -> str:  # noqa: ARG001 - nothing is drawn
    """Proportions of raters: mean and minimum coverage over true proportions p from .02 to .98."""
    rows = []
    p = np.linspace(0.02, 0.98, 97)[:, None]
    for raters in RATERS:
        successes = np.arange(raters + 1)
        chance = stats.binom.pmf(successes, raters, p)  # (shares, outcomes)
        cells = []
        for interval in (wilson, clopper_pearson):
            low, high = interval(successes, np.full(raters + 1, raters))
            held = (chance * ((low <= p) & (p <= high))).sum(axis=1)
            cells += [percent(float(held.mean())), percent(float(held.min()))]
        rows.append((str(raters), *cells))
    header = ("raters", "Wilson, mean", "its worst", "Clopper–Pearson, mean", "its worst")
    return table("Shares, nominal 95 %", header, rows)


def metrics(studies: int, seed: int) -> str:
    """Two metrics that correlate .7 and .5 with raters, .6 with each other; and a correlation within prompts."""
    rows = []
    root = np.linalg.cholesky(np.array([[1, 0.7, 0.5], [0.7, 1, 0.6], [0.5, 0.6, 1]]))
    for points in RATERS:
        rng = np.random.default_rng([seed, points])
        prompts = np.arange(points) % max(points // 5, 2)
        held = np.zeros((studies, 2))
        for study in range(studies):
            opinions, first, second = root @ rng.normal(size=(3, points))
            gap = compare_correlations(opinions, first, second)
            shift = rng.normal(size=points)[prompts]
            within = partial_correlation(opinions + shift, first + shift, prompts)
            held[study] = gap.low <= 0.2 <= gap.high, within.low <= 0.7 <= within.high
        rows.append((str(points), *(percent(float(share)) for share in held.mean(axis=0))))
    header = ("points", "difference of two (Zou)", "within prompts of five")
    return table("Correlations of metrics with raters, normal, nominal 95 %", header, rows)


def pairs(studies: int, seed: int) -> str:
    """A scorer whose probability of a correct choice varies by prompt, 70 % on average; 3–9 pairs per prompt."""
    rows = []
    for prompts in RATERS:
        rng = np.random.default_rng([seed, prompts])
        held = np.zeros((studies, 2))
        for study in range(studies):
            group = np.repeat(np.arange(prompts), rng.integers(3, 10, prompts))
            right = rng.random(len(group)) < rng.beta(7, 3, prompts)[group]
            accuracy = pair_accuracy(
                np.where(right, 1.0, -1.0), np.zeros(len(group)), np.ones(len(group)), groups=group
            )
            weights = rater_weights(np.zeros(prompts, np.int64), 500, rng)
            both = accuracy.micro_estimate(weights), accuracy.macro_estimate(weights)
            held[study] = [each.low <= 0.7 <= each.high for each in both]
        rows.append((str(prompts), *(percent(float(share)) for share in held.mean(axis=0))))
    return table("Accuracy over pairs, prompts resampled, nominal 95 %", ("prompts", "micro", "macro"), rows)


def opinions(studies: int, seed: int) -> str:
    """P.910 on 40 items that every rater judges: biases with sd .5, inconsistencies from .3 to 1.2."""
    rows = []
    for raters in RATERS:
        rng = np.random.default_rng([seed, raters])
        who, what = (index.ravel() for index in np.indices((raters, 40)))
        held, collapsed = [], 0
        for _ in range(studies):
            truth, bias = rng.uniform(1, 5, 40), rng.normal(0, 0.5, raters)
            noise = rng.uniform(0.3, 1.2, (raters, 1)) * rng.normal(size=(raters, 40))
            fit = p910(who, what, (truth + bias[:, None] + noise).ravel())
            collapsed += fit.collapsed
            if not fit.collapsed:
                aim = truth + bias.mean()  # the mean bias of these raters is not identifiable
                held.append(float(np.mean((fit.low <= aim) & (aim <= fit.high))))
        rows.append((str(raters), percent(float(np.mean(held))), percent(collapsed / studies)))
    return table(
        "Opinions by P.910, nominal 95 %", ("raters", "interval of the model", "collapsed, left out"), rows
    )


SECTIONS: dict[str, Callable[[int, int], str]] = {
    "shares": proportions,
    "metrics": metrics,
    "pairs": pairs,
    "opinions": opinions,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    options = parser.parse_args()
    began = time.perf_counter()
    for name in options.only:
        print(SECTIONS[name](options.studies, options.seed), flush=True)
    print(f"{options.studies} studies a row, seed {options.seed}, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
