"""An improvement: a folder in the study folder with the images after, what was done to them, and its page.

    improvements/NAME/changes.parquet    one row per change; the same schemas as the study's tables
    improvements/NAME/gains.parquet      what it gained
    improvements/NAME/alarms.parquet     what gave warning
    improvements/NAME/proofs.parquet     what raters say
    improvements/NAME/after/             the images
    improvements/NAME/masks/             masks and heatmaps of a repair
    improvements/NAME/proof/             the study of the blind comparison
    improvements/NAME/improvement.html   all of it, on one page

The study's own images have one writer, the intake: an improvement never changes or adds any of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from beholder.errors import UserError
from beholder.tables.stages import STAGES
from beholder.tables.store import Store

ROOM = "improvements"
PAGE = "improvement.html"
TABLES = STAGES["improve"].outputs

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Improvement:
    """One improvement of a study, by its name."""

    study: Path
    name: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UserError(
                f"an improvement cannot be called {self.name!r}: small letters, digits, '.', '_' and '-' are "
                "expected, and a letter or digit first"
            )

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.study / ROOM / self.name

    @property
    def after(self) -> Path:
        """The folder of the images after."""
        return self.folder / "after"

    @property
    def masks(self) -> Path:
        """The folder of masks and heatmaps."""
        return self.folder / "masks"

    @property
    def proof(self) -> Path:
        """The study folder of the blind comparison."""
        return self.folder / "proof"

    @property
    def page(self) -> Path:
        """The page that shows all of it."""
        return self.folder / PAGE

    @property
    def store(self) -> Store:
        """Its tables; what they refer to is in the tables of the study."""
        return Store(self.study, f"{ROOM}/{self.name}")

    def relative(self, path: Path) -> str:
        """A path as the tables hold it: from the study folder on, or absolute where it lies elsewhere."""
        return (path.relative_to(self.study) if path.is_relative_to(self.study) else path.resolve()).as_posix()


def improvements_of(study: Path) -> Iterator[Improvement]:
    """All improvements of a study, by name."""
    for folder in sorted((study / ROOM).glob("*/")):
        if (folder / "changes.parquet").is_file():
            yield Improvement(study, folder.name)
