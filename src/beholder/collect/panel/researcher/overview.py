"""What the researcher's pages of a panel show without statistics: studies, voices, appeals, money, rules."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row, func, select

from beholder.collect.panel.board import outcome_of
from beholder.collect.panel.feed import ProgressOf
from beholder.collect.panel.ledger import read_balances
from beholder.collect.panel.open_log import read_log
from beholder.collect.panel.schema import (
    appeals,
    flags,
    payments,
    proposals,
    raters,
    seats,
    studies,
    votes,
    work,
)
from beholder.collect.panel.voices import study_voices

LOG_SHOWN = 50

JsonObject = dict[str, Any]
Served = Collection[str]


def panel_overview(connection: Connection, served: Served, progress_of: ProgressOf, *, now: float) -> JsonObject:
    """Return the overview of a panel.

    Args:
        connection: In any transaction.
        served: Names of the studies of this server.
        progress_of: Free slots and recent sessions of a study.
        now: The time.

    Returns:
        As JSON.
    """
    voices = {voice.study: voice for voice in study_voices(connection)}
    rows = connection.execute(select(studies).order_by(studies.c.added.desc(), studies.c.study)).all()
    everyone = connection.scalar(select(func.count()).select_from(raters)) or 0
    return {
        "now": now,
        "raters": everyone,
        "studies": [_study(connection, row, served, progress_of) | _voice(voices[row.study]) for row in rows],
        "appeals": [
            _appeal(connection, row) for row in connection.execute(select(appeals).order_by(appeals.c.id.desc()))
        ],
        "ledger": [
            {"currency": currency, "account": account, "cents": cents}
            for (currency, account), cents in sorted(read_balances(connection).cents.items())
        ],
        "board": {row.member: row.role for row in connection.execute(select(seats))},
        "proposals": [
            _proposal(connection, row)
            for row in connection.execute(select(proposals).order_by(proposals.c.id.desc()))
        ],
        "log": [
            {"at": entry.at, "kind": entry.kind, "detail": entry.detail}
            for entry in read_log(connection)[-LOG_SHOWN:][::-1]
        ],
    }


def _study(connection: Connection, row: Row[Any], served: Served, progress_of: ProgressOf) -> JsonObject:
    progress = progress_of(row.study) if row.study in served else None
    flagged = connection.execute(select(flags).where(flags.c.study == row.study).order_by(flags.c.at)).all()
    owed = connection.execute(
        select(payments.c.status, func.sum(payments.c.cents).label("cents"))
        .where(payments.c.study == row.study)
        .group_by(payments.c.status)
    ).all()
    return {
        "study": row.study,
        "title": row.title,
        "researcher": row.researcher,
        "currency": row.currency,
        "served": row.study in served,
        "opened": row.opened,
        "closed": row.closed,
        "paused": row.paused,
        "pause_reason": row.pause_reason,
        "results": row.results,
        "results_link": row.results_link,
        "free": None if progress is None else progress[0],
        "recent": None if progress is None else progress[1],
        "sessions": connection.scalar(select(func.count()).select_from(work).where(work.c.study == row.study)),
        "flag_texts": [{"kind": flag.kind, "text": flag.text, "at": flag.at} for flag in flagged],
        "payments": {sum_.status: int(sum_.cents) for sum_ in owed},
    }


def _voice(voice: Any) -> JsonObject:  # noqa: ANN401
    return {
        "ratings": voice.ratings,
        "mean_rating": voice.mean_rating,
        "flags": voice.flags,
        "open_appeals": voice.open_appeals,
    }


def _appeal(connection: Connection, row: Row[Any]) -> JsonObject:
    """Return an appeal with the rater's record beside it."""
    held = connection.execute(select(work).where(work.c.rater == row.rater).order_by(work.c.started.desc())).all()
    return {
        "appeal": row.id,
        "study": row.study,
        "rater": row.rater,
        "reason": row.reason,
        "statement": row.statement,
        "at": row.at,
        "decision": row.decision,
        "decided_by": row.decided_by,
        "decision_reason": row.decision_reason,
        "record": [
            {
                "study": work_row.study,
                "status": work_row.status,
                "trials": work_row.trials,
                "gold_right": sum(work_row.gold),
                "gold": len(work_row.gold),
                "active_seconds": work_row.active_seconds,
                "reported_seconds": work_row.reported_seconds,
                "frozen": work_row.frozen,
                "excluded": work_row.excluded,
            }
            for work_row in held
        ],
    }


def _proposal(connection: Connection, row: Row[Any]) -> JsonObject:
    outcome = outcome_of(connection, row.id)
    cast = connection.execute(select(votes).where(votes.c.proposal == row.id)).all()
    return {
        "proposal": row.id,
        "title": row.title,
        "text": row.text,
        "by": row.by,
        "at": row.at,
        "status": outcome.status,
        "yes": outcome.yes,
        "no": outcome.no,
        "abstained": outcome.abstained,
        "votes": [{"member": vote.member, "choice": vote.choice, "reason": vote.reason} for vote in cast],
    }
