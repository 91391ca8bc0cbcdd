"""How a session ends: what is paid, and the code or address that someone leaves with."""

from typing import Any
from urllib.parse import quote, urlsplit

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.database import events, responses, trials
from beholder.collect.leases import release_place
from beholder.collect.standing import change
from beholder.study.study import Study


def end_session(connection: Connection, study: Study, session: Row[Any], status: str, *, now: float) -> Row[Any]:
    """Close the session with its outcome and pay, and settle its place; the session as it then is."""
    pay = pay_of(connection, study, session, status)
    ended = change(connection, session.session, status=status, ended=now, pay=pay)
    release_place(connection, ended)
    connection.execute(insert(events).values(session=session.session, at=now, kind=status, detail={}))
    return ended


def pay_of(connection: Connection, study: Study, session: Row[Any], status: str) -> float:
    """The base for a whole session, a share of it for the part that was done, and the bonus for right answers.

    Trials that were answered are done, and those that were skipped within the limit; the skip that ends a session
    is not.
    """
    if status in ("no-consent", "failed-checks"):
        return 0.0
    right = connection.scalar(
        select(func.count())
        .select_from(responses.join(trials, trials.c.trial == responses.c.trial))
        .where(
            responses.c.session == session.session,
            responses.c.valid.is_(True),
            responses.c.right.is_(True),
            trials.c.role == "test",
        )
    )
    planned = len(session.plan or []) or 1
    share = min(float(session.place) / planned, 1.0)
    return round(study.pay.base * share + study.pay.per_right * int(right or 0), 2)


def done_part(study: Study, session: Row[Any], identity: str) -> dict[str, Any]:
    """What the last page shows; ``identity`` is the person's id on the platform, for the way back there."""
    outcome = session.status
    code = getattr(study.collect.codes, outcome.replace("-", "_"), "") or None
    return {
        "outcome": outcome,
        "code": code,
        "redirect": _redirect(study, session, code, identity),
        "pay": session.pay,
        "currency": study.pay.currency,
        "message_key": f"done.{outcome}",
    }


def needed_to_leave(study: Study, parameters: dict[str, str]) -> dict[str, str]:
    """Of the parameters of a link, those by which someone is sent back; the id is kept elsewhere."""
    wanted = {name for name in parameters if "{" + name + "}" in study.collect.redirect}
    wanted |= {"turkSubmitTo", "assignmentId"}
    return {name: value for name, value in parameters.items() if name in wanted - _names_of_ids(study)}


def _names_of_ids(study: Study) -> set[str]:
    return {"PROLIFIC_PID", "workerId", study.collect.panel_parameter} - {""}


def _redirect(study: Study, session: Row[Any], code: str | None, identity: str) -> str | None:
    """Where to send someone: the study's template, or MTurk's address with the assignment."""
    parameters = session.parameters or {}
    if study.collect.redirect:
        known = {"code": code or "", "outcome": session.status, "id": identity}
        known |= dict.fromkeys(_names_of_ids(study), identity)
        known |= {name: value for name, value in parameters.items() if name not in known}
        address = study.collect.redirect
        for name, value in known.items():
            address = address.replace("{" + name + "}", quote(value, safe=""))
        return address
    submit, assignment = parameters.get("turkSubmitTo", ""), parameters.get("assignmentId", "")
    if assignment and _is_mturk(submit):
        return f"{submit.rstrip('/')}/mturk/externalSubmit?assignmentId={quote(assignment, safe='')}"
    return None


def _is_mturk(address: str) -> bool:
    """Whether the address is MTurk's: it comes with the link, and must lead nowhere else."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    host = parts.hostname or ""
    return parts.scheme == "https" and (host == "mturk.com" or host.endswith(".mturk.com"))
