"""Skipped trials: by the rater, or because they were spoiled too often.

Nobody has to look at an image. Some skips are paid, and a skipped test trial is replaced by another; beyond the
limit of the study a skip ends the session, which is paid for the part that was done.
"""

from typing import Any

from sqlalchemy import Connection, Row, insert

from beholder.collect.database.schema import skips
from beholder.collect.session.advance import advance_session, current_trial
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.completion import end_session
from beholder.collect.session.leases import invalidate_unfinished_blocks
from beholder.collect.session.messages import Skip
from beholder.collect.session.progress import SessionProgress, change, progress_of, skips_left
from beholder.collect.session.replacement_trials import plan_after_skip
from beholder.errors import RefusedError
from beholder.study.study import Study

SPOILED = "spoiled"
"""Reason of a trial that was skipped because it could not be shown as planned."""


def skip_trial(
    connection: Connection, catalogue: Catalogue, study: Study, session: Row[Any], skip: Skip, *, now: float
) -> Row[Any]:
    """Skip the current trial for good; return the updated session.

    If no paid skip is left, the message must confirm that the session is to end.
    """
    progress = progress_of(connection, catalogue, session)
    trial = current_trial(catalogue, progress, skip.trial, skip.attempt)
    if not skip.end and skips_left(catalogue, study, session) == 0:
        raise RefusedError(
            409, "no-skips-left", "no paid skip is left: to skip this one too ends the session; confirm with end"
        )
    return record_skip(
        connection, catalogue, study, progress, trial, reason=skip.reason, comment=skip.comment, now=now
    )


def record_skip(
    connection: Connection,
    catalogue: Catalogue,
    study: Study,
    progress: SessionProgress,
    trial: Trial,
    *,
    reason: str,
    comment: str = "",
    now: float,
) -> Row[Any]:
    """Record a skipped trial, then continue, with a replacement if there is one, or end the session.

    The session ends if no paid skip was left. A trial that could not be shown is not replaced: the replacement
    would most likely be spoiled, too.
    """
    session = progress.session
    left = skips_left(catalogue, study, session)
    connection.execute(
        insert(skips).values(
            session=session.session,
            trial=trial.trial,
            place=progress.position,
            reason=reason,
            comment=comment,
            at=now,
        )
    )
    skipped = session.skipped + 1
    if left > 0:
        plan = session.plan
        if reason != SPOILED:
            plan = plan_after_skip(connection, catalogue, session, trial, now=now)
        return advance_session(connection, catalogue, study, progress, trial, now=now, skipped=skipped, plan=plan)
    after = change(connection, session.session, skipped=skipped, seen=now)
    invalidate_unfinished_blocks(connection, catalogue, after)
    return end_session(connection, study, after, "returned", now=now)
