"""Studies of a panel: who took part, how long it took, what gold trials say; read from the study's own tables."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import Connection, delete, insert, select

from beholder.collect.database.address import FILE_NAME as STUDY_DATABASE
from beholder.collect.database.schema import Database, persons
from beholder.collect.database.schema import identities as study_identities
from beholder.collect.database.schema import sessions as study_sessions
from beholder.collect.panel.active_time import time_between
from beholder.collect.panel.live_work import CHECKING
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.opening import note_study
from beholder.collect.panel.schema import identities, members, raters, settings, work
from beholder.collect.session.arrival import PANEL
from beholder.errors import StageError
from beholder.judgements.joined import answered_trials
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import load_study
from beholder.tables.store import Store

KEY = "pseudonyms"


@dataclass(frozen=True, slots=True)
class AddedStudy:
    """What a study brought into the panel."""

    study: str
    sessions: int
    raters: int
    newcomers: int
    simulated: bool


def add_study(
    connection: Connection,
    folder: Path,
    *,
    researcher: str,
    study_url: str | None = None,
    logged: bool = True,
    now: float,
) -> AddedStudy:
    """Add a study, or what has happened in it since; to add it twice changes nothing.

    Args:
        connection: To the panel, in a write transaction. folder: Of the study, with its tables. researcher: Who
        ran it, and whom raters rate by it. study_url: Of the study's database, where it is not in its folder;
        raters are recognised by their platform id. logged: Whether it is written to the log. now: The time.

    Returns:
        Counts.
    """
    study, store = load_study(folder), Store(folder)
    if not store.has("sessions"):
        raise StageError(f"{folder} has no sessions yet. Collect answers first: beholder collect {folder}")
    sessions = store.read("sessions").filter(pl.col("status") != "no-consent")
    known = _identities(folder, study_url)
    note_study(connection, study, folder, researcher, now=now)
    before = set(connection.scalars(select(raters.c.rater)))
    by_pseudonym: dict[str, str] = {}
    for pseudonym, simulated in sessions.select("rater", "simulated").unique(maintain_order=True).iter_rows():
        by_pseudonym[pseudonym] = _join(
            connection, study.name, pseudonym, known.people.get(pseudonym), simulated=simulated, now=now
        )
    answered = answered_trials(store)
    by_session = {str(name): frame for (name,), frame in answered.group_by("session")}
    reported = {
        row.session: row.reported_seconds
        for row in connection.execute(select(work).where(work.c.study == study.name))
    }
    connection.execute(delete(work).where(work.c.study == study.name, work.c.frozen.is_(None)))
    frozen = set(connection.scalars(select(work.c.session).where(work.c.study == study.name)))
    for row in sessions.iter_rows(named=True):
        if row["session"] in frozen:
            continue
        answers = by_session.get(row["session"])
        question = study.question(row["question"])
        connection.execute(
            insert(work).values(
                study=study.name,
                session=row["session"],
                rater=by_pseudonym[row["rater"]],
                question=row["question"],
                kind=question.kind,
                status=row["status"],
                started=row["started"].timestamp(),
                ended=None if row["ended"] is None else row["ended"].timestamp(),
                trials=0 if answers is None else answers["trial"].n_unique(),
                active_seconds=known.active.get(row["session"])
                or (0.0 if answers is None else _active(question, row, answers)),
                reported_seconds=known.reported.get(row["session"], reported.get(row["session"])),
                excluded=known.excluded.get(row["rater"]),
                pay_cents=round((row["pay"] or 0.0) * 100),
                gold=[] if answers is None else _gold(answers),
                submission=known.submissions.get(row["session"]),
            )
        )
    everyone = set(by_pseudonym.values())
    added = AddedStudy(
        study.name, sessions.height, len(everyone), len(everyone - before), bool(sessions["simulated"].any())
    )
    detail = {"study": study.name, "sessions": added.sessions, "raters": added.raters}
    if logged:
        write_entry(connection, "study added", detail, now=now)
    return added


def panel_pseudonym(connection: Connection, platform: str, identity: str) -> str:
    """Return the pseudonym of a rater in this panel: an HMAC under the panel's own key."""
    key = connection.scalar(select(settings.c.value).where(settings.c.name == KEY))
    if key is None:
        key = secrets.token_urlsafe(32)
        connection.execute(insert(settings).values(name=KEY, value=key))
    digest = hmac.new(str(key).encode(), f"{platform}\n{identity}".encode(), hashlib.sha256).hexdigest()
    return f"p-{digest[:20]}"


