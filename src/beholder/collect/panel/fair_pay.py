"""Fair pay in a panel: effective times, frozen reports, and top-ups that are proposed with their reasons."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Row, select, update

from beholder.care.effective_time import effective_seconds, paid_multiple, suspicious_reports
from beholder.care.top_ups import PaidWork, TopUp, top_ups
from beholder.collect.panel.payments import NewPayment, propose
from beholder.collect.panel.schema import payments, studies, work
from beholder.errors import StageError
from beholder.stats.estimate import Estimate

EXCEEDS = "reported far more time than the page measured"


@dataclass(frozen=True, slots=True)
class FairPay:
    """What a question of a study pays, and what is missing."""

    question: str
    seconds: Estimate
    """effective time of a session"""
    hourly_cents: float
    """median pay of a session over the effective time, per hour"""
    top_ups: tuple[TopUp, ...]
    frozen: int
    """reports that do not count"""


def propose_top_ups(connection: Connection, study: str, *, now: float) -> tuple[FairPay, ...]:
    """Compute the effective time of each question of a study, and propose what is missing to the minimum wage.

    Args:
        connection: In a write transaction.
        study: Of the panel.
        now: The time.

    Returns:
        One result per question with complete sessions.
    """
    row = connection.execute(select(studies).where(studies.c.study == study)).first()
    if row is None:
        raise StageError(f"the panel has no study '{study}'; `beholder panel studies` lists them")
    freeze_suspicious(connection, study)
    sessions = connection.execute(
        select(work)
        .where(work.c.study == study, work.c.status == "complete", work.c.active_seconds > 0)
        .order_by(work.c.session)
    ).all()
    base = {
        paid.session: paid.cents
        for paid in connection.execute(
            select(payments).where(payments.c.study == study, payments.c.kind == "bonus")
        )
    }
    hourly = Decimal(row.minimum_hourly_cents) / 100
    outcomes = []
    for question in sorted({session.question for session in sessions}):
        done = [session for session in sessions if session.question == question]
        counted = [session for session in done if not session.frozen] or done
        # each session is an item of its own: one rater takes one slot
        seconds = effective_seconds(
            [session.session for session in counted],
            [session.rater for session in counted],
            [session.reported_seconds or session.active_seconds for session in counted],
        )
        paid = [
            PaidWork(
                session.rater,
                session.session,
                _paid_time(session),
                session.pay_cents + base.get(session.session, 0),
                session.frozen or "",
            )
            for session in done
        ]
        multiple = paid_multiple([session.active_seconds for session in done])
        missing = top_ups(paid, effective_seconds=seconds.value, hourly=hourly, multiple=multiple)
        for up in missing:
            new = NewPayment(study, up.session, up.rater, "top-up", up.cents, row.currency, up.reason)
            propose(connection, new, now=now)
        median = sorted(session.pay_cents for session in done)[len(done) // 2]
        outcomes.append(
            FairPay(question, seconds, median / seconds.value * 3600, missing, sum(bool(s.frozen) for s in done))
        )
    return tuple(outcomes)


def report_time(connection: Connection, study: str, session: str, seconds: float) -> None:
    """Note how long a rater says that a session took; the page fills in the active time beforehand.

    Args:
        connection: In a write transaction.
        study: Of the panel.
        session: Of the study.
        seconds: As the rater says.
    """
    if not 0 < seconds < 24 * 3600:
        raise StageError(f"a session takes between 0 and 24 hours; found {seconds:g} s")
    place = (work.c.study == study) & (work.c.session == session)
    if not connection.execute(update(work).where(place).values(reported_seconds=seconds)).rowcount:
        raise StageError(f"there is no session {session} of '{study}' in this panel")


def freeze_suspicious(connection: Connection, study: str) -> int:
    """Freeze reports that contradict the measured time; return how many were frozen now.

    Args:
        connection: In a write transaction.
        study: Of the panel.

    Returns:
        The number of reports.
    """
    frozen = 0
    rows = connection.execute(
        select(work).where(work.c.study == study, work.c.status == "complete", work.c.active_seconds > 0)
    ).all()
    for question in {row.question for row in rows}:
        asked = [row for row in rows if row.question == question]
        reported = [row.reported_seconds or row.active_seconds for row in asked]
        suspicion = suspicious_reports(
            [question] * len(asked), [row.rater for row in asked], reported, [row.active_seconds for row in asked]
        )
        for row, exceeds in zip(asked, suspicion.exceeds_active, strict=True):
            if row.frozen is None and exceeds:
                place = (work.c.study == study) & (work.c.session == row.session)
                connection.execute(update(work).where(place).values(frozen=EXCEEDS))
                frozen += 1
    return frozen


def _paid_time(session: Row[Any]) -> float:
    """Return a rater's own time: as measured, or as reported where an appeal gave the report back its place."""
    return float(session.reported_seconds if session.frozen == "" else session.active_seconds)
