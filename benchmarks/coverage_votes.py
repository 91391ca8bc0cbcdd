"""Verdicts on generators from votes: false separations and coverage, many studies at a time, and what is possible.

    python benchmarks/coverage_votes.py [--studies 2000] [--checked 100] [--seed 1]

Prints markdown tables; ``docs/measured/verdicts.md`` has a saved run. The studies are those of the world "votes"
of ``coverage_verdicts.py``, and so is the method; fits and likelihood ratios are computed for all studies of a
row at once. The first ``--checked`` studies of every row also run through ``bradley_terry``, ``separate`` and
``clustered_t``, and must agree in every verdict and in what every interval covers; widths come from these.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np
from coverage_clustered import table
from coverage_verdicts import ANSWERS, VARIATION, WORLDS, marked, true_strengths
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.bradley_terry_likelihood import Model
from beholder.stats.comparisons.bradley_terry_newton import fit_totals
from beholder.stats.comparisons.plackett_luce import plackett_luce
from beholder.stats.intervals.clustered_t import RaterInfluence, clustered_t, pair_errors, standard_errors
from beholder.stats.significance.separation import separate
from beholder.stats.significance.simultaneous import critical_t

RATERS = (5, 8, 10, 30, 100)
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Studies:
    """All studies of one row: votes, fits, and the uncertainty of contrasts."""

    wins: Floats  # (studies, raters, pairs)
    shown: Floats  # (studies, raters, pairs)
    ratings: Floats  # (studies, generators)
    unbounded: NDArray[np.bool_]  # (studies,) whether pseudo-votes were needed
    covariance: Floats  # (studies, generators, generators) of the model
    model: Model

    @property
    def totals(self) -> tuple[Floats, Floats]:
        """Wins and votes of each pair, pseudo-votes included (studies, pairs)."""
        more = self.unbounded[:, None] * self.model.prior[0]  # half a vote for either generator of a pair
        return self.wins.sum(axis=1) + more, self.shown.sum(axis=1) + 2 * more

    def cells(self, study: int) -> RaterInfluence:
        """Influences of one study, as :meth:`BradleyTerry.rater_influence` has them, without the likelihood."""
        spread = self.model.spread
        chance = special.expit(self.ratings[study] @ spread.T)
        scores = (self.wins[study] - self.shown[study] * chance) @ spread
        return RaterInfluence(
            self.ratings[study],
            scores @ self.covariance[study],
            self.shown[study] @ np.abs(spread),
            floor=self.covariance[study],
            floor_when_still=not self.unbounded[study],
        )

    def roots(self, contrasts: Floats, values: Floats) -> tuple[Floats, Floats]:
        """Normal scores of the likelihood ratio at ``values`` (contrasts,), and the model's errors."""
        spread = self.model.spread
        turned = np.einsum("ki,bij->bkj", contrasts, self.covariance)
        variance = np.einsum("bkj,kj->bk", turned, contrasts)
        step = values - self.ratings @ contrasts.T
        start = self.ratings @ spread.T  # (studies, pairs)
        moved = start[:, None, :] + (step / variance)[:, :, None] * (turned @ spread.T)
        won, votes = self.totals
        loss = (won * start - votes * np.logaddexp(0, start)).sum(axis=1)[:, None] - (
            won[:, None, :] * moved - votes[:, None, :] * np.logaddexp(0, moved)
        ).sum(axis=2)
        return -np.sign(step) * np.sqrt(np.maximum(2 * loss, 0)), np.sqrt(variance)


