"""Boards: coverage over prompts and raters, false separations, predicted half-widths, gaps between prompt sets.

    python benchmarks/coverage_boards.py [--boards 2000] [--seed 1] [--only PART …]

Prints markdown tables. One process. Every row simulates boards with known true values, many at a time, and has
what ``beholder board`` has: the measure's influence, the variances of ``crossed_errors`` and ``compare_pairs``.
The first board of every block is also run through ``contrast_errors``, and must give the same numbers.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.bradley_terry_likelihood import Model
from beholder.stats.comparisons.bradley_terry_newton import fit_totals
from beholder.stats.intervals.crossed_precision import precision, variance_components
from beholder.stats.intervals.crossed_t import CrossedInfluence, contrast_errors, difference_contrasts
from beholder.stats.intervals.crossed_variance import Clusters, ContrastErrors, crossed_errors
from beholder.stats.intervals.proportions import arcsine_interval
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


@dataclass(frozen=True, eq=False)
class Boards:
    """Many boards of one size, everybody having judged every prompt."""

    values: Floats  # (boards, entries)
    pulls: Floats  # (boards, raters, prompts, entries) influences
    support: Floats  # (raters, prompts, entries) answers behind them
    floor: Floats  # (boards, entries, entries) covariance below which no variance is believed
    proportions: bool = False

    def cells(self, board: int) -> CrossedInfluence:
        """One board as ``beholder board`` has it."""
        rater, prompt = (index.ravel() for index in np.indices(self.pulls.shape[1:3]))
        wide = self.values.shape[1]
        return CrossedInfluence(
            self.values[board],
            self.pulls[board].reshape(-1, wide),
            self.support.reshape(-1, wide),
            prompt,
            rater,
            proportions=self.proportions,
            floor=self.floor[board] if self.floor[board].any() else None,
        )

    def errors(self, contrasts: Floats) -> ContrastErrors:
        """The uncertainty of the contrasts of all boards, board by board in one array."""
        boards, raters, prompts, entries = self.pulls.shape
        support = self.support @ (contrasts != 0).T.astype(np.float64)  # (raters, prompts, contrasts)
        rows = self.pulls.reshape(boards, raters * prompts, entries)
        products = rows.transpose(0, 2, 1) @ rows  # (boards, entries, entries) Σ l lᵀ
        clusters = [
            _clusters(squares, behind)
            for squares, behind in (
                (((self.pulls.sum(axis=2) @ contrasts.T) ** 2).sum(axis=1), support.sum(axis=1)),
                (((self.pulls.sum(axis=1) @ contrasts.T) ** 2).sum(axis=1), support.sum(axis=0)),
                (
                    np.einsum("kc,bcd,kd->bk", contrasts, products, contrasts),
                    support.reshape(-1, len(contrasts)),
                ),
            )
        ]
        size = np.full(boards * len(contrasts), 1, np.int64)
        return crossed_errors(
            *clusters,
            raters=size * self.pulls.shape[1],
            prompts=size * self.pulls.shape[2],
            least=np.einsum("kc,bcd,kd->bk", contrasts, self.floor, contrasts).ravel(),
        )


def _clusters(squares: Floats, support: Floats) -> Clusters:
    """Sums of squares (boards, contrasts) over clusters with ``support`` (clusters, contrasts)."""
    count = np.count_nonzero(support, axis=0)
    kish = support.sum(axis=0) ** 2 / (support**2).sum(axis=0)
    boards = len(squares)
    return Clusters((count / (count - 1) * squares).ravel(), np.tile(count, boards), np.tile(kish, boards))


def _leanings(
    rng: np.random.Generator, boards: int, prompts: int, raters: int, positions: Floats, spread: Spread
) -> Floats:
    """What every rater thinks of every prompt's image of every entry (boards, raters, prompts, entries)."""
    count = len(positions)
    return np.asarray(
        positions
        + rng.normal(0, spread.rater, (boards, raters, 1, 1))
        + rng.normal(0, spread.prompt, (boards, 1, prompts, 1))
        + rng.normal(0, spread.taste, (boards, raters, 1, count))
        + rng.normal(0, spread.fit, (boards, 1, prompts, count))
    )


def means(
    rng: np.random.Generator, boards: int, prompts: int, raters: int, positions: Floats, spread: Spread
) -> Boards:
    leaning = _leanings(rng, boards, prompts, raters, positions, spread)
    return _of_scores(leaning + rng.normal(0, spread.rest, leaning.shape), proportions=False)


