"""Boomerang in a panel: the score of raters with a researcher, and of researchers with a rater."""

from sqlalchemy import Connection, select

from beholder.care.boomerang import DECAY, reputation
from beholder.collect.panel.schema import ratings, studies

_RATED = (
    select(ratings.c.rater, ratings.c.rating, studies.c.researcher)
    .select_from(ratings.join(studies, studies.c.study == ratings.c.study))
    .order_by(ratings.c.at.desc(), ratings.c.id.desc())
)


def reputations(connection: Connection, researcher: str) -> dict[str, float]:
    """Return the score of every rater who was ever rated, for a researcher.

    Args:
        connection: In any transaction.
        researcher: Whose ratings count as their own.

    Returns:
        rater -> score
    """
    own: dict[str, list[float]] = {}
    others: dict[str, dict[str, float]] = {}
    for row in connection.execute(_RATED.where(ratings.c.giver == "researcher")):
        if row.researcher == researcher:
            own.setdefault(row.rater, []).append(row.rating)
        else:
            others.setdefault(row.rater, {}).setdefault(row.researcher, row.rating)
    return {
        rater: reputation(own.get(rater, []), list(others.get(rater, {}).values())) for rater in {*own, *others}
    }


def researcher_scores(connection: Connection, rater: str) -> dict[str, float]:
    """Return the score of every researcher whom anybody rated, for a rater: by it studies are ordered.

    Args:
        connection: In any transaction.
        rater: Whose ratings count as their own.

    Returns:
        researcher -> score
    """
    own: dict[str, list[float]] = {}
    others: dict[str, dict[str, float]] = {}
    for row in connection.execute(_RATED.where(ratings.c.giver == "rater")):
        if row.rater == rater:
            own.setdefault(row.researcher, []).append(row.rating)
        else:
            others.setdefault(row.researcher, {}).setdefault(row.rater, row.rating)
    return {
        name: reputation(own.get(name, []), list(others.get(name, {}).values()), DECAY["researcher"])
        for name in {*own, *others}
    }
