"""Running the command line as a user does, without a process for each call."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.cli.main import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*arguments: str | Path) -> Ran:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Folders real, a and b with two images each; generated ones with prompts."""
    rng = np.random.default_rng(0)
    for generator in ("real", "a", "b"):
        for i in range(2):
            file = tmp_path / "in" / generator / f"{i}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).save(file)
            file.with_suffix(".txt").write_text(f"prompt {i}")
    return tmp_path / "in"
