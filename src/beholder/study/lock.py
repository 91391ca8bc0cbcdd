"""The lock of a study: all that a rerun needs, and the hashes that say whether it gave the same.

``study.lock`` is JSON with sorted keys, so that equal locks are equal bytes. Any study can have one; that of a
benchmark also names prompt sets and generators.
"""

import json
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from beholder.errors import StudyError
from beholder.study.faults import faults_of
from beholder.study.question import Settings
from beholder.tables.atomic import write_atomically

LOCK_FILE = "study.lock"


class LockedTable(Settings):
    """The content of a table, as :mod:`beholder.tables.content` hashes it."""

    rows: int = Field(ge=0, description="number of rows")
    sha256: str = Field(description="hash of the content, independent of the file's form")
    columns: dict[str, str] = Field(description="hash of each column that holds any value")
    rows_per_mark: int = Field(ge=1, description="rows that share a mark")
    marks: str = Field(description="four hexadecimal digits per mark, to find the first row that differs")


class LockedPromptSet(Settings):
    """A prompt set that was read."""

    version: str = Field(description="recognised by its files, or the hash of a file of your own")
    sha256: str = Field(description="hash of the prompts that were read")


class LockedGenerator(Settings):
    """A generator, as it described itself when it made the images, and what it made."""

    kind: str | None = Field(description="how it was reached; null for images from a folder")
    model: str | None = Field(description="who it says it is")
    weights: str | None = Field(description="hash of its weights, where known")
    settings: str | None = Field(description="all else that it says changes its images, as JSON")
    images: int = Field(ge=0, description="how many images of it the study has")
    sha256: str = Field(description="hash of the images' ids and their files' hashes")


class LockedModel(Settings):
    """A model that was trained on the study."""

    recipe: dict[str, JsonValue] = Field(description="the recipe with all settings")
    weights: str = Field(description="hash of the files of its weights")


class LockedMeasure(Settings):
    """What `beholder measure` computed."""

    settings: dict[str, JsonValue] = Field(description="encoder, distances, scorers and weights by name")
    scorers: dict[str, str] = Field(description="each scorer's identity: its name, with the hash of its weights")


class SimulatedRaters(Settings):
    """How many raters were simulated, and how many of them with bad habits."""

    raters: int = Field(ge=1)
    bad: int = Field(ge=0)


class StudyLock(Settings):
    """Everything that a rerun needs, and the hash of every table."""

    lock: Literal[1] = Field(1, description="version of this format")
    beholder: str = Field(description="version of the package")
    packages: dict[str, str] = Field(description="versions of Python and of the packages that numbers depend on")
    seed: int = Field(description="seed of the study")
    study_sha256: str = Field(description="hash of the file study.toml")
    study: dict[str, JsonValue] = Field(description="its settings, without those of collecting")
    curation: dict[str, JsonValue] | None = Field(description="settings of curate.toml, where there is one")
    prompt_sets: dict[str, LockedPromptSet] = Field(description="the sets that prompts were chosen from")
    generators: dict[str, LockedGenerator] = Field(description="whose images the study has")
    simulated: SimulatedRaters | None = Field(description="null where people answered, or nobody")
    include_excluded: bool = Field(description="whether answers of excluded raters count")
    models: dict[str, LockedModel] = Field(description="models that were trained on the study")
    measure: LockedMeasure | None = Field(description="null where nothing was measured")
    rebuilt: tuple[str, ...] = Field(description="stages that a rerun repeats; tables of others are verified")
    tables: dict[str, LockedTable] = Field(description="every table, except those that differ from run to run")


def write_lock(lock: StudyLock, folder: Path) -> Path:
    """Write ``study.lock``; equal locks give equal bytes."""
    path = folder / LOCK_FILE
    content = json.dumps(lock.model_dump(mode="json"), sort_keys=True, indent=1, ensure_ascii=False)
    with write_atomically(path) as file:
        file.write(f"{content}\n".encode())
    return path


def read_lock(folder: Path) -> StudyLock:
    """Read ``study.lock``; an error lists every fault."""
    path = folder / LOCK_FILE
    try:
        return StudyLock.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        advice = f"Write one with: beholder lock {folder}"
        raise StudyError(str(folder), [f"no {LOCK_FILE} here"], advice=advice) from error
    except OSError as error:
        raise StudyError(str(path), [f"cannot be read ({error.strerror or error})"]) from error
    except ValidationError as error:
        raise StudyError(str(path), faults_of(error, StudyLock)) from error
