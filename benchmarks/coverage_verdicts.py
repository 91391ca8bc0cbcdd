"""Verdicts on generators: false separations, coverage, and whether verdict and interval ever disagree.

    python benchmarks/coverage_verdicts.py [--studies 2000] [--seed 1] [--only WORLD …]

Prints markdown tables; ``docs/measured/verdicts.md`` is a saved run. One process. Every row simulates studies
with known true values and runs what ``beholder rank`` runs: the estimator, then ``separate`` and ``clustered_t``.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from coverage_clustered import table
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.intervals.clustered_t import FEWEST_RATERS, RaterInfluence, clustered_t, ratio_influence
from beholder.stats.significance.separation import separate

RATERS = (3, 5, 8, 10, 30, 100)
ANSWERS = 12  # votes of a rater, or answers of a rater on each generator
VARIATION = 0.5  # standard deviation between raters of the log-odds of one generator against another
HABIT = 0.5  # standard deviation of what a rater adds to all generators alike
BOUND = 1.96  # standard errors of the simulation

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(80)

Study = Callable[[np.random.Generator, NDArray[np.float64], int], RaterInfluence]
"""From true positions of the generators and a number of raters to the ratings of one simulated study."""

Truth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The ratings that endlessly many raters would give."""


@dataclass(frozen=True)
class World:
    """What raters are asked, and how their answers come about."""

    name: str
    study: Study
    truth: Truth
    positions: tuple[tuple[str, tuple[float, ...]], ...]  # the generators of each row


