"""Every command that may take long prints lines where stderr is no terminal: what it does, and how far it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.cli import progress

Run = Callable[..., Any]
AGIQA = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align\n"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)


@pytest.fixture
def answered(run: Run, sources: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    images = ("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}")
    assert run("new", "hpd-pairs", folder, *images, "--raters", 6).code == 0
    assert run("collect", folder, "--simulate", 6).code == 0
    return folder


def test_stages(run: Run, answered: Path) -> None:
    for command in (("consolidate", "--quiet"), ("rank", "--force", "--quiet"), ("report",)):
        ran = run(command[0], answered, *command[1:])
        assert ran.code == 0, ran.err
        assert f"{command[0]}: 0 s so far" in ran.err
    measured = run("measure", answered, "--scorer", "brightness", "--metric", "vendi", "--encoder", "pixel")
    assert measured.code == 0, measured.err
    assert "measure: 0 s so far" in measured.err


def test_images(run: Run, sources: Path) -> None:
    scored = run("score", sources / "a", "--scorer", "nss-shape")
    assert (scored.code, scored.err.splitlines()[0][:7]) == (0, "images:")
    distance = run("distance", sources / "real", sources / "a", "--encoder", "pixel", "--metric", "frechet")
    assert distance.code == 0, distance.err
    assert "so far" in distance.err


def test_imports(run: Run, tmp_path: Path) -> None:
    rows = [f"sd1.5_normal_{n:03d}.jpg,a cat {n},,,,3.{n},.5,2.{n},.5\n" for n in range(9)]
    (tmp_path / "data.csv").write_text(AGIQA + "".join(rows), encoding="utf-8")
    ran = run("import", "agiqa", tmp_path / "data.csv", tmp_path / "study")
    assert ran.code == 0, ran.err
    assert "import: 0 s so far" in ran.err
