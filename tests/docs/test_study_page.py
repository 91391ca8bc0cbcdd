"""The tables of ``docs/reference/study.md`` are the settings in words, and they are up to date.

Run as a program, this file writes them again: ``python tests/docs/test_study_page.py``.
"""

from collections.abc import Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Literal, get_args, get_origin

import pytest
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from beholder.study.auditing import Auditing, Profile
from beholder.study.benchmark import Benchmark, TrainedModel
from beholder.study.board import Board, Claim, Picked, Stated, Variants
from beholder.study.collecting import Codes, Collecting, ConsentSection
from beholder.study.generating import GENERATOR_KINDS, GeneratorSettings
from beholder.study.kinds.catalogue import KINDS as ALL_KINDS
from beholder.study.kinds.choice import Option
from beholder.study.question import Aspect, Design, Example, Question, Screening, Settings
from beholder.study.study import Analysis, ImageSettings, Pay, Study

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "study.md"

KINDS: tuple[type[Question], ...] = tuple(kind.settings for kind in ALL_KINDS.values())

MODELS: dict[str, type[Settings]] = {
    "study": Study,
    "pay": Pay,
    "collect": Collecting,
    "consent-section": ConsentSection,
    "codes": Codes,
    "images": ImageSettings,
    "analysis": Analysis,
    "board": Board,
    "claim": Claim,
    "benchmark": Benchmark,
    "trained-model": TrainedModel,
    "stated": Stated,
    "picked": Picked,
    "variants": Variants,
    "audit": Auditing,
    "profile": Profile,
    "question": Question,
    "design": Design,
    "screening": Screening,
    "example": Example,
    "aspect": Aspect,
    "option": Option,
    "generator": GeneratorSettings,
    **GENERATOR_KINDS,
    **{model.model_fields["kind"].default: model for model in KINDS},
}
"""Name of a table on the page -> the settings it lists."""

MEANINGS = {
    "Study.name": "short name: small letters, digits and hyphens",
    "Study.title": "title that participants see",
    "Study.description": "what the study is for, in a sentence or two",
    "Study.seed": "reproduces every draw: trials, simulated raters, confidence intervals",
    "Study.images": "section `[images]`",
    "Study.pay": "section `[pay]`",
    "Study.collect": "section `[collect]`",
    "Study.analysis": "section `[analysis]`",
    "Study.board": "section `[board]`",
    "Study.benchmark": "section `[benchmark]`: makes the study one that `beholder bench` runs",
    "Study.audit": "section `[audit]`",
    "Study.generators": "one section `[[generators]]` for each program or service that makes images",
    "Study.questions": "one section `[[questions]]` for each question; at least one, but in a benchmark",
    "Pay.currency": "code of the currency",
    "Collecting.languages": "languages that participants can choose from",
    "Collecting.consent_version": "goes with the consent that is recorded; change it with the text",
    "Collecting.codes": "section `[collect.codes]`",
    "Collecting.image_quality": "quality at which served images are encoded",
    "ConsentSection.title": "heading of the section, by language",
    "ConsentSection.text": "its text, by language; paragraphs and lists as in the consent",
    "Codes.complete": "for a rater who completed all trials",
    "Codes.screened_out": "for a rater who did not pass the qualification",
    "Codes.no_consent": "for a rater who did not consent",
    "Codes.failed_checks": "for a rater whose screen is too slow for a timed question",
    "Codes.withdrawn": "for a rater who withdrew",
    "Codes.returned": "for a rater whose slot went to another, who skipped too often, or whose session you ended",
    "Question.name": "name of the question, its own within the study; the tables carry it",
    "Question.kind": "kind of the question: decides which of the tables below applies",
    "Question.protocol": "the protocol it came from; a note, nothing is computed from it",
    "Question.text": "what raters are asked; every kind has a default",
    "Question.design": "section `[questions.design]`",
    "Question.screening": "section `[questions.screening]`",
    "Aspect.name": "name of the aspect; the tables carry it",
    "Aspect.text": "what raters are asked about it",
    "Aspect.low": "word at the low end of the scale",
    "Aspect.high": "word at the high end of the scale",
    "text": "what raters are asked",
    "aspects": "one section `[[questions.aspects]]` for each thing to be rated",
    "TimedRealismQuestion.start_ms": "exposure at the start of each block",
    "TimedRealismQuestion.shortest_ms": "the exposure never gets shorter than this",
    "TimedRealismQuestion.longest_ms": "the exposure never gets longer than this",
    "TimedRealismQuestion.masks": "masks after the image",
    "TimedRealismQuestion.mask_ms": "how long each mask is shown",
    "SweepQuestion.latency_sd_ms": "standard deviation of that time",
}
"""What the settings mean that carry no description of their own."""

