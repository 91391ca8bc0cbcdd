"""The study file: ``study.toml`` read into a checked model, and written with all defaults."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from beholder.errors import StudyError
from beholder.study.auditing import Auditing
from beholder.study.benchmark import Benchmark
from beholder.study.board import Board
from beholder.study.collecting import Collecting
from beholder.study.faults import faults_of
from beholder.study.generating import AnyGenerator
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.question import Settings, Slug

FILE_NAME = "study.toml"

ADDED_SECTIONS = (
    *("instructions", "examples", "labels", "consent_sections"),
    *("generators", "questions", "models", "profiles"),
)
"""Sections that a study file has only where someone wrote them."""


class Pay(Settings):
    """What a rater is paid, and the hourly wage that it is compared with."""

    currency: str = "USD"
    base: float | None = Field(
        None, ge=0, description="for a complete session; by default its expected time at minimum_hourly"
    )
    per_right: float = Field(0.0, ge=0, description="bonus for each correct answer")
    minimum_hourly: float = Field(
        12.0, ge=0, description="the least wage; the server refuses to start where pay is less"
    )
    accept_low: bool = Field(False, description="pay less than minimum_hourly all the same")


class ImageSettings(Settings):
    """How image files are read, for raters, scorers, encoders and the report alike."""

    background: Annotated[str, AfterValidator(str.lower)] = Field(
        "#7f7f7f",
        pattern="^#[0-9a-fA-F]{6}$",
        description="what transparent images are flattened on, as #rrggbb; raters, scorers, encoders and the "
        "report all get these pixels",
    )


class Analysis(Settings):
    """How results are computed."""

    level: float = Field(0.95, gt=0.5, lt=1, description="level of all confidence intervals")
    draws: int = Field(2000, ge=200, description="bootstrap replicates over raters")
    weight: Literal["raters", "answers"] = Field(
        "raters", description="what counts the same in mean scores of `rank`: every rater, or every answer"
    )


class Study(Settings):
    """All settings of a study."""

    name: Slug
    title: str = Field(min_length=1)
    description: str = ""
    seed: int = Field(0, ge=0)
    images: ImageSettings = ImageSettings()
    pay: Pay = Pay()
    analysis: Analysis = Analysis()
    board: Board = Board()
    benchmark: Benchmark | None = None
    audit: Auditing = Auditing()
    collect: Collecting = Collecting()
    questions: tuple[AnyQuestion, ...] = ()
    generators: tuple[AnyGenerator, ...] = ()

    @model_validator(mode="after")
    def _distinct(self) -> "Study":
        names = [question.name for question in self.questions]
        if not names and self.benchmark is None:
            raise ValueError("at least one question is needed: [[questions]]; only a benchmark may have none")
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each question needs a name of its own; used more than once: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _distinct_generators(self) -> "Study":
        names = [generator.name for generator in self.generators]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"each generator needs a name of its own; used more than once: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _labelled(self) -> "Study":
        faults = []
        for question in self.questions:
            options = kind_of(question).options(question)
            unknown = [choice for choice in question.labels if choice not in options]
            offers = f"its choices are {', '.join(options)}" if options else f"a {question.kind} has no choices"
            faults += [
                f"labels of '{question.name}': there is no choice '{choice}'; {offers}" for choice in unknown
            ]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def question(self, name: str) -> AnyQuestion:
        """Return the question of that name."""
        return {question.name: question for question in self.questions}[name]


def load_study(folder: Path) -> Study:
    """Read and check ``study.toml``; an error lists every fault with its place in the file."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise StudyError(
            str(folder), [f"no {FILE_NAME} here"], advice="Make a study with: beholder new PROTOCOL FOLDER …"
        )
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(str(path), [f"not valid TOML: {error}"]) from error
    try:
        # strictly, as JSON: "30" and true are no integers, while an array does for a tuple
        return Study.model_validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as error:
        raise StudyError(str(path), faults_of(error, Study)) from error


def read_generators(path: Path) -> tuple[AnyGenerator, ...]:
    """Return the ``[[generators]]`` of a TOML file that need not be a study; an error lists every fault."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(str(path), [f"cannot be read ({error.strerror or error})"]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(str(path), [f"not valid TOML: {error}"]) from error
    return checked_generators(content.get("generators", []), str(path))


def checked_generators(sections: object, subject: str) -> tuple[AnyGenerator, ...]:
    """Return generators from their settings; an error about ``subject`` lists every fault."""
    try:
        listed = _Generators.model_validate_json(json.dumps({"generators": sections}, default=str), strict=True)
    except ValidationError as error:
        raise StudyError(subject, faults_of(error, Study)) from error
    names = [generator.name for generator in listed.generators]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise StudyError(subject, [f"each generator needs a name of its own; used twice: {', '.join(twice)}"])
    return listed.generators


class _Generators(Settings):
    """A file of generators alone."""

    generators: tuple[AnyGenerator, ...] = ()


def dump_study(study: Study) -> str:
    """Return the text of ``study.toml`` with every setting; settings that are left out (null) are not written."""
    import tomlkit  # noqa: PLC0415 - every command imports this module, and few write TOML

    document = tomlkit.document()
    document.add(
        tomlkit.comment("A beholder study. Settings: docs/reference/study.md. Check it with: beholder design")
    )
    for key, value in _without_empty(study.model_dump(mode="json", exclude_none=True)).items():
        document.add(key, value)
    return tomlkit.dumps(document)


def _without_empty(settings: dict[str, Any]) -> dict[str, Any]:
    """Leave out sections that are empty: whoever adds one would find it there already."""
    filled: dict[str, Any] = {}
    for key, value in settings.items():
        if key in ADDED_SECTIONS and not value:
            continue
        if isinstance(value, dict):
            filled[key] = _without_empty(value)
        elif isinstance(value, list):
            filled[key] = [_without_empty(part) if isinstance(part, dict) else part for part in value]
        else:
            filled[key] = value
    return filled


def question_of(settings: Mapping[str, object]) -> AnyQuestion:
    """Return a question from its settings as ``model_dump`` gave them."""
    return _QUESTION.validate_python(dict(settings))


_QUESTION: TypeAdapter[AnyQuestion] = TypeAdapter(AnyQuestion)
