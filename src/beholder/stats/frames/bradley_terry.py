"""Bradley–Terry ratings of a data frame of votes."""

from beholder.stats.comparisons.rated_items import Model, RatedItems, rate_votes
from beholder.stats.frames.columns import Frame
from beholder.stats.frames.ratings import Ratings, each_its_own, ratings_table
from beholder.stats.frames.votes import Votes, read_votes

PRIOR = "Some items won (or lost) all their comparisons: one pseudo-vote per compared pair keeps ratings finite."


def bradley_terry(
    votes: Frame,
    *,
    winner: str = "winner",
    loser: str = "loser",
    tie: str | None = None,
    first: str | None = None,
    second: str | None = None,
    outcome: str | None = None,
    rater: str | None = "rater",
    side_effect: bool | None = None,
    level: float = 0.95,
) -> Ratings:
    """Rate generators (or any items) by votes on pairs, with confidence intervals over raters.

    The model is Bradley and Terry's with Davidson's ties: a is preferred to b with odds e^(θa − θb), and the
    ratings θ are natural-log odds around 0. The interval of each rating, those of all differences and the
    verdicts come from one t test clustered by rater, as in ``beholder rank``, whose numbers these are.

    Args:
        votes: A data frame with one row per vote (pandas, Polars, Arrow, or a dictionary of columns).
        winner: The column of the preferred item.
        loser: The column of the other.
        tie: A column of true and false: where true, neither of the two was preferred.
        first: The column of the item shown first (or on the left). With ``second`` and ``outcome`` it takes the
            place of ``winner`` and ``loser``, and allows for a side effect.
        second: The column of the item shown second.
        outcome: What the rater said: ``"first"``, ``"second"`` or ``"tie"``; or the name of the winner; or true
            where the first won; or a number, above 0 where it leans to the first and below 0 to the second.
        rater: The column of raters. With None every vote counts as independent of all others, which votes of
            one rater are not: the result says so.
        side_effect: Whether being shown first has a term of its own; by default where pairs were shown in both
            orders. Only with ``first``, ``second`` and ``outcome``.
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per item, the best first: ``item``, ``estimate``, ``low``, ``high``, ``se``, ``rank_low``,
        ``rank_high``, ``raters`` and ``answers``. :meth:`~beholder.stats.frames.ratings.Ratings.pairs` has the
        differences with simultaneous intervals. With fewer than 5 raters there are no intervals.

    Raises:
        FrameError: Columns are missing, or have nulls; all of them are listed.
        StatisticsError: Items were never compared, even through others.

    Example:
        >>> from beholder.stats.frames.examples import example_votes
        >>> ratings = bradley_terry(example_votes(), tie="tie")
        >>> ratings
        Bradley–Terry ratings, log odds
        item    estimate         95 % CI    se  rank  raters  answers
        ─────────────────────────────────────────────────────────────
        ember      +0.62  [+0.33, +0.92]  0.14  1–2       20      309
        dune       +0.08  [−0.11, +0.26]  0.09  1–3       20      298
        cirrus     −0.12  [−0.34, +0.10]  0.10  2–4       20      295
        aurora     −0.57  [−0.90, −0.27]  0.15  3–4       20      298
        95 % CI: t over raters · 20 raters · 600 answers
        ties: Davidson's model: a tie has a probability of its own
        >>> ratings.pairs().to_frame().filter("separated").select("item", "other").rows()
        [('ember', 'aurora'), ('ember', 'cirrus'), ('dune', 'aurora')]
    """
    named = read_votes(
        votes, winner=winner, loser=loser, tie=tie, first=first, second=second, outcome=outcome, rater=rater
    )
    rated = rated_votes(named, "bradley-terry", side_effect=side_effect)
    side = [] if rated.side is None else [f"Side effect: being shown first adds {rated.side:+.2f} to a rating."]
    return votes_table(
        named, rated, "Bradley–Terry ratings, log odds", "Bradley–Terry rating (log odds)", side, level
    )


def rated_votes(votes: Votes, model: Model, *, side_effect: bool | None = None) -> RatedItems:
    """Fit a model of votes; winners and losers have no sides."""
    return rate_votes(
        each_its_own(len(votes.raters), len(votes.names)) if votes.independent else votes.raters,
        votes.first,
        votes.second,
        votes.outcomes,
        names=votes.names,
        model=model,
        side_effect=side_effect if votes.ordered else False,
    )


def votes_table(votes: Votes, rated: RatedItems, title: str, unit: str, notes: list[str], level: float) -> Ratings:
    """Return the ratings of fitted votes."""
    return ratings_table(
        rated.influence,
        votes.names,
        rated.fit.answers,
        key="item",
        title=title,
        total=len(votes.outcomes),
        level=level,
        backend=votes.backend,
        independent=votes.independent,
        ties=rated.ties,
        unit=unit,
        reference=0.0,
        notes=[*notes, *([PRIOR] if rated.fit.prior_used else [])],
    )
