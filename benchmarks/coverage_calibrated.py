"""Votes on five generators: what calibrating the critical value would do, at the truth and at the estimate.

    python benchmarks/coverage_calibrated.py [--studies 2000] [--replicates 200] [--raters 5 8 10]

The studies are those of ``coverage_votes.py``. Every difference of a study is tested at its true value; the
largest ratio of statistic to critical value among the ten pairs decides whether all intervals hold theirs. *At
the truth* is the factor on all critical values with which 95 % of studies would: who knows the true strengths
could use it. *At the estimate* it is that of ``--replicates`` studies drawn with the estimated strengths and
independent votes, the strengths multiplied by λ = max(0, 1 − Σ SE² / Σ strength²) since estimates are spread too
far; *in part* moves the factor only by λ from 1, so that it stays near 1 where nothing says that generators
differ.
"""

import argparse

import numpy as np
from coverage_clustered import table
from coverage_verdicts import WORLDS, true_strengths
from coverage_votes import Floats, Studies, fitted, simulate
from scipy import special

from beholder.stats.intervals.clustered_t import pair_errors, standard_errors
from beholder.stats.significance.simultaneous import critical_t

LABELS = ("5, equal", "5, 0.5 apart", "5, 1.5 apart")
SEED = 882_000  # of development: nothing that is reported elsewhere


def excess(row: Studies, values: Floats) -> Floats:
    """The largest statistic over its critical value in each study, differences tested at ``values`` (pairs,)."""
    return np.asarray(np.abs(_ratios(row, values)).max(axis=1))


def _ratios(row: Studies, values: Floats) -> Floats:
    count = row.ratings.shape[1]
    first, second = np.triu_indices(count, k=1)
    reach = np.empty((len(row.ratings), len(first)))
    for study in range(len(reach)):
        error, degrees = pair_errors(row.cells(study), first, second)
        reach[study] = critical_t(0.95, count, degrees, votes=True) * error
    root, model_error = row.roots(np.eye(count)[first] - np.eye(count)[second], values)
    return np.asarray(root * model_error / reach)


def drawn_again(rng: np.random.Generator, row: Studies, study: int, strengths: Floats, replicates: int) -> Studies:
    """Studies with the same numbers of trials, independent votes, and these strengths."""
    shown = np.broadcast_to(row.shown[study], (replicates, *row.shown[study].shape)).astype(np.int64)
    wins = rng.binomial(shown, special.expit(strengths @ row.model.spread.T))
    return fitted(row.model, wins, shown)


def row_of(label: str, raters: int, studies: int, replicates: int) -> tuple[str, ...]:
    """One row of the table."""
    place = np.asarray(dict(WORLDS["votes"].positions)[label])
    first, second = np.triu_indices(len(place), k=1)
    truth = true_strengths(place)
    gap = np.zeros(len(first)) if len(set(place)) == 1 else truth[first] - truth[second]
    rng = np.random.default_rng([SEED + len(label), raters])
    row = simulate(rng, place, raters, studies)
    at_truth, zero = excess(row, gap), np.abs(_ratios(row, np.zeros(len(first))))
    factor, belief = np.empty(studies), np.empty(studies)
    for study in range(studies):
        strengths, errors = row.ratings[study], standard_errors(row.cells(study))
        belief[study] = max(0.0, 1 - float((errors**2).sum()) / max(float((strengths**2).sum()), 1e-12))
        strengths = strengths * belief[study]
        again = drawn_again(rng, row, study, strengths, replicates)
        factor[study] = np.quantile(excess(again, strengths[first] - strengths[second]), 0.95)
    in_part = 1 - belief * np.maximum(1 - factor, 0)
    figures = []
    for factors in (np.ones(studies), factor, in_part):
        separated = zero > factors[:, None]
        second_figure = separated.any(axis=1).mean() if not gap.any() else separated.mean()
        figures.append(f"{100 * (at_truth <= factors).mean():.1f} ({100 * second_figure:.1f})")
    return (label, str(raters), *figures, f"{np.quantile(at_truth, 0.95):.2f}", f"{np.median(factor):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--raters", nargs="*", type=int, default=[5, 8, 10])
    parser.add_argument("--only", nargs="*", choices=LABELS, default=list(LABELS))
    options = parser.parse_args()
    header = (
        "generators",
        "raters",
        "as it is",
        "at the estimate",
        "in part",
        "factor at the truth",
        "median factor at the estimate",
    )
    rows = []
    for label in options.only:
        for raters in options.raters:
            rows.append(row_of(label, raters, options.studies, options.replicates))
            print(rows[-1], flush=True)
    print(table("Coverage of all differences (false separations, or pairs separated), per cent", header, rows))


if __name__ == "__main__":
    main()