TYPES: dict[object, str] = {str: "text", int: "whole number", float: "number", bool: "true or false"}

COMMON_TO_GENERATORS = set(GeneratorSettings.model_fields)
"""Settings that every generator has: listed once, under *generator*."""

COMMON = {"name", "kind", "protocol", "instructions", "examples", "labels", "design", "screening"}
"""Settings that every question has: listed once, under *question*."""


def table_of(model: type[Settings]) -> str:
    """The settings of a model as a Markdown table."""
    common = COMMON if model in KINDS else set()
    common = COMMON_TO_GENERATORS if model in GENERATOR_KINDS.values() else common
    rows = [
        f"| `{name}` | {type_of(field)} | {default_of(field)} | {meaning_of(model, name, field)} |"
        for name, field in model.model_fields.items()
        if name not in common
    ]
    return "\n".join(["| key | type | default | meaning |", "|---|---|---|---|", *rows])


def type_of(field: FieldInfo) -> str:
    """The type and its limits in words."""
    annotation = field.annotation
    if get_origin(annotation) is Literal:
        return f"one of {words_of(annotation)}"
    if get_origin(annotation) is dict:
        keys, contents = get_args(annotation)
        if get_args(contents) and str in get_args(contents):
            return "settings by name"
        return "texts by choice" if keys is str else "texts by language"
    kind = annotation
    if get_origin(annotation) is not tuple:  # as in ``int | None``
        kind = next(kind for kind in get_args(annotation) or (annotation,) if kind is not NoneType)
    if get_origin(kind) is Literal:  # as in ``Literal["sd", "sdxl"] | None``
        return f"one of {words_of(kind)}"
    if get_origin(kind) is tuple:
        inside = get_args(kind)[0]
        if get_origin(inside) is Annotated:
            return "list of texts"
        if inside is int:
            return "list of whole numbers"
        if inside is float:
            return "list of numbers"
        return f"list of {words_of(inside)}" if get_origin(inside) is Literal else "list of sections"
    limits = list(field.metadata)
    if get_origin(kind) is Annotated:  # as in ``Share | None``
        kind, inner, *_ = get_args(kind)
        limits += inner.metadata
    if isinstance(kind, type) and issubclass(kind, Settings):
        return "section"
    return ", ".join([TYPES[kind], *limit_words(limits)])


def words_of(choices: object) -> str:
    """The words of a ``Literal``."""
    return ", ".join(f"`{choice}`" for choice in get_args(choices))


def limit_words(limits: Sequence[object]) -> list[str]:
    """``≥ 0`` and the like."""
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    found = [(sign, getattr(limit, name, None)) for limit in limits for name, sign in signs.items()]
    return [f"{sign} {value:g}".replace("-", "−") for sign, value in found if value is not None]


def default_of(field: FieldInfo) -> str:
    """The default as it stands in the file."""
    value = field.default
    if value is PydanticUndefined:
        return "required" if field.default_factory is None else "empty"
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if value == ():
        return "empty"
    if isinstance(value, tuple):
        return ", ".join(f"`{getattr(part, 'name', part)}`" for part in value)
    if isinstance(value, Settings):
        return "as below"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`" if value != "" else "empty"


def meaning_of(model: type[Settings], name: str, field: FieldInfo) -> str:
    """The description of a setting, or what stands for it above."""
    return field.description or MEANINGS.get(f"{model.__name__}.{name}") or MEANINGS.get(name) or ""


def with_tables(page: str) -> str:
    """The page with every table between its two markers written anew."""
    for name, model in MODELS.items():
        head, begin, rest = page.partition(f"<!-- settings: {name} -->\n")
        _, end, tail = rest.partition("<!-- end -->")
        page = f"{head}{begin}{table_of(model)}\n{end}{tail}" if begin and end else page
    return page


def test_the_tables_are_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_tables(page), "run: python tests/docs/test_study_page.py"


def test_every_section_of_the_file_is_listed() -> None:
    sections = {kind for model in MODELS.values() for kind in sections_in(model)}
    assert sections <= set(MODELS.values())


def sections_in(model: type[Settings]) -> set[type[Settings]]:
    """The settings that stand below others in the file."""
    annotations = [field.annotation for field in model.model_fields.values()]
    return {kind for kind in annotations if isinstance(kind, type) and issubclass(kind, Settings)}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_its_table(name: str) -> None:
    assert f"<!-- settings: {name} -->" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODELS)
def test_every_setting_has_a_meaning(name: str) -> None:
    rows = table_of(MODELS[name]).splitlines()[2:]
    assert rows
    for row in rows:
        assert not row.endswith("|  |"), f"without a meaning: {row}"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
