"""Rebuilding a study from its lock: every stage is repeated from nothing, and the first difference is named.

In a folder that has its results, the rebuilding happens in a folder next to it, which is removed afterwards. In a
folder that has only the sources (``study.toml``, ``study.lock``, ``curate.toml``, prompts, answers of people), the
results are built in place.
"""

import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.api.benchmark.bench import SITE, bench_steps
from beholder.api.benchmark.differences import Difference, setting_difference, stage_difference
from beholder.api.benchmark.lock import installed_packages
from beholder.api.benchmark.plan import plan_rebuild
from beholder.api.run import PAGE, Bar
from beholder.api.study_folder import StudyFolder, folder_of
from beholder.learn.trained_models import MODELS_FOLDER
from beholder.study.generating import HttpGenerator
from beholder.study.lock import StudyLock, read_lock
from beholder.study.study import load_study
from beholder.tables.rehearsals import REHEARSALS_ROOM
from beholder.tables.stages import STAGES
from beholder.tables.store import FEATURES_ROOM, SCORES_ROOM, TABLES_ROOM, TRUTH_ROOM, Store
from beholder.tables.work import Outcome

GENERATIONS = "generations"
BUILT = frozenset(
    {TABLES_ROOM, TRUTH_ROOM, FEATURES_ROOM, SCORES_ROOM, MODELS_FOLDER, GENERATIONS, REHEARSALS_ROOM, PAGE, SITE}
)
"""What stages write into a study folder; everything else is a source, and is linked."""
NOT_REPEATABLE = (HttpGenerator,)
"""Kinds of generators whose images no rerun repeats: they are verified by their hashes, as answers are."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was repeated, and the first difference from the lock."""

    stages: tuple[Outcome, ...]
    verified: tuple[str, ...]
    """Tables that no rerun can repeat, such as answers of people: their hashes were compared."""
    difference: Difference | None
    """``None`` where everything is as the lock says."""
    packages: tuple[str, ...]
    """Packages of another version than when the study was locked: a possible reason."""


def rebuild(
    study: "str | Path | StudyFolder", *, bar: Bar | None = None, after: Callable[[Outcome], None] | None = None
) -> Rebuilt:
    """Repeat a study from its sources, and compare every table with the lock, stage by stage.

    Nothing after the first difference is done.

    Args:
        study: The folder of the study, with ``study.lock``.
        bar: Opens a progress report with a label.
        after: Called with what each stage did.

    Returns:
        What was repeated and verified, and the first difference.
    """
    folder = folder_of(study)
    lock = read_lock(folder)
    outcomes: list[Outcome] = []
    difference = check_lock(folder, lock)
    if difference is None:
        with _workspace(lock, folder) as place:
            for step in bench_steps(place, plan_rebuild(lock), bar=bar):
                outcomes.append(step())
                if after:
                    after(outcomes[-1])
                original = None if place == folder else folder
                difference = stage_difference(lock, outcomes[-1].stage, place, original)
                if difference:
                    break
    return Rebuilt(tuple(outcomes), _verified(lock), difference, tuple(_other_versions(lock)))


def check_lock(folder: Path, lock: StudyLock | None = None) -> Difference | None:
    """Compare a study with its lock as it is, without repeating anything.

    Tables that a rerun builds may be absent, if all of them are.
    """
    lock = lock or read_lock(folder)
    difference = setting_difference(lock, folder)
    if difference:
        return difference
    unbuilt = not _has_built(lock, folder)
    for stage in STAGES:
        if stage in lock.rebuilt and unbuilt:
            continue
        difference = stage_difference(lock, stage, folder)
        if difference:
            return difference
    return None


def _has_built(lock: StudyLock, folder: Path) -> bool:
    """Say whether a folder has any table that a rerun builds."""
    store = Store(folder)
    return any(store.has(name) for stage in lock.rebuilt for name in STAGES[stage].outputs)


def _verified(lock: StudyLock) -> tuple[str, ...]:
    return tuple(
        name
        for stage in STAGES
        if stage not in lock.rebuilt
        for name in STAGES[stage].outputs
        if name in lock.tables
    )


def _other_versions(lock: StudyLock) -> Iterator[str]:
    installed = installed_packages()
    for name, version in lock.packages.items():
        if installed.get(name) != version:
            yield f"{name} {installed.get(name, 'not installed')}, locked with {version}"


@contextmanager
def _workspace(lock: StudyLock, folder: Path) -> Iterator[Path]:
    """Yield the folder to build in: this one, or, where it has results, one next to it with the same sources."""
    if not _has_built(lock, folder):
        yield folder
        return
    folder = folder.resolve()
    place = folder.with_name(f".{folder.name}.locked-{secrets.token_hex(4)}")
    place.mkdir()
    try:
        for source in folder.iterdir():
            if source.name not in BUILT:
                (place / source.name).symlink_to(source)
        _copy_tables(lock, folder, place)
        _copy_generations(lock, folder, place)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copy_tables(lock: StudyLock, folder: Path, place: Path) -> None:
    """Copy the tables that no rerun can build."""
    (place / TABLES_ROOM).mkdir()
    if "collect" in lock.rebuilt and "generate" not in lock.rebuilt and (folder / TRUTH_ROOM).is_dir():
        shutil.copytree(folder / TRUTH_ROOM, place / TRUTH_ROOM)  # what simulated raters saw
    if "generate" not in lock.rebuilt and (folder / GENERATIONS).is_dir():
        (place / GENERATIONS).symlink_to(folder / GENERATIONS)
    for name in _verified(lock):
        shutil.copyfile(Store(folder).path(name), Store(place).path(name))


def _copy_generations(lock: StudyLock, folder: Path, place: Path) -> None:
    """Copy the images of services, which are not asked again, with their rows."""
    services = [each.name for each in load_study(folder).generators if isinstance(each, NOT_REPEATABLE)]
    if "generate" not in lock.rebuilt or not services:
        return
    store = Store(folder)
    record = store.provenance("generations")
    if record is None:
        return
    frames = {
        name: store.read(name).filter(pl.col("generator").is_in(services))
        for name in ("generations", "generation_costs")
    }
    Store(place).write(frames, record)
    for name in services:
        if (folder / GENERATIONS / name).is_dir():
            shutil.copytree(folder / GENERATIONS / name, place / GENERATIONS / name)
