"""How a session ends: what is paid, and the code or address that someone leaves with."""

from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.database.schema import events, responses, trials
from beholder.collect.session.completion_codes import personal_code
from beholder.collect.session.leases import release_place
from beholder.collect.session.progress import change
from beholder.collect.session.prolific import TOKEN_PARAMETER
from beholder.study.redirecting import PLACEHOLDER
from beholder.study.study import Study
from beholder.study.wages import base_pay

MTURK_HOSTS = frozenset({"www.mturk.com", "workersandbox.mturk.com"})
"""Where MTurk takes assignments back: the market itself and its sandbox."""


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
    base = base_pay(study, study.question(session.question))
    return round(base * share + study.pay.per_right * int(right or 0), 2)


def done_part(study: Study, session: Row[Any], identity: str, *, key: str) -> dict[str, Any]:
    """What the last page shows; ``identity`` is the person's id on the platform, for the way back there.

    ``key`` is the study's secret, from which the rater's own code is made.
    """
    outcome = session.status
    code = getattr(study.collect.codes, outcome.replace("-", "_"), "") or None
    own = personal_code(key, session.session, outcome)
    return {
        "outcome": outcome,
        "code": code,
        "personal_code": own,
        "redirect": _redirect(study, session, code, own, identity),
        "pay": session.pay,
        "currency": study.pay.currency,
        "message_key": f"done.{outcome}",
    }


def needed_to_leave(study: Study, parameters: dict[str, str]) -> dict[str, str]:
    """Of the parameters of a link, those by which someone is sent back; never the id or what proves it."""
    needed = {*PLACEHOLDER.findall(study.collect.redirect), "turkSubmitTo", "assignmentId"}
    needed -= _names_of_ids(study) | {TOKEN_PARAMETER, study.collect.panel_signature}
    return {name: value for name, value in parameters.items() if name in needed}


def _names_of_ids(study: Study) -> set[str]:
    return {"PROLIFIC_PID", "workerId", study.collect.panel_parameter} - {""}


def _redirect(study: Study, session: Row[Any], code: str | None, own: str, identity: str) -> str | None:
    """Where to send someone: the study's template, or MTurk's address with the assignment."""
    parameters: dict[str, str] = session.parameters or {}
    if study.collect.redirect:
        values = {name: str(value) for name, value in parameters.items()}
        values |= dict.fromkeys(_names_of_ids(study), identity)
        values |= {"code": code or "", "personal_code": own, "outcome": session.status, "id": identity}
        return PLACEHOLDER.sub(lambda name: quote(values.get(name[1], ""), safe=""), study.collect.redirect)
    host, assignment = mturk_host(parameters.get("turkSubmitTo", "")), parameters.get("assignmentId", "")
    if assignment and host:
        return f"https://{host}/mturk/externalSubmit?assignmentId={quote(assignment, safe='')}&code={own}"
    return None


def mturk_host(address: str) -> str | None:
    """Which of MTurk's hosts the address names; ``None`` for any other, however it is written.

    The address comes with the link, and browsers read addresses more kindly than this does: so only the host is
    taken from it, and only from an address that is nothing but a scheme, the host and perhaps a slash.
    """
    scheme, _, host = address.partition("://")
    host = host.removesuffix("/")
    return host if scheme == "https" and host in MTURK_HOSTS else None