def simulate(rng: np.random.Generator, positions: Floats, raters: int, studies: int) -> Studies:
    """12 votes of each rater, spread evenly over the pairs of generators."""
    count = len(positions)
    first, second = np.triu_indices(count, k=1)
    taste = positions + rng.normal(0, VARIATION / np.sqrt(2), (studies, raters, count))
    shown = np.full((studies, raters, len(first)), ANSWERS // len(first))
    extra = rng.random(shown.shape).argsort(axis=2)[:, :, : ANSWERS % len(first)]
    np.put_along_axis(shown, extra, np.take_along_axis(shown, extra, 2) + 1, 2)
    wins = rng.binomial(shown, special.expit(taste[:, :, first] - taste[:, :, second]))
    model = Model.of(np.stack([first, second], axis=1), count, ties=False, side_effect=False)
    return fitted(model, wins, shown)


def fitted(model: Model, wins: NDArray[np.int64], shown: NDArray[np.int64]) -> Studies:
    """Fit the votes of all studies, wins and votes each (studies, raters, pairs)."""
    won, votes = wins.sum(axis=1).astype(np.float64), shown.sum(axis=1).astype(np.float64)
    fits = fit_totals(model, np.stack([won, votes - won, np.zeros_like(won)], axis=1), None)
    chance = special.expit(fits.parameters @ model.spread.T)
    weight = (votes + fits.prior[:, None]) * chance * (1 - chance)
    information = np.einsum("bp,pi,pj->bij", weight, model.spread, model.spread)
    share = 1 / len(information[0])
    inverse = np.linalg.inv(information + share) - share
    return Studies(wins.astype(np.float64), shown.astype(np.float64), fits.parameters, fits.prior, inverse, model)


def row_of(label: str, positions: tuple[float, ...], raters: int, options: argparse.Namespace) -> tuple[str, ...]:
    """One row of the table."""
    place = np.asarray(positions)
    number = [name for name, _ in WORLDS["votes"].positions].index(label)
    rng = np.random.default_rng([options.seed, number, raters])
    row = simulate(rng, place, raters, options.studies)
    truth, equal = true_strengths(place), len(set(positions)) == 1
    count = len(place)
    first, second = np.triu_indices(count, k=1)
    contrasts = np.eye(count)[first] - np.eye(count)[second]
    gap = np.zeros(len(first)) if equal else contrasts @ truth
    error, reach = (np.empty((options.studies, len(first))) for _ in range(2))
    single = np.empty((options.studies, count))
    every = np.arange(count)
    for study in range(options.studies):
        cells = row.cells(study)
        error[study], degrees = pair_errors(cells, first, second)
        reach[study] = critical_t(0.95, count, degrees, votes=True) * error[study]
        spare = pair_errors(cells, every, every)[1]
        single[study] = special.stdtrit(spare, 0.975) * standard_errors(cells)
    off, model_error = row.roots(contrasts, gap)
    zero, _ = row.roots(contrasts, np.zeros(len(first)))
    covered = np.abs(off) * model_error <= reach
    separated = np.abs(zero) * model_error > reach
    own, own_error = row.roots(np.eye(count) - 1 / count, truth)
    rated = np.abs(own) * own_error <= single
    wrong = separated & (np.sign(row.ratings @ contrasts.T) != np.sign(gap))
    disagreements, width = _check(row, covered, separated, rated, gap, truth, options.checked)
    return (
        label,
        str(raters),
        marked(wrong.any(axis=1).mean(), 0.05, options.studies) if equal else f"({100 * wrong.any(1).mean():.1f})",
        marked(covered.all(axis=1).mean(), 0.95, options.studies),
        marked(rated.mean(), 0.95, options.studies),
        str(disagreements),
        f"{width:.2f}",
        "–" if equal else f"{100 * separated.mean():.0f}",
        f"{100 * row.unbounded.mean():.0f}",
        f"{100 * possible(row, place, raters):.1f}",
    )


def _check(
    row: Studies,
    covered: NDArray[np.bool_],
    separated: NDArray[np.bool_],
    rated: NDArray[np.bool_],
    gap: Floats,
    truth: Floats,
    checked: int,
) -> tuple[int, float]:
    """Disagreements of verdict, interval and p-value, and the median width over that of the plain t interval."""
    disagreements, widths = 0, []
    count = len(truth)
    first, second = np.triu_indices(count, k=1)
    for study in range(min(checked, len(row.ratings))):
        counts = np.stack(
            [row.wins[study], row.shown[study] - row.wins[study], np.zeros_like(row.wins[study])], axis=2
        )
        cells = bradley_terry(row.model.pairs, counts, items=count).rater_influence()
        pairs, estimates = separate(cells), clustered_t(cells)
        excludes = (pairs.low > 0) | (pairs.high < 0)
        disagreements += int((pairs.separated != excludes).sum())
        disagreements += int((pairs.separated != (pairs.p_adjusted < 0.05)).sum())
        assert np.array_equal(pairs.separated, separated[study])
        assert np.array_equal((pairs.low <= gap) & (gap <= pairs.high), covered[study])
        assert np.array_equal((estimates.low <= truth) & (truth <= estimates.high), rated[study])
        n = np.minimum(cells.raters[first], cells.raters[second])
        pull = cells.influence[:, first] - cells.influence[:, second]
        plain = np.sqrt(n / (n - 1) * (pull**2).sum(axis=0)) * stats.t.ppf(1 - 0.025 / len(first), n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            widths.append(np.median((pairs.high - pairs.low) / 2 / plain))
    return disagreements, float(np.median(widths))


def possible(row: Studies, positions: Floats, raters: int) -> float:
    """The least coverage of all differences of a test that is never wrong too often on either side of any pair.

    Of two generators: the exact test of the number of votes, its distribution known, each side at 2.5 %. Of more:
    a side is lost where the votes put no bound on the difference, which no test can call too large, in more
    studies than that side may be wrong in; what all other sides may be wrong in is left.
    """
    first, second = np.triu_indices(len(positions), k=1)
    if len(first) == 1:
        return _exact(float(positions[0] - positions[1]), raters)
    won = row.wins.sum(axis=1)
    lost = row.shown.sum(axis=1) - won
    beat = np.zeros((len(won), len(positions), len(positions)), np.bool_)
    beat[:, first, second], beat[:, second, first] = won > 0, lost > 0
    reach = beat | np.eye(len(positions), dtype=np.bool_)
    for _ in range(len(positions)):
        reach = np.einsum("bij,bjk->bik", reach.astype(np.float64), reach.astype(np.float64)) > 0
    side = 0.025 / len(first)
    above = (~reach[:, second, first]).mean(axis=0)  # nothing links the second back to the first: no upper bound
    below = (~reach[:, first, second]).mean(axis=0)
    return 1 - side * float((above <= side).sum() + (below <= side).sum())


def _exact(gap: float, raters: int) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    chance = special.expit(gap + VARIATION * nodes)
    wins = np.arange(ANSWERS + 1)
    one = stats.binom.pmf(wins[:, None], ANSWERS, chance) @ (weights / weights.sum())
    total = np.ones(1)
    for _ in range(raters):
        total = np.convolve(total, one)
    low, high = np.cumsum(total), np.cumsum(total[::-1])
    return 1 - float(max(low[low <= 0.025], default=0.0) + max(high[high <= 0.025], default=0.0))


def ranked_equal(raters: int, rankings: int, studies: int, seed: int) -> tuple[str, ...]:
    """Five equal generators put in order by each rater several times: how often any two are separated."""
    rng = np.random.default_rng([seed, 99, raters, rankings])
    who = np.repeat(np.arange(raters), rankings)
    wrong = disagreements = 0
    for _ in range(studies):
        taste = rng.normal(0, VARIATION / np.sqrt(2), (raters, 5))
        orders = np.argsort(-(taste[who] + rng.gumbel(size=(len(who), 5))), axis=1)
        pairs = separate(plackett_luce(who, orders, items=5).rater_influence())
        excludes = (pairs.low > 0) | (pairs.high < 0)
        disagreements += int((pairs.separated != excludes).sum())
        wrong += bool(pairs.separated.any())
    return f"{raters} raters × {rankings} rankings", marked(wrong / studies, 0.05, studies), str(disagreements)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--checked", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    labels = [label for label, _ in WORLDS["votes"].positions]
    parser.add_argument("--only", nargs="*", choices=labels, default=labels)
    parser.add_argument("--rankings", action="store_true", help="rankings of five equal generators, nothing else")
    options = parser.parse_args()
    if options.rankings:
        rows = [ranked_equal(*size, options.studies, options.seed) for size in ((5, 3), (10, 3), (5, 8))]
        print(table("Rankings of five equal generators", ("study", "false separations", "disagreements"), rows))
        return
    began = time.process_time()
    header = (
        "generators",
        "raters",
        "false separations",
        "coverage of all differences",
        "coverage of ratings",
        "disagreements",
        "width ÷ plain t",
        "separated",
        "studies without a bound",
        "least coverage possible",
    )
    rows = []
    for label, positions in WORLDS["votes"].positions:
        for raters in RATERS if label in options.only else ():
            rows.append(row_of(label, positions, raters, options))
            print(rows[-1], flush=True)
    print(table("Votes, per cent", header, rows))
    print(f"{options.studies} studies a row, seed {options.seed}, {time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
