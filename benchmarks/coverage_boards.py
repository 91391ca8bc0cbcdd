"""Boards: coverage over prompts and raters, false separations, predicted half-widths, gaps between prompt sets.

    python benchmarks/coverage_boards.py [--boards 2000] [--seed 1] [--only PART …]

Prints markdown tables. One process. Every row simulates boards with
known true values and runs what ``beholder board`` runs: the measure's influence, then ``crossed_t``,
``contrast_errors`` and ``compare_pairs``.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import tally_votes
from beholder.stats.intervals.crossed_precision import precision, variance_components
from beholder.stats.intervals.crossed_t import (
    CrossedInfluence,
    contrast_errors,
    crossed_means,
    crossed_t,
    difference_contrasts,
)
from beholder.stats.significance.overfitting import prompt_gap
from beholder.stats.significance.pair_comparison import compare_pairs

PROMPTS, RATERS = (30, 100, 400), (5, 10, 30)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Standard deviations of what answers consist of, beside the entry's own position."""

    rater: float = 0.3  # what a rater adds to all entries alike
    prompt: float = 0.5  # the same of a prompt
    taste: float = 0.15  # what a rater adds to one entry
    fit: float = 0.5  # what a prompt adds to one entry
    rest: float = 0.8


EVEN, PEOPLE_VARY = Spread(), Spread(rater=0.8, prompt=0.3, taste=0.5, fit=0.1)
NEITHER = Spread(rater=0.0, prompt=0.0, taste=0.0, fit=0.0)

POSITIONS = np.array([0.0, 0.2, 0.4])


def leanings(rng: np.random.Generator, prompts: int, raters: int, positions: Floats, spread: Spread) -> Floats:
    """What every rater thinks of every prompt's image of every entry (raters, prompts, entries)."""
    count = len(positions)
    return np.asarray(
        positions
        + rng.normal(0, spread.rater, (raters, 1, 1))
        + rng.normal(0, spread.prompt, (1, prompts, 1))
        + rng.normal(0, spread.taste, (raters, 1, count))
        + rng.normal(0, spread.fit, (1, prompts, count))
    )


def means(
    rng: np.random.Generator, prompts: int, raters: int, positions: Floats, spread: Spread
) -> CrossedInfluence:
    leaning = leanings(rng, prompts, raters, positions, spread)
    return _crossed(leaning + rng.normal(0, spread.rest, leaning.shape), proportions=False)


def proportions(
    rng: np.random.Generator, prompts: int, raters: int, positions: Floats, spread: Spread
) -> CrossedInfluence:
    leaning = leanings(rng, prompts, raters, positions, spread)
    return _crossed((rng.random(leaning.shape) < special.ndtr(leaning)).astype(np.float64), proportions=True)


def votes(
    rng: np.random.Generator, prompts: int, raters: int, positions: Floats, spread: Spread
) -> CrossedInfluence:
    """Every rater compares two entries, which change with prompt and rater, on every prompt."""
    leaning = leanings(rng, prompts, raters, positions, spread)
    first, second = np.triu_indices(len(positions), k=1)
    rater, prompt = (index.ravel() for index in np.indices((raters, prompts)))
    pair = (rater + prompt) % len(first)
    a, b = first[pair], second[pair]
    wins = rng.random(len(pair)) < special.expit(leaning[rater, prompt, a] - leaning[rater, prompt, b])
    pairs, counts = tally_votes(np.arange(len(pair)), a, b, np.where(wins, 0, 1))
    fit = bradley_terry(pairs, counts, items=len(positions))
    floor = fit.model_covariance if fit.prior_used else None
    return CrossedInfluence(fit.ratings, fit.influence, fit.answers_by_rater, prompt, rater, floor=floor)


def true_means(positions: Floats, spread: Spread) -> Floats:  # noqa: ARG001 - the same for all measures
    return positions


def true_proportions(positions: Floats, spread: Spread) -> Floats:
    total = spread.rater**2 + spread.prompt**2 + spread.taste**2 + spread.fit**2
    return np.asarray(special.ndtr(positions / np.sqrt(1 + total)))