@dataclass(frozen=True, slots=True)
class _Known:
    """What a study's database knows and its tables never hold."""

    people: dict[str, tuple[str, str]]
    """pseudonym -> platform and id"""
    submissions: dict[str, str]
    """session -> MTurk's id of the assignment"""
    active: dict[str, float]
    """session -> active time in seconds, as the page measured it"""
    reported: dict[str, float]
    """session -> time by the rater's own account"""
    excluded: dict[str, str]
    """pseudonym -> why the rater was excluded"""


def _identities(folder: Path, url: str | None) -> _Known:
    if url is None:
        if not (folder / STUDY_DATABASE).is_file():
            return _Known({}, {}, {}, {}, {})
        url = f"sqlite:///{(folder / STUDY_DATABASE).resolve()}"
    database = Database(url)
    try:
        database.create()
        with database.reading() as connection:
            people = {
                row.person: (row.platform, row.identity) for row in connection.execute(select(study_identities))
            }
            rows = connection.execute(select(study_sessions)).all()
            excluded = connection.execute(select(persons).where(persons.c.excluded.is_(True))).all()
    finally:
        database.engine.dispose()
    assignments = {row.session: (row.parameters or {}).get("assignmentId") for row in rows}
    return _Known(
        people,
        {session: str(name) for session, name in assignments.items() if name},
        {row.session: row.active_seconds for row in rows if row.active_seconds},
        {row.session: row.reported_seconds for row in rows if row.reported_seconds is not None},
        {row.person: row.reason or "" for row in excluded},
    )


def _join(
    connection: Connection,
    study: str,
    pseudonym: str,
    known: tuple[str, str] | None,
    *,
    simulated: bool,
    now: float,
) -> str:
    """Return the panel's rater behind a pseudonym of a study, who joins if new; without an id, by the study."""
    member = (members.c.study == study) & (members.c.pseudonym == pseudonym)
    earlier = connection.scalar(select(members.c.rater).where(member))
    if earlier is not None:
        return str(earlier)
    came_from_here = known is not None and known[0] == PANEL and _is_rater(connection, known[1])
    if known is not None and came_from_here:
        connection.execute(insert(members).values(study=study, pseudonym=pseudonym, rater=known[1]))
        return known[1]
    rater = panel_pseudonym(connection, *(known or (f"study {study}", pseudonym)))
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == rater)) is None:
        connection.execute(insert(raters).values(rater=rater, joined=now, simulated=simulated))
        if known is not None:
            connection.execute(insert(identities).values(rater=rater, platform=known[0], identity=known[1]))
    connection.execute(insert(members).values(study=study, pseudonym=pseudonym, rater=rater))
    return rater


def _is_rater(connection: Connection, name: str) -> bool:
    return connection.scalar(select(raters.c.rater).where(raters.c.rater == name)) is not None


def _active(question: AnyQuestion, session: dict[str, Any], answers: pl.DataFrame) -> float:
    """Return the active time from answer to answer; simulated raters do not wait: theirs is simulated, too."""
    traits = kind_of(question).traits
    trials = answers.unique("trial", keep="first", maintain_order=True)
    if session["simulated"]:
        return float(trials["seconds"].sum()) / traits.answering
    moments = [moment.timestamp() for moment in (session["started"], *trials["answered"])]
    return time_between(moments, traits.seconds)


def _gold(answers: pl.DataFrame) -> list[int]:
    """Return whether each checking trial was answered as expected, in order of time."""
    checked = answers.filter(pl.col("role").is_in(CHECKING) & pl.col("expected").is_not_null())
    passed = (
        checked.group_by("trial")
        .agg(right=(pl.col("answer_text") == pl.col("expected")).all(), at=pl.col("answered").min())
        .sort("at", "trial")
    )
    return [int(right) for right in passed["right"]]
