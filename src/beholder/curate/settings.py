"""The settings of a curation: ``curate.toml`` in the study folder, read into a checked model, and written."""

import json
import tomllib
from pathlib import Path
from typing import Literal

import tomlkit
from pydantic import Field, ValidationError, field_validator

from beholder.errors import PromptsError, unknown_name
from beholder.prompts.checks.check import CHECKS
from beholder.prompts.cleaning.rules import RULES
from beholder.prompts.duplicates.paraphrases import LEAST_COSINE
from beholder.prompts.prompt import MAIN
from beholder.prompts.writing.swaps import SWAPS
from beholder.study.faults import faults_of
from beholder.study.question import Settings

FILE_NAME = "curate.toml"
LANGUAGE, WORD_LIST = "language", "word-list:"


class SourceSet(Settings):
    """A prompt set: one of the catalogue, or a file of the user's."""

    name: str = Field(min_length=1, description="a set of `beholder curate --list`, or what a file is called")
    path: str = Field(min_length=1, description="its folder or file, relative to the folder of curate.toml")
    part: str = Field(MAIN, description="a part of a set of the catalogue")
    licence: str = Field("not stated", description="of a file of your own, for the record")


class Cleaning(Settings):
    """How style words are removed."""

    rules: tuple[str, ...] = Field(
        (), description="rules of cleaning, in their order; none: prompts stay as they are"
    )
    command: str | None = Field(None, description="a command that cleans in place of rules")
    seconds: float = Field(600.0, gt=0, description="how long a command may take for all prompts")

    @field_validator("rules")
    @classmethod
    def _known(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        return _all_known("rule", rules, RULES)


class Duplicates(Settings):
    """Which prompts count as the same."""

    drop: tuple[Literal["duplicate", "near-duplicate"], ...] = Field(
        ("duplicate", "near-duplicate"), description="relations for which the later prompt is dropped"
    )
    paraphrases: bool = Field(False, description="report paraphrases by MiniLM in a worker process (extra `text`)")
    least_cosine: float = Field(LEAST_COSINE, gt=0, le=1, description="cosine from which on they are reported")


class Checks(Settings):
    """What prompts are looked at for, and for what they are dropped."""

    languages: tuple[str, ...] = Field(("en",), description="ISO 639 codes; others become findings; none: all do")
    word_lists: dict[str, str] = Field(default_factory=dict, description="name of a list = a text file of words")
    drop: tuple[str, ...] = Field((), description="checks for which a prompt is dropped; `word-list:` with a name")

    @field_validator("drop")
    @classmethod
    def _known(cls, drop: tuple[str, ...]) -> tuple[str, ...]:
        plain = tuple(name for name in drop if not name.startswith(WORD_LIST))
        _all_known("check", plain, (*CHECKS, LANGUAGE))
        return drop


class Writing(Settings):
    """New prompts, written from those that were read."""

    swaps: tuple[str, ...] = Field((), description="tags of which one word is replaced by its counterpart")
    templates: tuple[str, ...] = Field((), description="such as `a {man|woman} who {sings|cooks}`")
    variations: int = Field(
        0, ge=0, description="prompts in which a tagged word is replaced by one of another prompt"
    )
    command: str | None = Field(None, description="a command that writes prompts from seed prompts")
    seconds: float = Field(600.0, gt=0, description="how long the command may take for all prompts")

    @field_validator("swaps")
    @classmethod
    def _known(cls, swaps: tuple[str, ...]) -> tuple[str, ...]:
        return _all_known("swap", swaps, SWAPS)


class Choosing(Settings):
    """Which of the prompts are chosen, and which of these are held out."""

    prompts: int | None = Field(None, ge=1, description="how many; by default all")
    balance: Literal["category", "set", "none"] = Field("category", description="of what equally many are chosen")
    held_out: float = Field(0.0, ge=0, lt=1, description="expected proportion of the chosen prompts to hold out")
    salt: str = Field("", description="another text holds out other prompts")


class Curation(Settings):
    """All settings of a curation."""

    seed: int = Field(0, ge=0, description="draws variations, and breaks ties of the choice")
    sets: tuple[SourceSet, ...] = Field(min_length=1)
    clean: Cleaning = Cleaning()
    duplicates: Duplicates = Duplicates()
    checks: Checks = Checks()
    write: Writing = Writing()
    choose: Choosing = Choosing()


def load_curation(folder: Path) -> Curation:
    """Read and check ``curate.toml``; an error lists every fault with its place in the file."""
    path = folder / FILE_NAME
    if not path.is_file():
        advice = f"Name prompt sets: beholder curate {folder} --set NAME=PATH, or --prompts FILE"
        raise PromptsError(str(folder), [f"no {FILE_NAME} here"], advice=advice)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PromptsError(str(path), [f"not valid TOML: {error}"]) from error
    try:
        curation = Curation.model_validate_json(json.dumps(content, default=str), strict=True)
    except ValidationError as error:
        raise PromptsError(str(path), faults_of(error, Curation)) from error
    unknown = [
        name
        for name in curation.checks.drop
        if name.startswith(WORD_LIST) and name.removeprefix(WORD_LIST) not in curation.checks.word_lists
    ]
    if unknown:
        raise PromptsError(str(path), [f"checks.drop: there is no word list for '{name}'" for name in unknown])
    return curation


def dump_curation(curation: Curation) -> str:
    """Return the text of ``curate.toml`` with every setting."""
    document = tomlkit.document()
    document.add(tomlkit.comment("Settings of beholder curate; docs/reference/curate.md explains them."))
    for key, setting in curation.model_dump(mode="json", exclude_none=True).items():
        document.add(key, setting)
    return tomlkit.dumps(document)


def _all_known(what: str, names: tuple[str, ...], valid: object) -> tuple[str, ...]:
    listed = tuple(valid) if isinstance(valid, tuple | dict) else ()
    faults = [unknown_name(what, name, listed) for name in names if name not in listed]
    if faults:
        raise ValueError("; ".join(faults))
    return names
