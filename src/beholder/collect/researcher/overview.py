"""Overview of the running study: slots, answers, sessions and raters, counted by the database."""

from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, and_, case, func, select

from beholder.collect.database.schema import comments, events, persons, responses, sessions, skips, slots
from beholder.collect.display.served_images import ServedImages
from beholder.collect.researcher.actions import KIND
from beholder.collect.researcher.design_cells import cells
from beholder.collect.server.disk import disk_of, low_disk_warning
from beholder.collect.session.catalogue import Catalogue
from beholder.collect.session.progress import is_paused
from beholder.study.study import Study

JsonObject = dict[str, Any]
LATEST = 30


def overview(
    connection: Connection, catalogue: Catalogue, study: Study, images: ServedImages, *, now: float
) -> JsonObject:
    """Return everything that the first page shows, from one snapshot."""
    slot_counts, answer_counts = _slots(connection, now), _answers(connection)
    skip_counts, session_counts = _skips(connection), _session_counts(connection)
    return {
        "study": {
            "name": study.name,
            "title": study.title,
            "description": study.description,
            "currency": study.pay.currency,
            "minimum_hourly": study.pay.minimum_hourly,
            "level": study.analysis.level,
        },
        "now": now,
        "rehearsal": catalogue.is_rehearsal,
        "paused": is_paused(connection),
        "raters": _rater_counts(connection),
        "comments": _comment_count(connection),
        "entry": {"open": study.collect.open_link, "platforms": list(study.collect.platforms or ())},
        "questions": [
            {
                "question": name,
                "kind": question.kind,
                "text": question.text,
                "slots": slot_counts.get(name, {"done": 0, "running": 0, "free": 0}),
                "answers": answer_counts.get(name, {"valid": 0, "spoiled": 0}),
                "skips": skip_counts.get(name, 0),
                "sessions": session_counts.get(name, {}),
                "cells": [asdict(cell) for cell in cells(connection, question)],
            }
            for name, question in catalogue.questions.items()
        ],
        "log": _log(connection),
        "disk": asdict(disk_of(images.folder)),
        "images": _images(images),
    }


def warnings(images: ServedImages) -> list[str]:
    """Return warnings for every part of the page; needs no database."""
    disk, prepared = disk_of(images.folder), images.cache_progress()
    messages = [low_disk_warning(images.folder, disk)] if disk.low else []
    if prepared.filling:
        messages.append(
            f"The images are being prepared: {prepared.done:,} of {prepared.total:,} so far. "
            "Raters who enter wait for them."
        )
    elif prepared.unstored:
        messages.append(
            f"{prepared.unstored:,} of {prepared.total:,} images are not stored, and are encoded when they are "
            "needed. Make room on the disk, and start the server again."
        )
    if prepared.broken:
        messages.append(
            f"{len(prepared.broken):,} images cannot be shown; raters can skip them. See the overview."
        )
    return messages


def _images(images: ServedImages) -> JsonObject:
    """Return how many images are prepared, and all that cannot be shown."""
    prepared = images.cache_progress()
    return {
        "done": prepared.done,
        "total": prepared.total,
        "filling": prepared.filling,
        "broken": [
            {"image": image, "path": images.path_of(image), "reason": reason}
            for image, reason in sorted(prepared.broken.items())
        ],
    }


def _slots(connection: Connection, now: float) -> dict[str, JsonObject]:
    """Count slots by question: done, running (with a valid lease), free."""
    held = and_(slots.c.done.is_(False), slots.c.session.is_not(None), slots.c.lease_until >= now)
    rows = connection.execute(
        select(
            slots.c.question,
            func.sum(case((slots.c.done.is_(True), 1), else_=0)).label("done"),
            func.sum(case((held, 1), else_=0)).label("running"),
            func.count().label("total"),
        ).group_by(slots.c.question)
    )
    return {
        row.question: {"done": row.done, "running": row.running, "free": row.total - row.done - row.running}
        for row in rows
    }


def _answers(connection: Connection) -> dict[str, JsonObject]:
    rows = connection.execute(
        select(sessions.c.question, responses.c.valid, func.count().label("count"))
        .join_from(responses, sessions, sessions.c.session == responses.c.session)
        .group_by(sessions.c.question, responses.c.valid)
    )
    counts: dict[str, JsonObject] = {}
    for row in rows:
        part = counts.setdefault(row.question, {"valid": 0, "spoiled": 0})
        part["valid" if row.valid else "spoiled"] = row.count
    return counts


def _skips(connection: Connection) -> dict[str, int]:
    rows = connection.execute(
        select(sessions.c.question, func.count().label("skipped"))
        .join_from(skips, sessions, sessions.c.session == skips.c.session)
        .group_by(sessions.c.question)
    )
    return {row.question: row.skipped for row in rows}


def _session_counts(connection: Connection) -> dict[str, dict[str, int]]:
    """Count sessions by question and status."""
    rows = connection.execute(
        select(sessions.c.question, sessions.c.status, func.count().label("sessions")).group_by(
            sessions.c.question, sessions.c.status
        )
    )
    counts: dict[str, dict[str, int]] = {}
    for row in rows:
        counts.setdefault(row.question, {})[row.status] = row.sessions
    return counts


def _rater_counts(connection: Connection) -> JsonObject:
    row = connection.execute(
        select(
            func.count().label("total"),
            func.coalesce(func.sum(case((persons.c.excluded.is_(True), 1), else_=0)), 0).label("excluded"),
            func.coalesce(func.sum(case((persons.c.simulated.is_(True), 1), else_=0)), 0).label("simulated"),
        ).select_from(persons)
    ).one()
    return {"total": row.total, "excluded": row.excluded, "simulated": row.simulated}


def _comment_count(connection: Connection) -> int:
    """Count the comments that say something, on the task and on skipped images."""
    texts = (comments.c.text, skips.c.comment)
    return sum(connection.scalar(select(func.count()).where(text != "")) or 0 for text in texts)


def _log(connection: Connection) -> list[JsonObject]:
    """Return the latest actions of researchers, newest first."""
    rows = connection.execute(
        select(events).where(events.c.kind.startswith(KIND)).order_by(events.c.id.desc()).limit(LATEST)
    )
    return [{"at": row.at, "kind": row.kind.removeprefix(KIND), "detail": row.detail} for row in rows]
