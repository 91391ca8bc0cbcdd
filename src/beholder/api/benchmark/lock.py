"""Locking a study: what a rerun needs, read from the study's files and from the records of its tables."""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import polars as pl
from pydantic import JsonValue

from beholder import __version__
from beholder.curate.settings import FILE_NAME as CURATE_FILE
from beholder.curate.settings import load_curation
from beholder.judgements.inclusion import includes_excluded
from beholder.learn.trained_models import MODELS_FOLDER, hash_weights, trained_settings
from beholder.scorers.catalogue import load_scorer
from beholder.study.lock import (
    LockedGenerator,
    LockedMeasure,
    LockedModel,
    LockedPromptSet,
    LockedTable,
    SimulatedRaters,
    StudyLock,
    write_lock,
)
from beholder.study.study import FILE_NAME, Study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.content import hash_content
from beholder.tables.provenance import file_hash
from beholder.tables.rehearsals import is_rehearsed
from beholder.tables.schemas.generate import DONE
from beholder.tables.stages import STAGES
from beholder.tables.store import Store

PACKAGES = ("numpy", "pillow", "polars", "scipy", "safetensors", "statsmodels", "torch", "transformers")
"""Packages that numbers depend on."""
IDENTITY = ("kind", "model", "weights", "settings")
"""Columns of ``generations`` that say who made an image."""
COMPUTED = ("consolidate", "rank", "learn", "measure", "board")
"""Stages that compute from tables alone: a rerun repeats them always."""


def lock_study(folder: Path) -> Path:
    """Write ``study.lock`` of a study as it is now, and return its path."""
    return write_lock(gather_lock(folder), folder)


def gather_lock(folder: Path) -> StudyLock:
    """Return the lock of a study as it is now.

    Tables that differ from run to run, such as what generating cost, are left out, and so are pages, caches and
    the settings of collecting, on which no table depends.
    """
    study, store = load_study(folder), Store(folder)
    curation = load_curation(folder) if (folder / CURATE_FILE).is_file() else None
    models = gather_models(folder)
    tables = {name: lock_table(store, name) for name in TABLES if store.has(name) and not TABLES[name].varies}
    return StudyLock(
        beholder=__version__,
        packages=installed_packages(),
        seed=study.seed,
        study_sha256=file_hash(folder / FILE_NAME),
        study=locked_settings(study),
        curation=None if curation is None else curation.model_dump(mode="json"),
        prompt_sets=prompt_sets(store),
        generators=generators(store),
        simulated=_simulated(store),
        include_excluded=includes_excluded(store),
        models=models,
        measure=_measure(store),
        rebuilt=tuple(
            stage
            for stage in STAGES
            if _is_rebuilt(stage, study, store, curated=curation is not None, models=models)
        ),
        tables=tables,
    )


def lock_table(store: Store, name: str) -> LockedTable:
    """Return the hashes of a table's content."""
    content = hash_content(store.read(name), TABLES[name])
    return LockedTable(
        rows=content.rows,
        sha256=content.sha256,
        columns=content.columns,
        rows_per_mark=content.rows_per_mark,
        marks=content.marks,
    )


def locked_settings(study: Study) -> dict[str, JsonValue]:
    """Return the settings of a study on which its tables depend: not how answers are collected, or audited."""
    return study.model_dump(mode="json", exclude={"collect", "audit"})


def installed_packages() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def prompt_sets(store: Store) -> dict[str, LockedPromptSet]:
    """Return the sets that prompts were chosen from."""
    record = store.provenance("prompt_sets")
    read = store.read_or_empty("prompt_sets").select("set", "version").iter_rows()
    return {
        name: LockedPromptSet(version=set_version, sha256=record.inputs.get(name, "") if record else "")
        for name, set_version in read
    }


def generators(store: Store) -> dict[str, LockedGenerator]:
    """Return every generator of the study's images, as it described itself, with the hash of its images."""
    images = store.read_or_empty("images").filter(~pl.col("real"))
    identities = generator_identities(store)
    locked: dict[str, LockedGenerator] = {}
    for (name,), part in images.sort("generator", "image").group_by("generator", maintain_order=True):
        files = "\n".join(f"{image} {sha256}" for image, sha256 in part.select("image", "sha256").iter_rows())
        locked[str(name)] = LockedGenerator(
            **identities.get(str(name), dict.fromkeys(IDENTITY)),
            images=part.height,
            sha256=hashlib.sha256(files.encode()).hexdigest(),
        )
    return locked


def generator_identities(store: Store) -> dict[str, dict[str, str | None]]:
    """Return what every generator said of itself with its first image: kind, model, weights and settings."""
    rows = store.read_or_empty("generations").filter(pl.col("status") == DONE)
    first = rows.group_by("generator", maintain_order=True).first()
    return {str(row["generator"]): {name: row[name] for name in IDENTITY} for row in first.iter_rows(named=True)}


def _simulated(store: Store) -> SimulatedRaters | None:
    record = store.provenance("answers")
    simulated = record.settings.get("simulate") if record else None
    if not isinstance(simulated, dict):
        return None
    return SimulatedRaters(raters=int(str(simulated["people"])), bad=int(str(simulated["bad"])))


def gather_models(folder: Path) -> dict[str, LockedModel]:
    """Return the models whose training has ended."""
    names = set(Store(folder).read_or_empty("predictions")["model"])
    models: dict[str, LockedModel] = {}
    for name in sorted(names):
        room = folder / MODELS_FOLDER / name
        settings = trained_settings(room)
        if settings is not None:
            recipe = cast("dict[str, JsonValue]", settings["recipe"])
            models[name] = LockedModel(recipe=recipe, weights=hash_weights(room))
    return models


def _measure(store: Store) -> LockedMeasure | None:
    record = store.provenance("scores")
    if record is None:
        return None
    return LockedMeasure(
        settings=cast("dict[str, JsonValue]", dict(record.settings)), scorers=scorer_identities(store)
    )


def scorer_identities(store: Store) -> dict[str, str]:
    """Return who the scorers of the study are: their names, with the hashes of their weights."""
    record = store.provenance("scores")
    weights = cast("dict[str, str]", record.settings.get("weights") or {}) if record else {}
    return {
        name: load_scorer(name, weights).identity for name in sorted(set(store.read_or_empty("scores")["scorer"]))
    }


def _is_rebuilt(stage: str, study: Study, store: Store, *, curated: bool, models: dict[str, LockedModel]) -> bool:
    """Say whether a rerun repeats a stage: its sources are in the study, and it wrote something."""
    if not any(store.has(name) for name in STAGES[stage].outputs):
        return False
    if stage == "curate":
        return curated
    if stage in ("generate", "new"):
        record = store.provenance("images")
        generated_only = record is not None and set(record.inputs) == {"generations"}
        return bool(study.generators) and study.benchmark is not None and generated_only
    if stage in ("design", "collect"):
        return _simulated(store) is not None and is_rehearsed(store)
    return stage in COMPUTED and (stage != "learn" or bool(models))
