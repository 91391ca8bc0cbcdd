"""From a folder of images to a leaderboard in the terminal: two commands, no file edited, by every protocol."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.study.protocols.catalogue import PROTOCOLS

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real images and those of nine generators, eight of each."""
    root = tmp_path_factory.mktemp("first-hour")
    rng = np.random.default_rng(0)
    for generator in ("real", *(f"g{number}" for number in range(9))):
        (root / generator).mkdir()
        for number in range(8):
            pixels = rng.integers(0, 256, (16, 16, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(root / generator / f"{number}.png")
            (root / generator / f"{number}.txt").write_text(f"prompt number {number}")
    return root


def options(pictures: Path, protocol: str) -> list[str]:
    """Folders of two generators, or of nine where nine images are ranked."""
    names = [f"g{number}" for number in range(9 if protocol == "hpd-ranking" else 2)]
    generated = [part for name in names for part in ("--generated", f"{name}={pictures / name}")]
    return [*generated, *(["--real", str(pictures / "real")] if PROTOCOLS[protocol].needs_real else [])]


@pytest.mark.parametrize("protocol", list(PROTOCOLS))
def test_a_leaderboard_in_two_commands(run: Run, pictures: Path, tmp_path: Path, protocol: str) -> None:
    folder = tmp_path / "study"
    made = run("new", protocol, folder, *options(pictures, protocol))
    assert made.code == 0, made.err
    assert "changed to fit: " in made.out
    ran = run("run", folder, "--simulate", 14)
    assert ran.code == 0, ran.err
    header = next(line for line in ran.out.splitlines() if line.startswith("rank  generator  "))
    first = ran.out.splitlines()[ran.out.splitlines().index(header) + 2]
    assert first.split()[0].startswith("1")
    assert first.split()[1].startswith("g")
    assert "inter-rater agreement\n" in ran.out
    assert " excluded by screening" in ran.out
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("protocol", ["hpd-pairs", "mos", "rich-feedback"])
def test_trying_it_on_oneself(run: Run, pictures: Path, tmp_path: Path, protocol: str) -> None:
    """A single rater sees every image once, and gets results with whatever screening says."""
    folder = tmp_path / "study"
    assert run("new", protocol, folder, *options(pictures, protocol), "--raters", 1).code == 0
    ran = run("run", folder, "--simulate", 1, "--include-excluded")
    assert ran.code == 0, ran.err
    assert "rank  generator  " in ran.out
    assert "With the answers of raters whom screening excludes (--include-excluded)" in ran.out
