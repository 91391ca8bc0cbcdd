"""What a run of a benchmark does: from its study file, or, to repeat it, from its lock."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from beholder.api.learning import load_changed_recipe
from beholder.api.measuring import measure_settings
from beholder.curate.settings import FILE_NAME as CURATE_FILE
from beholder.curate.settings import load_curation
from beholder.errors import StudyError, UserError
from beholder.generate.settings import GenerateSettings
from beholder.learn.recipe import Recipe
from beholder.measure.settings import MeasureSettings
from beholder.study.benchmark import Benchmark
from beholder.study.lock import LockedMeasure, StudyLock
from beholder.study.study import Study, load_study
from beholder.tables.stages import STAGES
from beholder.tables.store import Store

ASKING = ("design", "collect", "consolidate", "rank", "learn")
"""Stages that need answers of raters."""


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """Which stages are run, with which settings."""

    stages: frozenset[str]
    generating: GenerateSettings
    recipes: Mapping[str, Recipe]
    """Name of a model -> the recipe by which it is trained."""
    measuring: MeasureSettings
    raters: int | None = None
    """Simulated raters; ``None``: none, answers of people are read if there are any."""
    bad: int = 0
    include_excluded: bool = False


def plan_bench(folder: Path, *, raters: int | None, bad: int) -> BenchPlan:
    """Plan a run by the study file; an error lists all faults of its settings, before any work.

    Prompts are curated where there is ``curate.toml``, images generated where the study names generators, raters
    asked where it has questions and they are simulated or have answered.
    """
    study, store = load_study(folder), Store(folder)
    benchmark = study.benchmark or Benchmark()
    faults: list[str] = []
    stages = {*STAGES, "site"} - {"import"}
    if (folder / CURATE_FILE).is_file():
        load_curation(folder)
    else:
        stages -= {"curate"}
    if not study.generators:
        stages -= {"generate", "new"}
        if not store.has("images"):
            faults.append("no images, and no generator that could make some: add [[generators]]")
    elif not (folder / CURATE_FILE).is_file() and not store.has("curated_prompts") and not store.has("prompts"):
        faults.append(f"no prompts to generate from: choose some with beholder curate {folder} --prompts FILE")
    if raters is not None and not study.questions:
        faults.append("no question that simulated raters could answer: add [[questions]], or leave --simulate out")
    if not study.questions or (raters is None and not store.has("answers")):
        stages -= set(ASKING)
    recipes = _recipes(benchmark, folder, faults)
    if not recipes:
        stages -= {"learn"}
    try:
        measuring = _measuring(benchmark)
        measuring.check()
    except UserError as error:
        measuring = MeasureSettings()
        faults += [f"benchmark: {line}" for line in str(error).splitlines()]
    if faults:
        raise StudyError(f"{folder}: nothing was done", faults)
    return BenchPlan(frozenset(stages), _generating(benchmark), recipes, measuring, raters, bad)


def plan_rebuild(lock: StudyLock) -> BenchPlan:
    """Plan the run that a lock describes."""
    study = Study.model_validate(lock.study)
    return BenchPlan(
        stages=frozenset(lock.rebuilt),
        generating=_generating(study.benchmark or Benchmark()),
        recipes={name: Recipe.model_validate(model.recipe) for name, model in lock.models.items()},
        measuring=_locked_measuring(lock.measure),
        raters=lock.simulated.raters if lock.simulated else None,
        bad=lock.simulated.bad if lock.simulated else 0,
        include_excluded=lock.include_excluded,
    )


def _generating(benchmark: Benchmark) -> GenerateSettings:
    return GenerateSettings(
        samples=benchmark.samples, width=benchmark.width, height=benchmark.height or benchmark.width
    )


def _recipes(benchmark: Benchmark, folder: Path, faults: list[str]) -> dict[str, Recipe]:
    recipes: dict[str, Recipe] = {}
    for model in benchmark.models:
        own_file = folder / model.recipe
        try:
            recipe = load_changed_recipe(str(own_file) if own_file.is_file() else model.recipe, model.settings)
        except UserError as error:
            faults.append(f"benchmark.models: {error}")
        else:
            recipes[model.name or recipe.name] = recipe
    return recipes


def _measuring(benchmark: Benchmark) -> MeasureSettings:
    settings, _ = measure_settings(
        benchmark.distances or (),
        benchmark.scorers,
        encoder=benchmark.encoder,
        encoder_weights=None,
        weights=benchmark.weights,
        published=None,
        skip_broken=False,
    )
    return settings if benchmark.distances != () else settings.without_distances()


def _locked_measuring(measure: LockedMeasure | None) -> MeasureSettings:
    if measure is None:
        return MeasureSettings()
    settings = measure.settings
    return MeasureSettings(
        encoder=str(settings["encoder"]),
        encoder_weights=cast("str | None", settings["encoder_weights"]),
        distances=tuple(cast("list[str]", settings["distances"])),
        scorers=tuple(cast("list[str]", settings["scorers"])),
        weights=cast("dict[str, str]", settings["weights"]),
        skip_broken=bool(settings["skip_broken"]),
    )
