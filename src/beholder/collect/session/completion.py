"""The end of a session: pay, completion codes, and the redirect to the platform."""

import hmac
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Row, func, insert, select

from beholder.collect.database.schema import events, responses, trials
from beholder.collect.session.leases import release_slot
from beholder.collect.session.progress import change
from beholder.collect.session.prolific import TOKEN_PARAMETER
from beholder.study.redirecting import PLACEHOLDER
from beholder.study.study import Study
from beholder.study.wages import base_pay

MTURK_HOSTS = frozenset({"www.mturk.com", "workersandbox.mturk.com"})
"""The hosts to which MTurk assignments are submitted: the marketplace and its sandbox."""

CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""The 32 letters of a personal code; 0 and O, 1 and I are left out because they are easily confused."""

CODE_LENGTH = 10


def end_session(connection: Connection, study: Study, session: Row[Any], status: str, *, now: float) -> Row[Any]:
    """End a session with its outcome and pay, and release its slot; return the updated session."""
    pay = pay_of(connection, study, session, status)
    ended = change(connection, session.session, status=status, ended=now, pay=pay)
    release_slot(connection, ended)
    connection.execute(insert(events).values(session=session.session, at=now, kind=status, detail={}))
    return ended


def pay_of(connection: Connection, study: Study, session: Row[Any], status: str) -> float:
    """Compute the pay: the base times the proportion of trials done, plus the bonus for right answers.

    Answered trials are done, and so are trials skipped within the limit; the skip that ends a session is not.
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
    proportion = min(float(session.place) / planned, 1.0)
    base = base_pay(study, study.question(session.question))
    return round(base * proportion + study.pay.per_right * int(right or 0), 2)


def done_part(study: Study, session: Row[Any], identity: str, *, key: str) -> dict[str, Any]:
    """Return what the last page shows.

    ``identity`` is the rater's id on the platform, for the redirect; ``key`` the study's secret, from which the
    personal code is made.
    """
    outcome = session.status
    code = getattr(study.collect.codes, outcome.replace("-", "_"), "") or None
    personal = personal_code(key, session.session, outcome)
    return {
        "outcome": outcome,
        "code": code,
        "personal_code": personal,
        "redirect": _redirect(study, session, code, personal, identity),
        "pay": session.pay,
        "currency": study.pay.currency,
        "message_key": f"done.{outcome}",
    }


def needed_to_leave(study: Study, parameters: dict[str, str]) -> dict[str, str]:
    """Select the parameters of a link that the redirect needs; never the id or its proof."""
    needed = {*PLACEHOLDER.findall(study.collect.redirect), "turkSubmitTo", "assignmentId"}
    needed -= _names_of_ids(study) | {TOKEN_PARAMETER, study.collect.panel_signature}
    return {name: value for name, value in parameters.items() if name in needed}


def _names_of_ids(study: Study) -> set[str]:
    return {"PROLIFIC_PID", "workerId", study.collect.panel_parameter} - {""}


def _redirect(study: Study, session: Row[Any], code: str | None, personal: str, identity: str) -> str | None:
    """Return the redirect: the study's template, or MTurk's address with the assignment."""
    parameters: dict[str, str] = session.parameters or {}
    if study.collect.redirect:
        values = {name: str(value) for name, value in parameters.items()}
        values |= dict.fromkeys(_names_of_ids(study), identity)
        values |= {"code": code or "", "personal_code": personal, "outcome": session.status, "id": identity}
        return PLACEHOLDER.sub(lambda name: quote(values.get(name[1], ""), safe=""), study.collect.redirect)
    host, assignment = mturk_host(parameters.get("turkSubmitTo", "")), parameters.get("assignmentId", "")
    if assignment and host:
        return f"https://{host}/mturk/externalSubmit?assignmentId={quote(assignment, safe='')}&code={personal}"
    return None


def mturk_host(address: str) -> str | None:
    """Return which of MTurk's hosts an address names; ``None`` for any other.

    The address comes with the link, and browsers parse addresses more leniently than this does: so only the host
    is used, and only of an address that consists of scheme, host and at most a slash.
    """
    scheme, _, host = address.partition("://")
    host = host.removesuffix("/")
    return host if scheme == "https" and host in MTURK_HOSTS else None


def personal_code(key: str, session: str, outcome: str) -> str:
    """Make a rater's own completion code, by which a claim to have taken part can be checked.

    It is the HMAC of the session and its outcome under the study's secret, as ten letters in two groups (50 bits).
    Another outcome has another code, and nobody can make one without the secret.
    """
    digest = hmac.digest(key.encode(), f"code\n{session}\n{outcome}".encode(), "sha256")
    letters = "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:CODE_LENGTH])
    return f"{letters[:5]}-{letters[5:]}"


def session_of_code(key: str, code: str, ended: Iterable[tuple[str, str]]) -> str | None:
    """Find the session of a personal code among ended ones (session, outcome); ``None`` if there is none."""
    claimed = _normalised_code(code)
    for session, outcome in ended:
        if hmac.compare_digest(_normalised_code(personal_code(key, session, outcome)).encode(), claimed.encode()):
            return session
    return None


def _normalised_code(code: str) -> str:
    """Normalise a code as typed: case, blanks and hyphens do not matter."""
    return "".join(letter for letter in code.upper() if letter.isalnum())