def votes(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """12 votes of each rater, spread evenly over the pairs of generators."""
    first, second = np.triu_indices(len(positions), k=1)
    taste = positions + rng.normal(0, VARIATION / np.sqrt(2), (raters, len(positions)))
    shown = np.full((raters, len(first)), ANSWERS // len(first))
    extra = rng.random(shown.shape).argsort(axis=1)[:, : ANSWERS % len(first)]
    np.put_along_axis(shown, extra, np.take_along_axis(shown, extra, 1) + 1, 1)
    wins = rng.binomial(shown, special.expit(taste[:, first] - taste[:, second]))
    counts = np.stack([wins, shown - wins, np.zeros_like(wins)], axis=2).astype(np.float64)
    fit = bradley_terry(np.stack([first, second], axis=1), counts, items=len(positions))
    return fit.rater_influence()


def true_strengths(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Strengths fitted to the mean probabilities over all raters."""
    first, second = np.triu_indices(len(positions), k=1)
    wins = _mean(special.expit, positions[first] - positions[second], VARIATION)
    totals = 1e6 * np.stack([wins, 1 - wins, np.zeros_like(wins)], axis=1)
    return bradley_terry(np.stack([first, second], axis=1), totals, items=len(positions)).ratings


def error_rates(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """Each rater judges 12 images of every generator."""
    wrong = rng.binomial(ANSWERS, special.expit(_leanings(rng, positions, raters))) / ANSWERS
    return ratio_influence(wrong, np.ones_like(wrong), proportions=True)


def separate_raters(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """The same, each generator judged by raters of its own: ``raters`` for each."""
    number = len(positions)
    wrong, judged = (np.zeros((raters * number, number)) for _ in range(2))
    for cell in range(number):
        rows = slice(cell * raters, (cell + 1) * raters)
        odds = _leanings(rng, positions, raters)[:, cell]
        wrong[rows, cell], judged[rows, cell] = rng.binomial(ANSWERS, special.expit(odds)) / ANSWERS, 1.0
    return ratio_influence(wrong, judged, proportions=True)


def true_rates(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean proportions over all raters."""
    return _mean(special.expit, positions, np.hypot(HABIT, VARIATION / np.sqrt(2)))


def opinions(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """Each rater scores 12 images of every generator from 1 to 5."""
    return _opinions(rng, positions, np.full(raters, ANSWERS))


def uneven_opinions(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """The same with 3 to 48 images of every generator, as many as a rater liked; every rater counts the same."""
    return _opinions(rng, positions, _liked(rng, raters), by_rater=True)


def answers_alike(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> RaterInfluence:
    """The same, but every answer counts the same, as with ``weight = "answers"``."""
    return _opinions(rng, positions, _liked(rng, raters))


def true_opinions(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean scores over all raters."""
    spread = np.sqrt(HABIT**2 + VARIATION**2 / 2 + 1)
    return np.asarray(1 + stats.norm.sf((np.arange(1.5, 5) - positions[:, None]) / spread).sum(axis=1), np.float64)


WORLDS = {
    world.name: world
    for world in (
        World(
            "votes",
            votes,
            true_strengths,
            (
                ("2, equal", (0.0, 0.0)),
                ("2, differ by 1", (0.5, -0.5)),
                ("2, differ by 3", (1.5, -1.5)),
                ("5, 1.5 apart", (3.0, 1.5, 0.0, -1.5, -3.0)),
                ("5, equal", (0.0,) * 5),
                ("5, 0.5 apart", (1.0, 0.5, 0.0, -0.5, -1.0)),
            ),
        ),
        World(
            "realism",
            error_rates,
            true_rates,
            (
                ("2, equal", (-0.85, -0.85)),
                ("2, differ", (-0.5, -1.5)),
                ("5, equal", (-0.85,) * 5),
                ("5, differ", (0.0, -0.5, -1.0, -1.5, -2.0)),
            ),
        ),
        World(
            "realism, separate raters",
            separate_raters,
            true_rates,
            (
                ("2, equal", (-0.85, -0.85)),
                ("5, equal", (-0.85,) * 5),
                ("5, differ", (0.0, -0.5, -1.0, -1.5, -2.0)),
            ),
        ),
        World(
            "ratings",
            opinions,
            true_opinions,
            (
                ("2, equal", (3.0, 3.0)),
                ("2, differ", (3.5, 3.0)),
                ("5, equal", (3.0,) * 5),
                ("5, differ", (4.0, 3.5, 3.0, 2.5, 2.0)),
            ),
        ),
        World(
            "ratings, uneven",
            uneven_opinions,
            true_opinions,
            (("2, differ", (3.5, 3.0)), ("5, equal", (3.0,) * 5), ("5, differ", (4.0, 3.5, 3.0, 2.5, 2.0))),
        ),
        World(
            "ratings, uneven, answers alike",
            answers_alike,
            true_opinions,
            (("2, differ", (3.5, 3.0)), ("5, equal", (3.0,) * 5), ("5, differ", (4.0, 3.5, 3.0, 2.5, 2.0))),
        ),
    )
}


@dataclass
class Tally:
    """What the studies of one row add up to."""

    false: int = 0  # studies with any separation of equal generators, or of different ones the wrong way round
    covered: int = 0  # studies all of whose differences lie in their intervals
    ratings: float = 0.0  # proportion of the ratings that lie in theirs
    disagreements: int = 0  # pairs whose verdict, interval or adjusted p-value contradict each other
    missing: int = 0  # pairs or ratings without an interval
    found: int = 0  # true differences separated
    widths: list[float] | None = None  # of intervals over those of plain t intervals


def simulate(world: World, positions: tuple[float, ...], raters: int, studies: int, seed: list[int]) -> Tally:
    """Run the studies of one row."""
    place, tally = np.asarray(positions), Tally(widths=[])
    assert tally.widths is not None
    truth = world.truth(place)
    first, second = np.triu_indices(len(place), k=1)
    true_gap = truth[first] - truth[second]
    true_gap[place[first] == place[second]] = 0.0
    rng = np.random.default_rng(seed)
    alpha = 0.05 / len(first)
    for _ in range(studies):
        cells = world.study(rng, place, raters)
        pairs, estimates = separate(cells), clustered_t(cells)
        excludes = (pairs.low > 0) | (pairs.high < 0)
        significant = pairs.p_adjusted < 0.05
        tally.disagreements += int((pairs.separated != excludes).sum() + (pairs.separated != significant).sum())
        tally.false += bool((pairs.separated & (np.sign(pairs.difference) != np.sign(true_gap))).any())
        tally.found += int(pairs.separated.sum())
        tally.missing += int(np.isnan(pairs.low).sum() + np.isnan(estimates.low).sum())
        tally.covered += bool(((pairs.low <= true_gap) & (true_gap <= pairs.high)).all())
        tally.ratings += float(np.mean((estimates.low <= truth) & (truth <= estimates.high)))
        n = np.minimum(cells.raters[first], cells.raters[second])
        gap = cells.influence[:, first] - cells.influence[:, second]
        plain = np.sqrt(n / (n - 1) * (gap**2).sum(axis=0)) * stats.t.ppf(1 - alpha / 2, n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            tally.widths.append(float(np.median((pairs.high - pairs.low) / 2 / plain)))
    return tally


def row_of(
    world: World, label: str, positions: tuple[float, ...], raters: int, studies: int, seed: int
) -> list[str]:
    """One row of the table; figures beyond the simulation's bound are marked."""
    place = list(WORLDS).index(world.name)
    number = [label for label, _ in world.positions].index(label)
    tally = simulate(world, positions, raters, studies, [seed, place, number, raters])
    pairs = studies * len(positions) * (len(positions) - 1) // 2
    equal = len(set(positions)) == 1
    if raters < FEWEST_RATERS:
        given = pairs + studies * len(positions) - tally.missing
        return [
            f"{world.name}: {label}",
            str(raters),
            *["–"] * 3,
            str(tally.disagreements),
            f"{given:,}",
            "–",
            "–",
        ]
    assert tally.widths is not None
    return [
        f"{world.name}: {label}",
        str(raters),
        marked(tally.false / studies, 0.05, studies) if equal else f"({100 * tally.false / studies:.1f})",
        marked(tally.covered / studies, 0.95, studies),
        marked(tally.ratings / studies, 0.95, studies),
        str(tally.disagreements),
        "all" if not tally.missing else f"{tally.missing:,} missing",
        f"{np.median(tally.widths):.2f}",
        "–" if equal else f"{100 * tally.found / pairs:.0f}",
    ]


def marked(share: float, nominal: float, studies: int) -> str:
    """The figure in per cent, with ↑ or ↓ where it lies beyond the bound of the simulation."""
    reach = BOUND * np.sqrt(nominal * (1 - nominal) / studies)
    sign = "↑" if share > nominal + reach else "↓" if share < nominal - reach else ""
    return f"{100 * share:.1f}{sign}"


def _leanings(rng: np.random.Generator, positions: NDArray[np.float64], raters: int) -> NDArray[np.float64]:
    habit = rng.normal(0, HABIT, (raters, 1))
    own = rng.normal(0, VARIATION / np.sqrt(2), (raters, len(positions)))
    return np.asarray(positions + habit + own, np.float64)


def _liked(rng: np.random.Generator, raters: int) -> NDArray[np.int64]:
    return np.rint(3 * 16 ** rng.random(raters)).astype(np.int64)


def _opinions(
    rng: np.random.Generator, positions: NDArray[np.float64], shown: NDArray[np.int64], *, by_rater: bool = False
) -> RaterInfluence:
    middle = _leanings(rng, positions, len(shown))
    scores = np.clip(np.rint(middle[:, :, None] + rng.normal(size=(*middle.shape, int(shown.max())))), 1, 5)
    judged = np.arange(scores.shape[2]) < shown[:, None, None]
    sums, counts = (scores * judged).sum(axis=2), np.repeat(shown[:, None], len(positions), axis=1)
    return ratio_influence(sums / counts, np.ones_like(sums)) if by_rater else ratio_influence(sums, counts)


def _mean(
    of: Callable[[NDArray[np.float64]], NDArray[np.float64]], middle: NDArray[np.float64], spread: float
) -> NDArray[np.float64]:
    """The mean of a function of a normal variable."""
    weights = _WEIGHTS / _WEIGHTS.sum()
    return np.asarray(of(middle[:, None] + spread * _NODES) @ weights, np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=list(WORLDS), default=list(WORLDS))
    parser.add_argument("--raters", nargs="*", type=int, default=list(RATERS))
    options = parser.parse_args()
    began = time.perf_counter()
    header = (
        "world: generators",
        "raters",
        "false separations",
        "coverage of all differences",
        "coverage of ratings",
        "disagreements",
        "intervals",
        "width ÷ plain t",
        "separated",
    )
    for name in options.only:
        world = WORLDS[name]
        rows = [
            tuple(row_of(world, label, positions, raters, options.studies, options.seed))
            for label, positions in world.positions
            for raters in options.raters
        ]
        print(table(f"{world.name[0].upper()}{world.name[1:]}, per cent", header, rows), flush=True)
    print(f"{options.studies} studies a row, seed {options.seed}, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
