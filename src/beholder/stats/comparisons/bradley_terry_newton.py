"""Maximum-likelihood fits of Davidson's model to many replicates of votes, with pseudo-votes where needed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.comparisons.bradley_terry_likelihood import Model, VoteLikelihood
from beholder.stats.comparisons.newton import maximise
from beholder.stats.comparisons.win_graph import strongly_connected


@dataclass(frozen=True, eq=False)
class Fits:
    """The parameters of each replicate, and whether they needed pseudo-votes."""

    parameters: NDArray[np.float64]  # (replicates, params)
    prior: NDArray[np.bool_]  # (replicates,) whether pseudo-votes were added


def fit_totals(
    model: Model, totals: NDArray[np.float64], start: NDArray[np.float64] | None, *, prior: bool = False
) -> Fits:
    """Maximise the likelihood of each replicate of ``totals`` (replicates, 3, pairs), from ``start`` or zero.

    Pseudo-votes are added in a replicate whose maximum would not be finite; with ``prior``, in every replicate.
    Such replicates are known beforehand (win graph not strongly connected; no ties, or nothing but ties, where δ
    is fitted) or show by climbing an endless slope: γ, where the side decides all, or d and δ together, where an
    item only wins and ties (ties bound d for a given δ only).
    """
    origin = np.zeros(model.size) if start is None else start
    needs = np.full(len(totals), prior) | ~_connected(model, totals)
    if model.tie is not None:
        ties = totals[:, 2].sum(axis=1)
        needs |= (ties == 0) | (totals.sum(axis=(1, 2)) == ties)
    smoothed = totals + np.where(needs[:, None, None], model.prior, 0.0) if needs.any() else totals
    beta, runaway = maximise(VoteLikelihood.of(model, smoothed), origin, len(totals))
    again = np.flatnonzero(runaway & ~needs)
    if len(again):
        needs[again] = True
        padded = VoteLikelihood.of(model, totals[again] + model.prior)
        beta[again], runaway[again] = maximise(padded, origin, len(again))
    if runaway.any():
        raise StatisticsError(
            f"Davidson's model has no finite fit in {int(runaway.sum())} of {len(totals)} replicates, though each "
            f"compared pair had pseudo-votes; found {totals.sum(axis=(1, 2)).max():.3g} votes per replicate"
        )
    return Fits(beta, needs)


def _connected(model: Model, totals: NDArray[np.float64]) -> NDArray[np.bool_]:
    first, second, tie = totals[:, 0], totals[:, 1], totals[:, 2]
    if model.tie is None:
        return strongly_connected(model.pairs, first > 0, second > 0, model.items)
    return strongly_connected(model.pairs, first + tie > 0, second + tie > 0, model.items)
