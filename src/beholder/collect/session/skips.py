"""Trials left unanswered: skipped by the rater, or spoiled again and again.

Nobody has to look at an image. Some skips are paid, and a skipped test trial is replaced by another; beyond the
limit of the study a skip ends the session, which is paid for as far as it went.
"""

from typing import Any

from sqlalchemy import Connection, Row, insert

from beholder.collect.database.schema import skips
from beholder.collect.session.advance import current_trial, go_on
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.completion import end_session
from beholder.collect.session.leases import abandon_unfinished_blocks
from beholder.collect.session.messages import Skip
from beholder.collect.session.progress import Standing, change, standing_of
from beholder.collect.session.replacement_trials import replaced
from beholder.collect.session.skip_allowance import skips_left
from beholder.errors import RefusedError
from beholder.study.study import Study

SPOILED = "spoiled"
"""Reason of a trial that was left because it could not be shown as planned."""


def skip_trial(
    connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any], skip: Skip, *, now: float
) -> Row[Any]:
    """Leave the current trial unanswered for good; the session after it.

    Where no paid skip is left the message must say that the session is to end, so that nobody ends it unawares.
    """
    standing = standing_of(connection, catalogue, session)
    trial = current_trial(catalogue, standing, skip.trial, skip.attempt)
    if not skip.end and skips_left(catalogue, study, session) == 0:
        raise RefusedError(
            409, "no-skips-left", "no paid skip is left: to skip this one too ends the session; confirm with end"
        )
    return leave_trial(
        connection, catalogue, study, standing, trial, reason=skip.reason, comment=skip.comment, now=now
    )


def leave_trial(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    standing: Standing,
    trial: Trial,
    *,
    reason: str,
    comment: str = "",
    now: float,
) -> Row[Any]:
    """Note that a trial was left; go on, perhaps with another in its place, or end the session if no paid skip was
    left. A trial that could not be shown is not replaced: the next would most likely be spoiled, too."""
    session = standing.session
    left = skips_left(catalogue, study, session)
    connection.execute(
        insert(skips).values(
            session=session.session,
            trial=trial.trial,
            place=standing.place,
            reason=reason,
            comment=comment,
            at=now,
        )
    )
    skipped = session.skipped + 1
    if left > 0:
        plan = session.plan
        if reason != SPOILED:
            plan = replaced(connection, catalogue, session, trial, now=now)
        return go_on(connection, catalogue, study, standing, trial, now=now, skipped=skipped, plan=plan)
    after = change(connection, session.session, skipped=skipped, seen=now)
    abandon_unfinished_blocks(connection, catalogue, after)
    return end_session(connection, study, after, "returned", now=now)