def true_strengths(positions: Floats, spread: Spread) -> Floats:
    """Strengths fitted to the mean probabilities over all raters and prompts."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    first, second = np.triu_indices(len(positions), k=1)
    sd = np.sqrt(2 * (spread.taste**2 + spread.fit**2))
    gap = (positions[first] - positions[second])[:, None] + sd * nodes
    wins = special.expit(gap) @ weights / weights.sum()
    totals = 1e7 * np.stack([wins, 1 - wins, np.zeros_like(wins)], axis=1)
    return bradley_terry(np.stack([first, second], axis=1), totals, items=len(positions)).ratings


Board = Callable[[np.random.Generator, int, int, Floats, Spread], CrossedInfluence]
MEASURES: dict[str, tuple[Board, Callable[[Floats, Spread], Floats]]] = {
    "means": (means, true_means),
    "proportions": (proportions, true_proportions),
    "Bradley–Terry": (votes, true_strengths),
}


def coverage(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """One row per measure, spread and size."""
    for name, (board, truth_of) in MEASURES.items():
        for label, spread in (("prompts and raters", EVEN), ("mostly raters", PEOPLE_VARY), ("neither", NEITHER)):
            truth = truth_of(POSITIONS, spread)
            for prompts in PROMPTS:
                for raters in RATERS:
                    rng = np.random.default_rng([seed, prompts, raters, len(label), len(name)])
                    yield (
                        name,
                        label,
                        str(prompts),
                        str(raters),
                        *_covered(board, truth, rng, prompts, raters, spread, boards),
                    )


def _covered(
    board: Board, truth: Floats, rng: np.random.Generator, prompts: int, raters: int, spread: Spread, boards: int
) -> tuple[str, ...]:
    first, second, contrasts = difference_contrasts(len(truth))
    gaps = truth[first] - truth[second]
    hits = np.zeros(4)
    for _ in range(boards):
        cells = board(rng, prompts, raters, POSITIONS, spread)
        estimates = crossed_t(cells)
        hits[0] += ((estimates.low <= truth) & (truth <= estimates.high)).mean()
        errors = contrast_errors(cells, contrasts)
        off = np.abs(cells.values[first] - cells.values[second] - gaps)
        reaches = (
            errors.reach(0.95),
            special.stdtrit(prompts - 1, 0.975) * errors.over_prompts,
            special.stdtrit(raters - 1, 0.975) * errors.over_raters,
        )
        hits[1:] += [(off <= reach).mean() for reach in reaches]
    return tuple(_flagged(100 * hit / boards) for hit in hits[:2]) + tuple(
        f"{100 * h / boards:.1f}" for h in hits[2:]
    )


def false_separations(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Boards of five equal entries: how often any two are separated."""
    for name, (board, _) in MEASURES.items():
        for prompts, raters in ((30, 10), (100, 5), (100, 10), (400, 30)):
            rng = np.random.default_rng([seed, 7, prompts, raters])
            wrong = 0
            for _ in range(boards):
                cells = board(rng, prompts, raters, np.zeros(5), EVEN)
                errors = contrast_errors(cells, difference_contrasts(5)[2])
                wrong += bool(
                    compare_pairs(cells.values, errors.standard_error, errors.tail_degrees).separated.any()
                )
            yield name, str(prompts), str(raters), f"{100 * wrong / boards:.1f}"


def half_widths(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """The half-width at all prompts, predicted from a quarter of them."""
    for prompts, raters in ((120, 5), (400, 10), (400, 30)):
        rng = np.random.default_rng([seed, 8, prompts, raters])
        off = []
        for _ in range(boards):
            leaning = leanings(rng, prompts, raters, POSITIONS, EVEN)
            scores = leaning + rng.normal(0, EVEN.rest, leaning.shape)
            everything, quarter = (
                _crossed(part, proportions=False) for part in (scores, scores[:, : prompts // 4])
            )
            contrast = np.array([1.0, -1.0, 0.0])
            errors = contrast_errors(everything, contrast[None])
            actual = float(special.stdtrit(errors.degrees, 0.975)[0] * errors.standard_error[0])
            predicted = precision(variance_components(quarter, contrast), [prompts], [raters]).half_width[0]
            off.append(abs(predicted / actual - 1))
        yield str(prompts), str(raters), f"{100 * np.median(off):.1f}", f"{100 * np.quantile(off, 0.9):.1f}"


def gaps_between_sets(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Entries that are better on the public prompts by a quarter of a standard deviation between prompts."""
    for entries in (2, 5, 10):
        for share in (0.0, 0.5, 0.8):
            rng = np.random.default_rng([seed, 9, entries, int(10 * share)])
            false, power = 0, 0
            for _ in range(boards):
                old, fresh = (_scores_of_prompts(rng, 400, entries, share) for _ in range(2))
                false += bool(prompt_gap(old, fresh, same_source=same_source).flagged.any())
                old[:, 0] += 0.25
                power += bool(prompt_gap(old, fresh, same_source=same_source).flagged[0])
            yield str(entries), f"{share:.1f}", f"{100 * false / boards:.1f}", f"{100 * power / boards:.1f}"


def _scores_of_prompts(rng: np.random.Generator, prompts: int, entries: int, share: float) -> Floats:
    """Scores with standard deviation 1 between prompts, of which ``share`` of the variance is the prompt's own."""
    own = rng.normal(size=(prompts, entries)) * np.sqrt(1 - share)
    return np.asarray(rng.normal(size=(prompts, 1)) * np.sqrt(share) + own)


def _crossed(scores: Floats, *, proportions: bool) -> CrossedInfluence:
    rater, prompt, cell = (index.ravel() for index in np.indices(scores.shape))
    return crossed_means(rater, prompt, cell, scores.ravel(), proportions=proportions)


def _flagged(percent: float) -> str:
    return f"{percent:.1f}" + ("" if 93.5 <= percent <= 96.5 else "↑" if percent > 96.5 else "↓")


PARTS: dict[str, tuple[tuple[str, ...], Callable[[int, int], Iterator[tuple[str, ...]]]]] = {
    "coverage": (
        ("measure", "what varies", "prompts", "raters", "ratings", "differences", "prompts alone", "raters alone"),
        coverage,
    ),
    "false-separations": (("measure", "prompts", "raters", "false separations"), false_separations),
    "half-widths": (("prompts", "raters", "median error", "90 % of errors below"), half_widths),
    "gaps": (
        ("entries", "proportion of the variance that is the prompt's", "false alarms", "power"),
        gaps_between_sets,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    for name in options.only:
        heads, rows = PARTS[name]
        began = time.monotonic()
        print(f"\n## {name}\n")
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
        for row in rows(options.boards, options.seed):
            print("| " + " | ".join(row) + " |", flush=True)
        print(f"\n{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
