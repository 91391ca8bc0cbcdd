"""A rater's own page: studies to choose from, own history, accuracy, agreement and earnings.

Everything here is about one rater. Nothing ranks raters, and what others say of a study appears only as a mean of
several.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Row, select

from beholder.collect.panel.feed import ProgressOf, offers
from beholder.collect.panel.schema import (
    appeals,
    contacts,
    flags,
    interests,
    payments,
    raters,
    ratings,
    standings,
    studies,
    work,
)
from beholder.collect.panel.voices import study_voices
from beholder.study.study import Study

JsonObject = dict[str, Any]


def own_page(
    connection: Connection, served: Mapping[str, Study], progress_of: ProgressOf, rater: str, *, now: float
) -> JsonObject:
    """Return what a rater's own page shows.

    Args:
        connection: To the panel, in any transaction.
        served: The studies of this server.
        progress_of: Free slots and recent sessions of a study.
        rater: Who.
        now: The time.

    Returns:
        As JSON.
    """
    person = connection.execute(select(raters).where(raters.c.rater == rater)).one()
    voices = {voice.study: voice for voice in study_voices(connection)}
    history = _history(connection, rater)
    running = {row["study"] for row in history if row["status"] == "running"}
    over = {row["study"] for row in history if row["status"] != "running"} - running
    excluded = {row["study"] for row in history if row["excluded"] is not None}
    listed = [] if person.opted_out is not None else offers(connection, served, progress_of, rater, now=now)
    content = {
        row.study: row.content for row in connection.execute(select(standings).where(standings.c.rater == rater))
    }
    return {
        "rater": rater,
        "joined": person.joined,
        "opted_out": person.opted_out is not None,
        "contact": connection.scalar(select(contacts.c.consented).where(contacts.c.rater == rater)),
        "interests": sorted(connection.scalars(select(interests.c.kind).where(interests.c.rater == rater))),
        "kinds": sorted({question.kind for study in served.values() for question in study.questions}),
        "offers": [
            asdict(offer)
            | {"running": offer.study in running, "ratings": voices[offer.study].ratings}
            | {"mean_rating": voices[offer.study].mean_rating}
            for offer in listed
            if offer.study not in over | excluded
        ],
        "history": [row | {"standing": _shown(row, content.get(row["study"], {}))} for row in history],
        "skills": content.get("", {}).get("skills", []),
        "earnings": _earnings(history),
    }


def _history(connection: Connection, rater: str) -> list[JsonObject]:
    """Return a row per study in which the rater took part, the latest first."""
    rows = connection.execute(
        select(work, studies)
        .join(studies, studies.c.study == work.c.study)
        .where(work.c.rater == rater)
        .order_by(work.c.started.desc())
    ).all()
    by_study: dict[str, list[Row[Any]]] = {}
    for row in rows:
        by_study.setdefault(row.study, []).append(row)
    return [_study_row(connection, rater, study, held) for study, held in by_study.items()]


def _study_row(connection: Connection, rater: str, study: str, held: list[Row[Any]]) -> JsonObject:
    latest = held[0]
    here = ratings.c.study == study
    rating = connection.scalar(
        select(ratings.c.rating)
        .where(here, ratings.c.rater == rater, ratings.c.giver == "rater")
        .order_by(ratings.c.at.desc(), ratings.c.id.desc())
        .limit(1)
    )
    flag = connection.execute(select(flags).where(flags.c.study == study, flags.c.rater == rater)).first()
    appeal = connection.execute(
        select(appeals)
        .where(appeals.c.study == study, appeals.c.rater == rater)
        .order_by(appeals.c.id.desc())
        .limit(1)
    ).first()
    owed = connection.execute(
        select(payments).where(payments.c.study == study, payments.c.rater == rater).order_by(payments.c.proposed)
    ).all()
    return {
        "study": study,
        "title": latest.title,
        "purpose": latest.purpose,
        "researcher": latest.researcher,
        "status": "running" if any(row.status == "running" for row in held) else latest.status,
        "started": min(row.started for row in held),
        "closed": latest.closed is not None,
        "kinds": sorted({row.kind for row in held}),
        "trials": sum(row.trials for row in held),
        "seconds": sum(row.active_seconds for row in held),
        "cents": sum(row.pay_cents for row in held),
        "currency": latest.currency,
        "results": None if latest.published is None else {"text": latest.results, "link": latest.results_link},
        "rating": rating,
        "flag": None if flag is None else {"kind": flag.kind, "text": flag.text},
        "excluded": next((row.excluded for row in held if row.excluded is not None), None),
        "frozen": next((row.frozen for row in held if row.frozen), None),
        "appeal": None
        if appeal is None
        else {
            "statement": appeal.statement,
            "decision": appeal.decision,
            "reason": appeal.decision_reason,
        },
        "payments": [{"kind": row.kind, "cents": row.cents, "status": row.status} for row in owed],
    }


def _shown(row: JsonObject, content: JsonObject) -> JsonObject:
    """Return the standing without what could still help: accuracy on gold, while the study is open."""
    return {name: value for name, value in content.items() if row["closed"] or name != "gold"}


def _earnings(history: list[JsonObject]) -> list[JsonObject]:
    """Return what was earned in each currency, and by the hour of active time."""
    earned: dict[str, list[float]] = {}
    for row in history:
        total = earned.setdefault(row["currency"], [0, 0.0])
        extra = sum(p["cents"] for p in row["payments"] if p["status"] not in ("proposed", "declined"))
        total[0] += row["cents"] + extra
        total[1] += row["seconds"]
    return [
        {"currency": currency, "cents": cents, "hourly": cents / seconds * 3600 if seconds else None}
        for currency, (cents, seconds) in earned.items()
    ]
