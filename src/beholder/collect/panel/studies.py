"""Studies of a panel: who took part, how long it took, what gold trials say; read from the study's own tables."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl
from sqlalchemy import Connection, create_engine, delete, insert, select, update

from beholder.care.effective_time import IDLE_SECONDS
from beholder.care.top_ups import cents_of
from beholder.collect.database.address import FILE_NAME as STUDY_DATABASE
from beholder.collect.database.schema import identities as study_identities
from beholder.collect.database.schema import sessions as study_sessions
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import identities, members, raters, settings, studies, work
from beholder.errors import StageError
from beholder.judgements.joined import answered_trials
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study, load_study
from beholder.tables.store import Store

KEY = "pseudonyms"
CHECKING = ("gold", "qualification")
"""Roles of trials with a right answer that count towards a rater's accuracy."""


@dataclass(frozen=True, slots=True)
class AddedStudy:
    """What a study brought into the panel."""

    study: str
    sessions: int
    raters: int
    newcomers: int
    simulated: bool


def add_study(
    connection: Connection, folder: Path, *, researcher: str, study_url: str | None = None, now: float
) -> AddedStudy:
    """Add a study, or what has happened in it since; to add it twice changes nothing.

    Args:
        connection: To the panel, in a write transaction. folder: Of the study, with its tables. researcher: Who
        ran it, and whom raters rate by it. study_url: Of the study's database, where it is not in its folder;
        raters are recognised by their platform id. now: The time.

    Returns:
        Counts.
    """
    study, store = load_study(folder), Store(folder)
    if not store.has("sessions"):
        raise StageError(f"{folder} has no sessions yet. Collect answers first: beholder collect {folder}")
    sessions = store.read("sessions").filter(pl.col("status") != "no-consent")
    known = _identities(folder, study_url)
    _note_study(connection, study, folder, researcher, now=now)
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
                active_seconds=0.0 if answers is None else _active(question, row, answers),
                reported_seconds=reported.get(row["session"]),
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


def _identities(folder: Path, url: str | None) -> _Known:
    if url is None:
        if not (folder / STUDY_DATABASE).is_file():
            return _Known({}, {})
        url = f"sqlite:///{(folder / STUDY_DATABASE).resolve()}"
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            people = {
                row.person: (row.platform, row.identity) for row in connection.execute(select(study_identities))
            }
            rows = connection.execute(select(study_sessions.c.session, study_sessions.c.parameters))
            assignments = {row.session: (row.parameters or {}).get("assignmentId") for row in rows}
    finally:
        engine.dispose()
    return _Known(people, {session: str(name) for session, name in assignments.items() if name})


def _note_study(connection: Connection, study: Study, folder: Path, researcher: str, *, now: float) -> None:
    content = {
        "folder": str(folder.resolve()),
        "title": study.title,
        "researcher": researcher,
        "currency": study.pay.currency,
        "minimum_hourly_cents": cents_of(f"{study.pay.minimum_hourly:.2f}"),
        "platform_study": study.collect.prolific_study,
    }
    other = connection.scalar(select(studies.c.folder).where(studies.c.study == study.name))
    if other is None:
        connection.execute(insert(studies).values(study=study.name, added=now, **content))
        return
    if other != content["folder"]:
        raise StageError(
            f"the panel has a study '{study.name}' already, in {other}: give this one another name in study.toml"
        )
    connection.execute(update(studies).where(studies.c.study == study.name).values(**content))


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
    rater = panel_pseudonym(connection, *(known or (f"study {study}", pseudonym)))
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == rater)) is None:
        connection.execute(insert(raters).values(rater=rater, joined=now, simulated=simulated))
        if known is not None:
            connection.execute(insert(identities).values(rater=rater, platform=known[0], identity=known[1]))
    connection.execute(insert(members).values(study=study, pseudonym=pseudonym, rater=rater))
    return rater


def _active(question: AnyQuestion, session: dict[str, object], answers: pl.DataFrame) -> float:
    """Return the active time: Σ min(gap, limit) from answer to answer.

    The limit is ``IDLE_SECONDS``, or twice the usual time of a trial where that is more, because what a rater does
    within a trial is work. Simulated raters do not wait: their times are the simulated ones.
    """
    traits = kind_of(question).traits
    trials = answers.unique("trial", keep="first", maintain_order=True)
    if session["simulated"]:
        return float(trials["seconds"].sum()) / traits.answering
    limit = max(IDLE_SECONDS, 2 * traits.seconds)
    moments = sorted([session["started"], *trials["answered"]])
    return float(sum(min((after - before).total_seconds(), limit) for before, after in pairwise(moments)))


def _gold(answers: pl.DataFrame) -> list[int]:
    """Return whether each checking trial was answered as expected, in order of time."""
    checked = answers.filter(pl.col("role").is_in(CHECKING) & pl.col("expected").is_not_null())
    passed = (
        checked.group_by("trial")
        .agg(right=(pl.col("answer_text") == pl.col("expected")).all(), at=pl.col("answered").min())
        .sort("at", "trial")
    )
    return [int(right) for right in passed["right"]]
