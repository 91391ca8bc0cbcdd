"""What raters and researchers say about each other: ratings, flags that pause a study, and appeals."""

from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from sqlalchemy import Connection, Select, func, insert, select, update

from beholder.care.boomerang import RATINGS
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import appeals, flags, ratings, studies, work
from beholder.errors import StageError

FLAG_KINDS = ("pay too low", "inappropriate", "other")
FLAGS_TO_PAUSE = 7
"""Raters whose flags pause a study (Daemo)."""

SHOWN_AFTER = 5
"""Ratings of a study before their mean is shown to anybody, so that nobody's can be inferred."""

Giver = Literal["researcher", "rater"]


@dataclass(frozen=True, slots=True)
class StudyVoice:
    """What raters say of a study."""

    study: str
    ratings: int
    mean_rating: float | None
    """of the latest rating by each rater; hidden below ``SHOWN_AFTER``"""
    flags: int
    paused: bool
    open_appeals: int


def rate(connection: Connection, study: str, rater: str, rating: int, *, giver: Giver, now: float) -> None:
    """Rate a rater (by the researcher of a study) or a study (by a rater who took part in it).

    Args:
        connection: In a write transaction.
        study: In which they met.
        rater: The rater, who rates or is rated.
        rating: 1 last, 2 as others, 3 first.
        giver: Who rates.
        now: The time.
    """
    if rating not in RATINGS:
        raise StageError(f"a rating is 1 (last), 2 (as others) or 3 (first); found {rating}")
    _require_work(connection, study, rater)
    connection.execute(insert(ratings).values(study=study, rater=rater, giver=giver, rating=rating, at=now))


def flag_study(connection: Connection, study: str, rater: str, kind: str, text: str, *, now: float) -> bool:
    """Flag a study; at ``FLAGS_TO_PAUSE`` raters it pauses.

    Args:
        connection: In a write transaction.
        study: Which.
        rater: Who took part in it; each counts once.
        kind: Of ``FLAG_KINDS``.
        text: What is wrong.
        now: The time.

    Returns:
        Whether the study is paused now.
    """
    if kind not in FLAG_KINDS:
        raise StageError(f"a flag is one of {', '.join(FLAG_KINDS)}; found '{kind}'")
    _require_work(connection, study, rater)
    earlier = (flags.c.study == study) & (flags.c.rater == rater)
    if connection.scalar(select(flags.c.rater).where(earlier)) is None:
        connection.execute(insert(flags).values(study=study, rater=rater, kind=kind, text=text, at=now))
    count = int(connection.scalar(select(func.count()).select_from(flags).where(flags.c.study == study)) or 0)
    paused = connection.scalar(select(studies.c.paused).where(studies.c.study == study))
    if count >= FLAGS_TO_PAUSE and paused is None:
        reason = f"flagged by {count} raters"
        connection.execute(update(studies).where(studies.c.study == study).values(paused=now, pause_reason=reason))
        write_entry(connection, "study paused", {"study": study, "reason": reason}, now=now)
        return True
    return paused is not None


def appeal(connection: Connection, study: str, rater: str, reason: str, statement: str, *, now: float) -> int:
    """Answer the reason for an exclusion or a frozen report.

    Args:
        connection: In a write transaction.
        study: In which.
        rater: Who.
        reason: That the rater was told.
        statement: The rater's answer.
        now: The time.

    Returns:
        The number of the appeal.
    """
    _require_work(connection, study, rater)
    if not statement.strip():
        raise StageError("an appeal needs a statement")
    inserted = connection.execute(
        insert(appeals).values(study=study, rater=rater, reason=reason, statement=statement, at=now)
    )
    return int(inserted.inserted_primary_key[0])  # type: ignore[index]


def open_appeal(connection: Connection, study: str, rater: str) -> int | None:
    """Return the number of a rater's appeal that nobody has decided yet.

    Args:
        connection: In any transaction.
        study: In which.
        rater: Who.

    Returns:
        Its number, or ``None``.
    """
    place = (appeals.c.study == study) & (appeals.c.rater == rater) & appeals.c.decision.is_(None)
    return connection.scalar(select(appeals.c.id).where(place).limit(1))


def decide_appeal(connection: Connection, number: int, *, accept: bool, by: str, reason: str, now: float) -> None:
    """Decide an appeal, once; an accepted one gives a frozen report back its place.

    Args:
        connection: In a write transaction.
        number: Of the appeal.
        accept: Or reject.
        by: The researcher.
        reason: That the rater is told.
        now: The time.
    """
    row = connection.execute(select(appeals).where(appeals.c.id == number)).first()
    if row is None or row.decision is not None:
        raise StageError(f"there is no open appeal {number}")
    decision = "accepted" if accept else "rejected"
    connection.execute(
        update(appeals)
        .where(appeals.c.id == number)
        .values(decision=decision, decided_by=by, decision_reason=reason, decided=now)
    )
    if accept:
        place = (work.c.study == row.study) & (work.c.rater == row.rater) & work.c.frozen.is_not(None)
        connection.execute(update(work).where(place).values(frozen=""))
    write_entry(connection, "appeal decided", {"appeal": number, "decision": decision, "by": by}, now=now)


def study_voices(connection: Connection) -> list[StudyVoice]:
    """Return what raters say of each study.

    Args:
        connection: In any transaction.

    Returns:
        One row per study, in the order in which they were added.
    """
    latest: dict[str, dict[str, int]] = {}
    rater_ratings = select(ratings.c.study, ratings.c.rater, ratings.c.rating).where(ratings.c.giver == "rater")
    for row in connection.execute(rater_ratings.order_by(ratings.c.at, ratings.c.id)):
        latest.setdefault(row.study, {})[row.rater] = row.rating
    flagged = _counts(connection, select(flags.c.study, func.count().label("rows")).group_by(flags.c.study))
    open_appeals = select(appeals.c.study, func.count().label("rows")).where(appeals.c.decision.is_(None))
    waiting = _counts(connection, open_appeals.group_by(appeals.c.study))
    voices = []
    for study in connection.execute(select(studies).order_by(studies.c.added, studies.c.study)):
        own = latest.get(study.study, {})
        voices.append(
            StudyVoice(
                study.study,
                len(own),
                fmean(own.values()) if len(own) >= SHOWN_AFTER else None,
                flagged.get(study.study, 0),
                study.paused is not None,
                waiting.get(study.study, 0),
            )
        )
    return voices


def _counts(connection: Connection, query: Select[tuple[str, int]]) -> dict[str, int]:
    return {row.study: int(row.rows) for row in connection.execute(query)}


def _require_work(connection: Connection, study: str, rater: str) -> None:
    place = (work.c.study == study) & (work.c.rater == rater)
    if connection.scalar(select(work.c.session).where(place).limit(1)) is None:
        raise StageError(f"{rater} took no part in '{study}'; `beholder panel raters` and `studies` list both")
