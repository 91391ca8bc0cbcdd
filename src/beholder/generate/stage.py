"""The generate stage: from prompts to images, resumable, with a row for every image that was asked for."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path

import polars as pl

from beholder.engines.engine import Engine
from beholder.errors import StageError, StudyError, UserError, unknown_name
from beholder.generate.earlier import changed_requests, earlier_generations
from beholder.generate.energy import open_meter
from beholder.generate.engine_run import run_by_engine
from beholder.generate.generator_run import run_generator
from beholder.generate.journal import Generation, journal_path, open_journal
from beholder.generate.plan import Job, plan_jobs
from beholder.generate.prompts import PromptEntry, load_prompts
from beholder.generate.settings import GenerateSettings
from beholder.generators.catalogue import is_program, open_generator
from beholder.generators.generator import Generator
from beholder.images.decode import quiet_pillow
from beholder.study.generating import AnyGenerator
from beholder.study.study import FILE_NAME, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain
from beholder.tables.schemas.generate import DONE, FAILED, REFUSED
from beholder.tables.stages import GENERATE, STAGES
from beholder.tables.store import Store
from beholder.tables.work import Outcome, Work, perform

STAGE = STAGES["generate"]

Report = Callable[[str, int, int], None]
"""Called with the generator, how many of its images are done, and how many there are."""


def run(
    folder: Path,
    *,
    force: bool = False,
    generating: GenerateSettings | None = None,
    progress: Report | None = None,
    engine: Engine | None = None,
) -> Outcome:
    """Generate every image of the plan that is not there yet, and write ``generations`` and ``generation_costs``.

    The folder may be a study or any other. What a killed run had done is kept. A generator that hangs, crashes,
    lies or refuses leaves rows with the reason, and the others go on. Rows of generators that are not in the plan
    stay as they are.

    Args:
        folder: where the images and tables are.
        force: generate all images of the plan again.
        generating: which generators and prompts; by default those of the study.
        progress: called as images are done.
        engine: whose workers make the images of generators that are programs; services and folders are asked here.
    """
    settings = generating or GenerateSettings()
    if engine is not None and settings.energy is not None:
        raise UserError(
            "the energy of images is estimated where one is made at a time: leave out energy, or the engine"
        )
    generators, study_seed = _generators(folder, settings)
    entries = load_prompts(settings.prompts, folder)
    opened = _open_all(generators, folder)
    store = Store(folder)
    seed = study_seed if settings.seed is None else settings.seed
    jobs = list(
        plan_jobs(
            generators,
            entries,
            samples=settings.samples,
            size=(settings.width, settings.height),
            seed=seed,
            seeded=[opened[generator.name].seeded for generator in generators],
        )
    )
    work = Work(GENERATE, _recorded(store, generators, entries, settings, seed), seed)
    faults: list[str] = []
    try:
        outcome = perform(
            store,
            work,
            lambda tables: _generate(
                tables, jobs, opened, settings, faults, force=force, progress=progress, engine=engine
            ),
            force=force or settings.retry,
        )
    finally:
        for generator in opened.values():
            generator.close()
    if not outcome.skipped:
        journal_path(folder).unlink(missing_ok=True)
    if faults:
        raise StageError("\n".join(faults))
    return replace(outcome, note=_note(store, {generator.name for generator in generators}, folder))


def _generators(folder: Path, settings: GenerateSettings) -> tuple[tuple[AnyGenerator, ...], int]:
    """Return the generators that are to run, and the seed of the study."""
    study = load_study(folder) if (folder / FILE_NAME).is_file() else None
    generators = settings.generators or (study.generators if study else ())
    names = [generator.name for generator in generators]
    if not generators:
        raise StageError(
            f"no generators: name one, such as --generator best=painter:aurora, or write [[generators]] into "
            f"{folder / FILE_NAME} or a file for --generators"
        )
    faults = [unknown_name("generator", name, names) for name in settings.only if name not in names]
    faults += [f"generator '{name}' is named {count} times" for name, count in Counter(names).items() if count > 1]
    if faults:
        raise UserError("\n".join(faults))
    chosen = tuple(generator for generator in generators if not settings.only or generator.name in settings.only)
    return chosen, study.seed if study else 0


def _open_all(generators: Sequence[AnyGenerator], folder: Path) -> dict[str, Generator]:
    """Open all generators, which starts none; an error lists what is wrong with any of them."""
    opened: dict[str, Generator] = {}
    faults: list[str] = []
    for settings in generators:
        try:
            opened[settings.name] = open_generator(settings, folder)
        except UserError as error:
            faults.append(str(error))
    if faults:
        raise StudyError(f"{folder}: nothing was generated", faults)
    return opened


def _recorded(
    store: Store,
    generators: Sequence[AnyGenerator],
    entries: Sequence[PromptEntry],
    settings: GenerateSettings,
    seed: int,
) -> dict[str, Plain]:
    """Return what the tables record: the plan of every generator, those of earlier runs included."""
    before = store.provenance("generations")
    earlier = before.settings.get("generators") if before else None
    prompts = hashlib.sha256(json.dumps([entry.text for entry in entries]).encode()).hexdigest()
    plans: dict[str, Plain] = dict(earlier) if isinstance(earlier, dict) else {}
    for generator in generators:
        size: list[Plain] = [generator.width or settings.width, generator.height or settings.height]
        described: dict[str, Plain] = generator.model_dump(mode="json")
        plans[generator.name] = {
            "settings": described,
            "prompts": prompts,
            "samples": settings.samples,
            "size": size,
            "seed": seed,
        }
    return {"generators": dict(sorted(plans.items()))}


def _generate(
    store: Store,
    jobs: Sequence[Job],
    opened: Mapping[str, Generator],
    settings: GenerateSettings,
    faults: list[str],
    *,
    force: bool,
    progress: Report | None,
    engine: Engine | None,
) -> dict[str, pl.DataFrame]:
    """Generate what is missing, and return the tables of all rows, earlier ones included."""
    with open_journal(store.folder) as journal, quiet_pillow():
        rows = earlier_generations(store) | journal.generations
        if not force:
            changed = changed_requests(jobs, rows)
            if changed:
                raise StageError("\n".join(changed))
        todo = [job for job in jobs if force or _is_open(rows.get(job.key), store.folder, retry=settings.retry)]
        meter = open_meter(settings.energy if todo else None)
        try:
            for name, of_generator in groupby(todo, key=lambda job: job.generator.name):
                own, before = list(of_generator), {} if force else rows
                report = partial(progress, name) if progress else None
                if engine is not None and is_program(own[0].generator):
                    fault = run_by_engine(engine, own, store.folder, journal, before, progress=report)
                else:
                    fault = run_generator(own, opened[name], journal, before, meter=meter, progress=report)
                faults += [fault] if fault else []
                opened[name].close()
        finally:
            meter.close()
        journal.settle()
        rows |= journal.generations
    ordered = [rows[key] for key in sorted(rows)]
    return {
        "generations": TABLES["generations"].frame([generation.row for generation in ordered]),
        "generation_costs": TABLES["generation_costs"].frame([generation.cost for generation in ordered]),
    }


def _is_open(generation: Generation | None, folder: Path, *, retry: bool) -> bool:
    """Say whether an image is still to be made: it never was, its file is gone, or it is to be tried again."""
    if generation is None:
        return True
    if generation.row["status"] == DONE:
        return not (folder / str(generation.row["path"])).is_file()
    return retry


def _note(store: Store, names: set[str], folder: Path) -> str:
    """Say how many images of these generators are missing, and why the first of each kind is."""
    frame = store.read_or_empty("generations").filter(
        pl.col("generator").is_in(sorted(names)), pl.col("status") != DONE
    )
    if frame.is_empty():
        return ""
    counts = Counter(frame["status"])
    missing = " and ".join(f"{counts[status]:,} {status}" for status in (REFUSED, FAILED) if counts[status])
    first = frame.group_by("generator", "fault", maintain_order=True).agg(pl.len(), pl.first("reason"))
    reasons = "".join(
        f"\n  {generator}: {count:,} × {fault}: {str(reason).splitlines()[0]}"
        for generator, fault, count, reason in first.iter_rows()
    )
    advice = f"each with its reason in the table; to try them again: beholder generate {folder} … --retry"
    return f"{missing}, {advice}{reasons}"
