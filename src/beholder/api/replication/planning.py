"""How many raters a replication needs: ``beholder plan --replicate LOCK``."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.api.benchmark.board_planning import plan_board
from beholder.api.replication.effects import ClaimedEffect, claims_of, study_effects
from beholder.stats.significance.replication import TELESCOPES
from beholder.study.lock import LOCK_FILE, read_lock

POWER = 0.8
SAFEGUARD = 0.6
"""Level of the interval whose lower end is planned for as well: published effects are too large on average."""

TRIED = (5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400, 600, 800, 1000)
"""Numbers of raters."""


@dataclass(frozen=True, slots=True)
class ReplicationPlan:
    """What it takes to replicate one claim, with the same prompts."""

    claim: ClaimedEffect
    effect: float
    raters_before: int
    prompts: int
    raters: int | None
    """For the effect as it was estimated, at a power of .8; ``None`` where no number of raters is enough."""
    safeguard_effect: float
    """The lower end of its 60 % confidence interval (Perugini, Gallucci and Costantini 2014)."""
    safeguard_raters: int | None
    telescopes_raters: int
    """2.5 times the original raters (Simonsohn 2015)."""
    hours: float | None
    """Of answering, for ``safeguard_raters`` or else ``raters``."""
    cost: float | None


def plan_replication(lock: Path, *, wage: float = 12.0, accept_low_pay: bool = False) -> list[ReplicationPlan]:
    """Say for every claim of a locked study how many raters a replication needs.

    Args:
        lock: ``study.lock``, or the folder that it is in.
        wage: Pay per hour.
        accept_low_pay: Plan with less than the least wage of a study all the same.

    Returns:
        One plan per claim, in the order of the claims.
    """
    folder = lock.parent if lock.name == LOCK_FILE else lock
    read_lock(folder)
    effects = study_effects(folder)
    plans = []
    for claim in claims_of(effects):
        both = effects.effect(claim, "raters and prompts")
        if both is None or claim.other is None:
            continue
        safeguard = max(min(both.interval(SAFEGUARD), key=abs), 0.0) if both.estimate > 0 else 0.0
        prompts = int(effects.boards[claim.measure].errors.prompts.max())
        sized = {
            size: _raters(folder, claim, prompts, size, wage, accept_low_pay=accept_low_pay)
            for size in (abs(both.estimate), safeguard)
            if size > 0
        }
        nobody = (None, None, None)
        usual, safe = sized.get(abs(both.estimate), nobody), sized.get(safeguard, nobody)
        raters = effects.raters(claim)
        plans.append(
            ReplicationPlan(
                claim,
                both.estimate,
                raters,
                prompts,
                usual[0],
                safeguard,
                safe[0],
                int(np.ceil(TELESCOPES * raters)),
                safe[1] if safe[0] is not None else usual[1],
                safe[2] if safe[0] is not None else usual[2],
            )
        )
    return plans


def _raters(
    folder: Path, claim: ClaimedEffect, prompts: int, size: float, wage: float, *, accept_low_pay: bool
) -> tuple[int | None, float | None, float | None]:
    """Return the fewest raters that were tried whose power is enough, with their hours and cost."""
    plan = plan_board(
        folder,
        measure=claim.measure,
        entries=[claim.entry, str(claim.other)],
        prompts=[prompts],
        raters=TRIED,
        difference=size,
        wage=wage,
        accept_low_pay=accept_low_pay,
    )
    enough = [row for row in plan.rows.to_dicts() if row["power"] >= POWER]
    if not enough:
        return None, None, None
    return int(enough[0]["raters"]), float(enough[0]["hours"]), float(enough[0]["cost"])
