"""What a format is: a name, what it holds, and a function from our tables to its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from beholder.errors import StudyError
from beholder.study.study import Study

Tables = Mapping[str, pl.DataFrame]
"""Our tables by name; at least prompts, images, trials, sessions, answers and marks."""


@dataclass(frozen=True, slots=True)
class Written:
    """The files that were written, and what a reader of them should know."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """From our tables to files in a folder."""

    def __call__(self, study: Study, tables: Tables, folder: Path) -> Written:
        """Write them all."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of the catalogue."""

    about: str
    write: Writer


def questions_of(study: Study, kinds: Sequence[str], what: str) -> list[str]:
    """Names of the questions of these kinds; a study without any cannot be written in the format."""
    found = [question.name for question in study.questions if question.kind in kinds]
    if not found:
        has = ", ".join(f"'{question.name}' ({question.kind})" for question in study.questions)
        raise StudyError(
            f"{what} cannot be written", [f"no question of kind {' or '.join(kinds)}; the study has {has}"]
        )
    return found
