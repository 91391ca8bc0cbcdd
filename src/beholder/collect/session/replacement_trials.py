"""Replacements for skipped trials: a test trial of a free slot, asked at the end of the block."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from beholder.collect.database.schema import pictures, replacements, slots
from beholder.collect.session.catalogue import Catalogue, Trial
from beholder.collect.session.leases import still_open
from beholder.study.kinds.catalogue import kind_of

LOOKED_AT = 20
"""Number of free slots that are searched, those that would be lent last first."""


def plan_after_skip(
    connection: Connection, catalogue: Catalogue, session: Row[Any], skipped: Trial, *, now: float
) -> list[str]:
    """Return the session's plan after a trial was skipped.

    The repeat of a skipped trial is dropped. A test trial is replaced if another slot can spare one; not in a
    staircase, because that would break another one.
    """
    plan = [
        name
        for position, name in enumerate(session.plan)
        if position <= session.place or catalogue.trials_of(session)[name].repeats != skipped.trial
    ]
    question = catalogue.questions[session.question]
    if skipped.role != "test" or kind_of(question).adaptive(question) is not None:
        return plan
    replacement = lend_trial(connection, catalogue, session, plan, skipped, now=now)
    if replacement is None:
        return plan
    planned = catalogue.planned(session.question, session.slot, plan)
    end = max(position for position, trial in enumerate(planned) if trial.block == skipped.block) + 1
    return [*plan[:end], replacement, *plan[end:]]


def lend_trial(
    connection: Connection,
    catalogue: Catalogue,
    session: Row[Any],
    plan: Sequence[str],
    skipped: Trial,
    *,
    now: float,
) -> str | None:
    """Reserve a test trial of a free slot for the session, instead of one that is skipped or spared.

    No lock is waited for; ``None`` if no slot can spare one.
    """
    own_images = {
        image for trial in catalogue.planned(session.question, session.slot, plan) for image in trial.images
    }
    candidates = [
        trial
        for slot in _free_slots(connection, session)
        for trial in _lendable(catalogue, session.question, slot, skipped.block)
        if own_images.isdisjoint(trial.images)
    ]
    for trial in _alike_first(connection, catalogue, candidates, skipped):
        if _lock(connection, trial) and _can_spare(connection, catalogue, trial):
            connection.execute(insert(replacements).values(trial=trial.trial, session=session.session, at=now))
            return trial.trial
    return None


def _free_slots(connection: Connection, session: Row[Any]) -> Sequence[int]:
    return connection.scalars(
        select(slots.c.slot)
        .where(
            slots.c.question == session.question,
            slots.c.slot != session.slot,
            slots.c.session.is_(None),
            slots.c.done.is_(False),
        )
        .order_by(slots.c.slot.desc())
        .limit(LOOKED_AT)
    ).all()


def _lendable(catalogue: Catalogue, question: str, slot: int, block: int) -> Iterator[Trial]:
    """Yield the test trials of the block that are not repeated later, since their repeat would be lost."""
    own = catalogue.slot(question, slot)
    repeated = {trial.repeats for trial in own.values()}
    for trial in own.values():
        if trial.role == "test" and trial.block == block and trial.trial not in repeated:
            yield trial


def _alike_first(
    connection: Connection, catalogue: Catalogue, candidates: Sequence[Trial], skipped: Trial
) -> Iterator[Trial]:
    """Yield trials with the generators of the skipped one, then others unless each rater has one generator."""
    images = {image for trial in (*candidates, skipped) for image in trial.images}
    generator_of: dict[str, str] = {
        row.image: row.generator
        for row in connection.execute(
            select(pictures.c.image, pictures.c.generator).where(pictures.c.image.in_(images))
        )
    }

    def generators(trial: Trial) -> list[str]:
        return sorted(generator_of[image] for image in trial.images)

    alike = [trial for trial in candidates if generators(trial) == generators(skipped)]
    yield from alike
    if not catalogue.questions[skipped.question].design.between:
        yield from (trial for trial in candidates if trial not in alike)


def _lock(connection: Connection, trial: Trial) -> bool:
    """Lock the slot so that it is not lent meanwhile; false if it is not free."""
    locked = connection.execute(
        select(slots.c.slot)
        .where(
            slots.c.question == trial.question,
            slots.c.slot == trial.slot,
            slots.c.session.is_(None),
            slots.c.done.is_(False),
        )
        .with_for_update(skip_locked=True)
    ).first()
    return locked is not None


def _can_spare(connection: Connection, catalogue: Catalogue, trial: Trial) -> bool:
    """Whether the trial is open, and the slot keeps at least half of its test trials."""
    own = catalogue.slot(trial.question, trial.slot)
    tests = [name for name, other in own.items() if other.role == "test"]
    left = still_open(connection, trial.question, trial.slot, tests)
    return trial.trial in left and 2 * (len(left) - 1) >= len(tests)
