"""Settings of the generate stage."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from beholder.study.generating import AnyGenerator

Energy = Literal["codecarbon"]


@dataclass(frozen=True, slots=True)
class GenerateSettings:
    """Which generators, for which prompts, how many images of which size."""

    generators: tuple[AnyGenerator, ...] = ()
    """Empty: those of the study file."""
    only: tuple[str, ...] = ()
    """Names of those that are run; empty: all."""
    prompts: Path | None = None
    """A file of prompts; ``None``: the prompts of the study."""
    samples: int = 1
    """Images per prompt and generator."""
    width: int | None = None
    height: int | None = None
    seed: int | None = None
    """``None``: that of the study, or 0."""
    retry: bool = False
    """Whether what was refused or failed before is attempted again."""
    energy: Energy | None = None
