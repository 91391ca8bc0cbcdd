"""The studies that a rater of a panel can take now, in the rater's own order.

A study opens to those first whom its researcher rated best, and to others step by step (Boomerang's cascade); a
step that no rater of the panel reaches is not waited for. A study that gets less work than it has pending opens
sooner (fair progress). Whoever may not begin yet is told when. The order is the rater's: by the ratings they gave
the researcher, then kinds that interest them, then pay by the hour.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from beholder.care.boomerang import CASCADE, STEP_SECONDS, UNRATED, OpenStudy, access_threshold, fair_progress
from beholder.collect.database.schema import Database, sessions, slots
from beholder.collect.panel.reputations import reputations, researcher_scores
from beholder.collect.panel.schema import interests, raters, studies
from beholder.collect.session.progress import is_paused
from beholder.collect.session.slot_lending import is_free
from beholder.study.study import Study
from beholder.study.wages import base_pay, hourly_pay, session_minutes

HOUR = 3600.0

ProgressOf = Callable[[str], tuple[int, int] | None]
"""Free slots and sessions of the last hour of a study, by name."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A study that is open, as a rater sees it."""

    study: str
    title: str
    purpose: str
    researcher: str
    kinds: tuple[str, ...]
    currency: str
    pay: float
    """for a complete session, of the question that pays least"""
    minutes: float
    hourly: float
    free: int
    opens_in: float
    """seconds until this rater may begin; 0 now"""
    likes: bool
    """whether it asks a kind of question that the rater likes"""
    score: float
    """of the researcher, for this rater"""


def offers(
    connection: Connection, served: Mapping[str, Study], progress_of: ProgressOf, rater: str, *, now: float
) -> list[Offer]:
    """Return the open studies in a rater's order.

    Args:
        connection: To the panel, in any transaction.
        served: The studies of this server.
        progress_of: Free slots and recent sessions of a study; ``None`` where it takes nobody.
        rater: For whom.
        now: The time.

    Returns:
        Those with free slots, that are neither paused nor closed.
    """
    rows = [
        row
        for row in connection.execute(
            select(studies).where(studies.c.opened.is_not(None), studies.c.closed.is_(None))
        )
        if row.study in served and row.paused is None
    ]
    progress = {row.study: progress_of(row.study) for row in rows}
    open_rows = [row for row in rows if progress[row.study] is not None]
    waits = _waits(
        connection,
        rater,
        [(row.study, row.researcher, now - row.opened) for row in open_rows],
        [OpenStudy(row.study, *(progress[row.study] or (0, 0))) for row in open_rows],
    )
    liked = set(connection.scalars(select(interests.c.kind).where(interests.c.rater == rater)))
    scores = researcher_scores(connection, rater)
    listed = [
        _offer(
            served[row.study],
            row.researcher,
            free=int((progress[row.study] or (0, 0))[0]),
            opens_in=waits[row.study],
            score=scores.get(row.researcher, UNRATED),
            liked=liked,
        )
        for row in open_rows
    ]
    return sorted(listed, key=lambda offer: (-offer.score, not offer.likes, -offer.hourly, offer.study))


def study_progress(database: Database, *, now: float) -> tuple[int, int] | None:
    """Return the free slots of a study and the sessions of the last hour; ``None`` where it is paused or full.

    Args:
        database: Of the study.
        now: The time.

    Returns:
        Both counts.
    """
    with database.reading() as connection:
        if is_paused(connection):
            return None
        free = connection.scalar(select(func.count()).select_from(slots).where(is_free(now))) or 0
        recent = connection.scalar(select(func.count()).select_from(sessions).where(sessions.c.ended > now - HOUR))
    return (int(free), int(recent or 0)) if free else None


def seconds_until_open(score: float, seconds_open: float, *, best: float, lowered: float = 1.0) -> float:
    """Return how long a rater waits for a study; 0 if it is open to them.

    Args:
        score: Of the rater, for the researcher.
        seconds_open: Since the study opened.
        best: Highest score in the panel; steps above it are not waited for.
        lowered: What fair progress multiplies the threshold by.

    Returns:
        Seconds.

    Example:
        >>> [seconds_until_open(1.99, 60, best=best) for best in (3.0, 1.99)]
        [540.0, 0.0]
    """
    steps = [step for step in CASCADE if step <= max(best, CASCADE[-1])] or [CASCADE[-1]]
    skipped = STEP_SECONDS * (len(CASCADE) - len(steps))
    if score >= access_threshold(seconds_open + skipped) * lowered:
        return 0.0
    needed = next((place for place, step in enumerate(steps) if step * lowered <= score), len(steps) - 1)
    return max(needed * STEP_SECONDS - seconds_open, 0.0)


def _waits(
    connection: Connection,
    rater: str,
    open_for: Sequence[tuple[str, str, float]],
    progress: Sequence[OpenStudy],
) -> dict[str, float]:
    """Return how long the rater waits for each study."""
    lowered = fair_progress([1.0] * len(progress), progress)
    everyone = connection.scalar(select(func.count()).select_from(raters)) or 0
    waits: dict[str, float] = {}
    by_researcher = {name: reputations(connection, name) for name in {row[1] for row in open_for}}
    for (study, researcher, seconds), factor in zip(open_for, lowered, strict=True):
        scores = by_researcher[researcher]
        best = max([*scores.values(), *([UNRATED] if len(scores) < everyone else [])], default=UNRATED)
        waits[study] = seconds_until_open(scores.get(rater, UNRATED), seconds, best=best, lowered=factor)
    return waits


def _offer(study: Study, researcher: str, *, free: int, opens_in: float, score: float, liked: set[str]) -> Offer:
    least = min(study.questions, key=lambda question: hourly_pay(study, question))
    kinds = tuple(dict.fromkeys(question.kind for question in study.questions))
    return Offer(
        study=study.name,
        title=study.title,
        purpose=study.description,
        researcher=researcher,
        kinds=kinds,
        currency=study.pay.currency,
        pay=base_pay(study, least),
        minutes=session_minutes(study, least),
        hourly=hourly_pay(study, least),
        free=free,
        opens_in=opens_in,
        likes=not liked.isdisjoint(kinds),
        score=score,
    )