def proportions(
    rng: np.random.Generator, boards: int, prompts: int, raters: int, positions: Floats, spread: Spread
) -> Boards:
    leaning = _leanings(rng, boards, prompts, raters, positions, spread)
    return _of_scores((rng.random(leaning.shape) < special.ndtr(leaning)).astype(np.float64), proportions=True)


def _of_scores(scores: Floats, *, proportions: bool) -> Boards:
    boards, raters, prompts, entries = scores.shape
    values = scores.mean(axis=(1, 2))
    pulls = (scores - values[:, None, None, :]) / (raters * prompts)
    floor = np.zeros((boards, entries, entries))
    return Boards(values, pulls, np.ones((raters, prompts, entries)), floor, proportions)


def votes(
    rng: np.random.Generator, boards: int, prompts: int, raters: int, positions: Floats, spread: Spread
) -> Boards:
    """Every rater compares two entries, which change with prompt and rater, on every prompt."""
    leaning = _leanings(rng, boards, prompts, raters, positions, spread)
    entries = len(positions)
    first, second = np.triu_indices(entries, k=1)
    rater, prompt = np.indices((raters, prompts))
    pair = (rater + prompt) % len(first)  # (raters, prompts)
    gap = leaning[:, rater, prompt, first[pair]] - leaning[:, rater, prompt, second[pair]]
    wins = rng.random(gap.shape) < special.expit(gap)  # (boards, raters, prompts)
    model = Model.of(np.stack([first, second], axis=1), entries, ties=False, side_effect=False)
    shown = np.bincount(pair.ravel(), minlength=len(first))
    member = (pair.ravel()[:, None] == np.arange(len(first))).astype(np.float64)
    won = wins.reshape(boards, -1) @ member
    totals = np.stack([won, shown - won, np.zeros_like(won)], axis=1)  # (boards, 3, pairs)
    fits = fit_totals(model, totals, None)
    chance = special.expit(fits.parameters @ model.spread.T)  # (boards, pairs)
    votes_of_pair = shown + model.prior.sum(axis=0) * fits.prior[:, None]
    information = np.einsum("bp,pi,pj->bij", votes_of_pair * chance * (1 - chance), model.spread, model.spread)
    inverse = np.linalg.inv(information + 1 / entries) - 1 / entries
    turned = np.einsum("pi,bij->bpj", model.spread, inverse)  # (boards, pairs, entries)
    pulls = (wins - chance[:, pair])[..., None] * turned[:, pair]
    floor = np.where(fits.prior[:, None, None], inverse, 0.0)
    return Boards(fits.parameters, pulls, np.abs(model.spread)[pair], floor)


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


Simulation = Callable[[np.random.Generator, int, int, int, Floats, Spread], Boards]
MEASURES: dict[str, tuple[Simulation, Callable[[Floats, Spread], Floats]]] = {
    "means": (means, true_means),
    "proportions": (proportions, true_proportions),
    "Bradley–Terry": (votes, true_strengths),
}


