"""``beholder replicate``: rerun a study from its lock, or with fresh raters, and say which claims hold."""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from beholder.api.benchmark.bench import bench_steps
from beholder.api.benchmark.plan import plan_rebuild
from beholder.api.benchmark.rebuild import BUILT, Rebuilt, check_lock, rebuild
from beholder.api.replication.effects import ClaimedEffect, Scope, StudyEffects, claims_of, study_effects
from beholder.api.run import Bar
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.errors import StudyError, UserError
from beholder.stats.significance.replication import Effect, Replication, compare_replication, predict
from beholder.study.lock import LOCK_FILE, StudyLock, read_lock
from beholder.study.study import FILE_NAME, dump_study, load_study
from beholder.tables.stages import STAGES
from beholder.tables.store import TABLES_ROOM, TRUTH_ROOM, Store
from beholder.tables.work import Outcome

AGAIN = ("design", "collect", "consolidate", "rank")
"""Stages that fresh raters repeat."""
BEFORE = ("curate", "generate", "new", "import")
"""Stages whose tables they share with the original."""

SAME_PROMPTS = 0.95
"""Two studies have the same prompts where at least this part of either is in the other."""


@dataclass(frozen=True, slots=True)
class ReplicatedClaim:
    """A claim, what a replication should find, and what it found."""

    claim: ClaimedEffect
    original: Effect
    raters: int
    low: float
    """Of the prediction interval; where there is no replication, of one with the error of the original."""
    high: float
    comparison: Replication | None


@dataclass(frozen=True, slots=True)
class Replicated:
    """What was repeated, and every claim."""

    lock: Path
    scope: Scope
    rebuilt: Rebuilt | None
    """Of a rerun with the same answers: every table, and the first difference."""
    claims: tuple[ReplicatedClaim, ...]
    level: float

    @property
    def within(self) -> int:
        """Claims whose replication lies in the prediction interval."""
        return sum(each.comparison is not None and each.comparison.within for each in self.claims)

    @property
    def compared(self) -> int:
        """Claims that were replicated at all."""
        return sum(each.comparison is not None for each in self.claims)


def replicate(
    lock: "str | Path | StudyFolder",
    *,
    fresh: int | None = None,
    seed: int | None = None,
    other: "str | Path | StudyFolder | None" = None,
    bar: Bar | None = None,
    after: Callable[[Outcome], None] | None = None,
) -> Replicated:
    """Repeat a study from its lock, and say which of its claims hold, as ``beholder replicate`` does.

    Args:
        lock: ``study.lock``, or the study that it is in.
        fresh: So many new simulated raters judge the same images; by default everything is rebuilt from the same
            sources and compared bit for bit.
        seed: Of the new raters; by default the study's and 1.
        other: A study folder that replicates it, with answers of its own.
        bar: Opens a progress report with a label.
        after: Called with what each stage did.

    Returns:
        Every claim with its prediction interval and, where there is a replication, what that says.

    Example:
        >>> import beholder as bh
        >>> outcome = bh.bench("my-benchmark", simulate=20)
        >>> replicated = bh.replicate(outcome.lock, other="my-benchmark")
        >>> replicated.within == replicated.compared  # a study replicates itself
        True
    """
    place = folder_of(lock)
    folder = place.parent if place.name == LOCK_FILE else place
    locked = read_lock(folder)
    if fresh is None and other is None:
        rebuilt = rebuild(folder, bar=bar, after=after)
        return _report(folder, study_effects(folder), None, rebuilt)
    difference = check_lock(folder, locked)
    if difference is not None:
        raise UserError(f"{folder} is not as it was locked, so there is nothing to compare with: {difference}")
    original = study_effects(folder)
    if other is not None:
        return _report(folder, original, study_effects(folder_of(other)), None)
    with _fresh_study(folder, locked, fresh or 0, seed) as place:
        plan = replace(plan_rebuild(locked), stages=frozenset(AGAIN), raters=fresh, bad=_bad(locked, fresh or 0))
        for step in bench_steps(place, plan, bar=bar):
            outcome = step()
            if after:
                after(outcome)
        return _report(folder, original, study_effects(place), None)


def compare_claims(original: StudyEffects, again: StudyEffects | None, scope: Scope) -> Iterator[ReplicatedClaim]:
    """Yield every claim of the original, with what the replication says about it."""
    for claim in claims_of(original):
        effect = original.effect(claim, scope)
        if effect is None:
            continue
        found_again = None if again is None else again.effect(claim, scope)
        comparison = (
            None if found_again is None else compare_replication(effect, found_again, level=original.level)
        )
        low, high = (
            (comparison.low, comparison.high)
            if comparison is not None
            else predict(effect, effect.standard_error, effect.degrees, level=original.level)
        )
        yield ReplicatedClaim(claim, effect, original.raters(claim), low, high, comparison)


def scope_of(original: StudyEffects, again: StudyEffects | None) -> Scope:
    """Say what differs between two studies: raters alone, where both judged the same prompts."""
    if again is None:
        return "raters"
    common = len(original.prompts & again.prompts)
    same = common >= SAME_PROMPTS * max(len(original.prompts), len(again.prompts))
    return "raters" if same else "raters and prompts"


def _report(
    folder: Path, original: StudyEffects, again: StudyEffects | None, rebuilt: Rebuilt | None
) -> Replicated:
    scope = scope_of(original, again)
    claims = tuple(compare_claims(original, again, scope))
    return Replicated(folder / LOCK_FILE, scope, rebuilt, claims, original.level)


def _bad(lock: StudyLock, fresh: int) -> int:
    """Return as large a part of raters with bad habits as the original had."""
    if lock.simulated is None:
        return 0
    return round(fresh * lock.simulated.bad / lock.simulated.raters)


@contextmanager
def _fresh_study(folder: Path, lock: StudyLock, raters: int, seed: int | None) -> Iterator[Path]:
    """Yield a folder next to the study with its images, another seed and nobody's answers; removed afterwards."""
    if lock.simulated is None:
        raise StudyError(
            str(folder),
            ["people answered, and people cannot be simulated again"],
            advice="Collect a replication in a folder of its own, then: beholder replicate LOCK --with FOLDER",
        )
    folder = folder.resolve()
    place = folder.with_name(f".{folder.name}.replicated-{secrets.token_hex(4)}")
    place.mkdir()
    try:
        for source in folder.iterdir():
            if source.name not in BUILT and source.name not in (FILE_NAME, LOCK_FILE):
                (place / source.name).symlink_to(source)
        for room in ("generations", TRUTH_ROOM):
            if (folder / room).is_dir():
                (place / room).symlink_to(folder / room)
        (place / TABLES_ROOM).mkdir()
        for name in (name for stage in BEFORE for name in STAGES[stage].outputs):
            if Store(folder).has(name):
                shutil.copyfile(Store(folder).path(name), Store(place).path(name))
        study = load_study(folder)
        questions = tuple(
            question.model_copy(update={"design": question.design.model_copy(update={"raters": raters})})
            for question in study.questions
        )
        again = study.model_copy(update={"seed": study.seed + 1 if seed is None else seed, "questions": questions})
        (place / FILE_NAME).write_text(dump_study(again), encoding="utf-8")
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
