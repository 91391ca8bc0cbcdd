"""Thurstone's Case V ratings of a data frame of votes."""

from beholder.stats.frames.bradley_terry import rated_votes, votes_table
from beholder.stats.frames.columns import Frame
from beholder.stats.frames.ratings import Ratings
from beholder.stats.frames.votes import read_votes


def thurstone(
    votes: Frame,
    *,
    winner: str = "winner",
    loser: str = "loser",
    tie: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
    rater: str | None = "rater",
    level: float = 0.95,
) -> Ratings:
    """Rate generators (or any items) by votes on pairs on a normal scale, with confidence intervals over raters.

    P(a is preferred to b) = Φ(θa − θb): a rating counts standard deviations of a difference of two items. The
    order of the items is nearly always that of :func:`~beholder.stats.frames.bradley_terry.bradley_terry`; use
    this where results are to be compared with studies of psychophysics, which scale by Case V.

    Args:
        votes: A data frame with one row per vote.
        winner: The column of the preferred item.
        loser: The column of the other.
        tie: A column of true and false: where true, neither was preferred, and each has half a vote.
        first: The column of the item shown first; with ``second`` and ``outcome`` in place of ``winner`` and
            ``loser``.
        second: The column of the item shown second.
        outcome: What the rater said, as for Bradley–Terry.
        rater: The column of raters; None takes all votes as independent.
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per item, the best first, as for Bradley–Terry.

    Example:
        >>> from beholder.stats.frames.examples import example_votes
        >>> thurstone(example_votes(), tie="tie")["estimate"].round(2).tolist()
        [0.33, 0.04, -0.06, -0.31]
    """
    named = read_votes(
        votes, winner=winner, loser=loser, tie=tie, first=first, second=second, outcome=outcome, rater=rater
    )
    rated = rated_votes(named, "thurstone")
    title = "Thurstone ratings (Case V), standard deviations of a difference"
    return votes_table(named, rated, title, "Thurstone rating (standard deviations)", [], level)