def coverage(boards: int, seed: int, sizes: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """One row per measure, spread and size."""
    for name, (simulation, truth_of) in MEASURES.items():
        for label, spread in (("prompts and raters", EVEN), ("mostly raters", PEOPLE_VARY), ("neither", NEITHER)):
            truth = truth_of(POSITIONS, spread)
            for prompts in sizes:
                for raters in RATERS:
                    rng = np.random.default_rng([seed, prompts, raters, len(label), len(name)])
                    yield (
                        name,
                        label,
                        str(prompts),
                        str(raters),
                        *_covered(simulation, truth, rng, prompts, raters, spread, boards),
                    )


def _covered(
    simulation: Simulation,
    truth: Floats,
    rng: np.random.Generator,
    prompts: int,
    raters: int,
    spread: Spread,
    boards: int,
) -> tuple[str, ...]:
    first, second, contrasts = difference_contrasts(len(truth))
    gaps = truth[first] - truth[second]
    hits = np.zeros(4)
    for sample in _blocks(simulation, rng, boards, prompts, raters, POSITIONS, spread):
        ratings, errors = sample.errors(np.eye(len(truth))), sample.errors(contrasts)
        _check(sample, contrasts, errors)
        reach = ratings.reach(0.95).reshape(sample.values.shape)
        low, high = sample.values - reach, sample.values + reach
        if sample.proportions:
            low, high = arcsine_interval(sample.values, reach, np.full_like(reach, raters, np.int64), 0.95)
        hits[0] += ((low <= truth) & (truth <= high)).mean(axis=1).sum()
        off = np.abs(sample.values[:, first] - sample.values[:, second] - gaps).ravel()
        reaches = (
            errors.reach(0.95),
            special.stdtrit(prompts - 1, 0.975) * errors.over_prompts,
            special.stdtrit(raters - 1, 0.975) * errors.over_raters,
        )
        hits[1:] += [(off <= half).sum() / len(gaps) for half in reaches]
    return tuple(_flagged(100 * hit / boards) for hit in hits[:2]) + tuple(
        f"{100 * h / boards:.1f}" for h in hits[2:]
    )


def _blocks(
    simulation: Simulation,
    rng: np.random.Generator,
    boards: int,
    prompts: int,
    raters: int,
    positions: Floats,
    spread: Spread,
) -> Iterator[Boards]:
    """All boards, as many at a time as memory allows."""
    size = max(1, 2_000_000 // (prompts * raters * len(positions)))
    for begin in range(0, boards, size):
        yield simulation(rng, min(size, boards - begin), prompts, raters, positions, spread)


def _check(sample: Boards, contrasts: Floats, errors: ContrastErrors) -> None:
    """The first board must have the numbers that ``beholder board`` would print."""
    alone = contrast_errors(sample.cells(0), contrasts)
    count = len(contrasts)
    for name in ("standard_error", "degrees", "tail_degrees", "still"):
        np.testing.assert_allclose(getattr(alone, name), getattr(errors, name)[:count], rtol=1e-6, atol=1e-9)


def false_separations(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Boards of five equal entries: how often any two are separated."""
    contrasts = difference_contrasts(5)[2]
    for name, (simulation, _) in MEASURES.items():
        for prompts, raters in ((30, 10), (100, 5), (100, 10), (400, 30)):
            rng = np.random.default_rng([seed, 7, prompts, raters])
            wrong = 0
            for sample in _blocks(simulation, rng, boards, prompts, raters, np.zeros(5), EVEN):
                errors = sample.errors(contrasts)
                for values, error, degrees in zip(
                    sample.values,
                    errors.standard_error.reshape(-1, len(contrasts)),
                    errors.tail_degrees.reshape(-1, len(contrasts)),
                    strict=True,
                ):
                    wrong += bool(compare_pairs(values, error, degrees).separated.any())
            yield name, str(prompts), str(raters), f"{100 * wrong / boards:.1f}"


def half_widths(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """The half-width at all prompts, predicted from a quarter of them, and by who knows all variances."""
    contrast = np.array([1.0, -1.0, 0.0])
    for prompts, raters in ((120, 5), (400, 10), (400, 30)):
        rng = np.random.default_rng([seed, 8, prompts, raters])
        off, least = [], []
        for _ in range(boards):
            leaning = _leanings(rng, 1, prompts, raters, POSITIONS, EVEN)
            scores = leaning + rng.normal(0, EVEN.rest, leaning.shape)
            everything, quarter = (
                _of_scores(part, proportions=False).cells(0) for part in (scores, scores[:, :, : prompts // 4])
            )
            errors = contrast_errors(everything, contrast[None])
            actual = float(special.stdtrit(errors.degrees, 0.975)[0] * errors.standard_error[0])
            predicted = precision(variance_components(quarter, contrast), [prompts], [raters]).half_width[0]
            off.append(abs(predicted / actual - 1))
            least.append(abs(_informed(rng, scores[0] @ contrast, prompts // 4) / actual - 1))
        yield (
            str(prompts),
            str(raters),
            f"{100 * np.median(off):.1f}",
            f"{100 * np.quantile(off, 0.9):.1f}",
            f"{100 * np.median(least):.1f}",
        )


def _informed(rng: np.random.Generator, gaps: Floats, quarter: int, draws: int = 200) -> float:
    """Predict the half-width knowing all true variances, and what a quarter of the prompts says of these raters.

    The rest of the study is drawn many times given the quarter; of all predictions, the one with the least
    median error over these draws is returned. No prediction from the same answers can be better.
    """
    raters, prompts = gaps.shape
    rest, taste, fit = (2 * variance**2 for variance in (EVEN.rest, EVEN.taste, EVEN.fit))
    begun = gaps[:, :quarter].mean(axis=1)
    begun = begun - begun.mean()
    weight = taste / (taste + rest / quarter)
    left = prompts - quarter
    more = weight * begun + rng.normal(
        0, np.sqrt(taste * (1 - weight) + rest / left), (draws, raters)
    )  # means of the raters on the other prompts
    final = (quarter * begun + left * more) / prompts
    by_rater = final.var(axis=1, ddof=1) / raters
    spare = (raters - 1) * (prompts - 1)
    by_prompt = (fit + rest / raters) / prompts * rng.chisquare(prompts - 1, draws) / (prompts - 1)
    by_pair = rest / (raters * prompts) * rng.chisquare(spare, draws) / spare
    variance = np.maximum.reduce([by_rater + by_prompt - by_pair, by_rater, by_prompt])
    degrees = variance**2 / (by_rater**2 / (raters - 1) + by_prompt**2 / (prompts - 1) + by_pair**2 / spare)
    width = special.stdtrit(np.maximum(degrees, raters - 1), 0.975) * np.sqrt(variance)
    candidates = np.quantile(width, np.linspace(0.1, 0.7, 25))
    errors = np.median(np.abs(candidates[:, None] / width - 1), axis=1)
    return float(candidates[np.argmin(errors)])


def gaps_between_sets(boards: int, seed: int) -> Iterator[tuple[str, ...]]:
    """Entries that are better on the public prompts by a quarter of a standard deviation between prompts."""
    for same_source in (True, False):
        for entries in (2, 5, 10):
            for share in (0.0, 0.5, 0.8):
                rng = np.random.default_rng([seed, 9, entries, int(10 * share), same_source])
                false, power = 0, 0
                for _ in range(boards):
                    old, fresh = (_scores_of_prompts(rng, 400, entries, share) for _ in range(2))
                    false += bool(prompt_gap(old, fresh, same_source=same_source).flagged.any())
                    old[:, 0] += 0.25
                    power += bool(prompt_gap(old, fresh, same_source=same_source).flagged[0])
                yield (
                    "one source" if same_source else "any two sets",
                    str(entries),
                    f"{share:.1f}",
                    f"{100 * false / boards:.1f}",
                    f"{100 * power / boards:.1f}",
                    f"{100 * _best_power(entries, share, same_source=same_source):.1f}",
                )


def _best_power(entries: int, share: float, *, same_source: bool) -> float:
    """The power of the test that knows all variances, at a level of 5 % over the entries (Bonferroni)."""
    others = share + (1 - share) / (entries - 1)  # the variance of the mean of the others
    slope = share / others if same_source else 1.0
    error = np.sqrt((1 - 2 * slope * share + slope**2 * others) * 2 / 400)
    return float(special.ndtr(0.25 / error + special.ndtri(0.05 / entries)))


def _scores_of_prompts(rng: np.random.Generator, prompts: int, entries: int, share: float) -> Floats:
    """Scores with standard deviation 1 between prompts, of which ``share`` of the variance is the prompt's own."""
    own = rng.normal(size=(prompts, entries)) * np.sqrt(1 - share)
    return np.asarray(rng.normal(size=(prompts, 1)) * np.sqrt(share) + own)


def _flagged(percent: float) -> str:
    return f"{percent:.1f}" + ("" if 93.5 <= percent <= 96.5 else "↑" if percent > 96.5 else "↓")


PARTS: dict[str, tuple[tuple[str, ...], Callable[[int, int], Iterator[tuple[str, ...]]]]] = {
    "coverage": (
        ("measure", "what varies", "prompts", "raters", "ratings", "differences", "prompts alone", "raters alone"),
        partial(coverage, sizes=PROMPTS),
    ),
    "false-separations": (("measure", "prompts", "raters", "false separations"), false_separations),
    "half-widths": (
        ("prompts", "raters", "median error", "90 % of errors below", "median error, all variances known"),
        half_widths,
    ),
    "gaps": (
        (
            "both sets",
            "entries",
            "proportion of the variance that is the prompt's",
            "false alarms",
            "power",
            "power, all variances known",
        ),
        gaps_between_sets,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=list(PARTS))
    parser.add_argument("--prompts", nargs="*", type=int, default=list(PROMPTS), help="sizes of the coverage")
    options = parser.parse_args()
    for name in options.only:
        heads, rows = PARTS[name]
        if name == "coverage":
            rows = partial(coverage, sizes=options.prompts)
        began = time.monotonic()
        print(f"\n## {name}\n")
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
        for row in rows(options.boards, options.seed):
            print("| " + " | ".join(row) + " |", flush=True)
        print(f"\n{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
