"""What a format is: what it holds, a function from our tables to its files, and one from its files to a study."""

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


class ImageWriter(Protocol):
    """From our tables and the image files to files in a folder."""

    def __call__(
        self, study: Study, tables: Tables, folder: Path, *, source: Path, licence: str | None = None
    ) -> Written:
        """Write them all; ``source`` is the study folder, to which paths of images are relative."""


@dataclass(frozen=True, eq=False, slots=True)
class Imported:
    """A study made from other people's files, and what a reader of its results should know."""

    study: Study
    tables: Tables
    notes: tuple[str, ...] = ()
    """What the files do not tell, and how it was filled in."""
    differences: tuple[str, ...] = ()
    """What does not add up in the files."""


class Reader(Protocol):
    """From files to a study."""

    def __call__(self, source: Path, *, images: Path | None = None) -> Imported:
        """Read a file or folder; ``images`` is where the image files lie."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of the catalogue; ``read`` is left out where the files do not make a study.

    One that is written has ``write``, or ``write_images`` where it holds the image files themselves.
    """

    about: str
    write: Writer | None = None
    read: Reader | None = None
    write_images: ImageWriter | None = None

    @property
    def is_writable(self) -> bool:
        """Whether a study can be written in this format."""
        return self.write is not None or self.write_images is not None

    def write_study(
        self, study: Study, tables: Tables, folder: Path, *, source: Path, licence: str | None = None
    ) -> Written:
        """Write a study; ``source`` is its folder. Formats without images have no place for a licence."""
        if self.write_images is not None:
            return self.write_images(study, tables, folder, source=source, licence=licence)
        if self.write is None:
            raise StudyError(self.about, ["this format can be read, but not written"])
        return self.write(study, tables, folder)


def questions_of(study: Study, kinds: Sequence[str], what: str) -> list[str]:
    """Names of the questions of these kinds; a study without any cannot be written in the format."""
    names = [question.name for question in study.questions if question.kind in kinds]
    if not names:
        has = ", ".join(f"'{question.name}' ({question.kind})" for question in study.questions)
        raise StudyError(
            f"{what} cannot be written", [f"no question of kind {' or '.join(kinds)}; the study has {has}"]
        )
    return names
