"""Which pairs to ask about next, from the votes so far: expected information under Bradley–Terry."""

from collections.abc import Sequence

import numpy as np

from beholder.errors import StatisticsError
from beholder.stats.comparisons.active_pairs import best_batch, laplace_posterior, plan_pairs
from beholder.stats.comparisons.vote_table import FIRST, TIE
from beholder.stats.frames.columns import Frame, Label, code_labels
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.frames.votes import read_votes


def active_pairs(
    votes: Frame | None = None,
    *,
    items: Sequence[Label] = (),
    size: int = 10,
    exploration: float = 0.2,
    spread: float = 1.5,
    winner: str = "winner",
    loser: str = "loser",
    tie: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
) -> ResultTable:
    """Return every pair with what one more vote on it would tell, and how often it should be asked next.

    A vote tells most where the outcome is open and the ratings are uncertain. The best ``size`` pairs are chosen
    one by one, each as if the votes before it had come in, so that they spread over the items. Every pair keeps a
    known chance above 0 (``exploration``), so that votes can be weighted back to evenly drawn pairs: log the
    ``propensity`` with each vote.

    Args:
        votes: A data frame with one row per vote so far, as for
            :func:`~beholder.stats.frames.bradley_terry.bradley_terry`; None before the first.
        items: All items, where some have no votes yet.
        size: How many pairs are chosen.
        exploration: The proportion of pairs that is drawn evenly.
        spread: Standard deviation of ratings before any vote, in log odds.
        winner: The column of the preferred item.
        loser: The column of the other.
        tie: A column of true and false: where true, neither was preferred.
        first: The column of the item shown first; with ``second`` and ``outcome`` in place of both.
        second: The column of the item shown second.
        outcome: What the rater said.

    Returns:
        One row per pair, the most often chosen first: ``times`` among the best ``size`` pairs, ``propensity``
        (sums to 1), ``gain`` (nats that one vote is expected to tell), ``votes`` so far.

    Example:
        >>> from beholder.stats.frames.examples import example_votes
        >>> plan = active_pairs(example_votes(), tie="tie", size=4)
        >>> [(row["item"], row["other"], row["times"]) for row in plan if row["times"]]
        [('aurora', 'cirrus', 3), ('cirrus', 'dune', 1)]
    """
    if votes is None:
        names, left, right, wins, backend = list(items), np.empty(0, int), np.empty(0, int), np.empty(0), "polars"
    else:
        read = read_votes(
            votes, winner=winner, loser=loser, tie=tie, first=first, second=second, outcome=outcome, rater=None
        )
        names, (_, left, right) = code_labels(
            [*read.names, *items], [read.names[i] for i in read.first], [read.names[i] for i in read.second]
        )
        wins = np.where(read.outcomes == TIE, 0.5, np.where(read.outcomes == FIRST, 1.0, 0.0))
        backend = read.backend
    if len(names) < 2:
        raise StatisticsError(f"pairs need at least two items; found {len(names)}: name them with items=")
    posterior = laplace_posterior(left, right, wins, len(names), spread)
    plan = plan_pairs(posterior, batch=size, exploration=exploration)
    chosen = np.sort(best_batch(posterior, size), axis=1)
    count = len(names)
    keys = plan.pairs[:, 0] * count + plan.pairs[:, 1]
    times = np.bincount(np.searchsorted(keys, chosen[:, 0] * count + chosen[:, 1]), minlength=len(keys))
    so_far = np.bincount(
        np.searchsorted(keys, np.minimum(left, right) * count + np.maximum(left, right)), minlength=len(keys)
    )
    order = np.lexsort((-plan.gain, -times))
    return ResultTable(
        title="pairs to ask about next",
        rows=frame_of(
            {
                "item": [names[number] for number in plan.pairs[order, 0]],
                "other": [names[number] for number in plan.pairs[order, 1]],
                "times": times[order],
                "propensity": plan.propensity[order],
                "gain": plan.gain[order],
                "votes": so_far[order],
            }
        ),
        method="expected information under Bradley–Terry, Laplace approximation",
        keys=2,
        estimate="propensity",
        items=count,
        answers=len(wins),
        ties="half a vote for each",
        notes=(f"exploration {exploration:g}, prior standard deviation {spread:g}",),
        backend=backend,
    )
