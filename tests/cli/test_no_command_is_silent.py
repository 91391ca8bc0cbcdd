"""Every command that may take long prints lines where stderr is no terminal: what it does, and how far it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from beholder.cli import progress

Run = Callable[..., Any]
AGIQA = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align\n"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)


def test_stages(run: Run, sources: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    images = ("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}")
    assert run("new", "hpd-pairs", folder, *images, "--raters", 6).code == 0
    every = ["design", "collect", "consolidate", "rank", "powered", "report"]
    few = ("--scorer", "brightness", "--metric", "vendi", "--encoder", "pixel")
    for labels, command in (
        (["simulated raters"], ("collect", folder, "--simulate", 6)),
        (["consolidate"], ("consolidate", folder, "--quiet")),
        (["rank"], ("rank", folder, "--force", "--quiet")),
        (["board"], ("board", folder, "--quiet")),
        (["report"], ("report", folder)),
        (["measure"], ("measure", folder, *few)),
        (["export"], ("export", folder, "--format", "csv", "--out", tmp_path / "out")),
        (every, ("run", folder, "--force", "--quiet", "--simulate", 6)),
    ):
        ran = run(*command)
        assert ran.code == 0, ran.err
        for label in labels:
            assert f"{label}: 0 s so far" in ran.err, command


def test_curation(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("a red cat\na blue dog on a table\n", encoding="utf-8")
    ran = run("curate", tmp_path / "prompts", "--prompts", tmp_path / "mine.txt")
    assert ran.code == 0, ran.err
    assert "curate: 0 s so far" in ran.err


def test_images(run: Run, sources: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = progress._State.report

    def print_at_once(state: progress._State, part: str, done: int, total: int) -> None:
        report(state, part, done, total)
        click.echo(str(state), err=True)

    monkeypatch.setattr(progress._State, "report", print_at_once)  # distances are computed within a millisecond
    scored = run("score", sources / "a", "--scorer", "nss-shape")
    assert (scored.code, scored.err.splitlines()[0][:7]) == (0, "images:")
    distance = run("distance", sources / "real", sources / "a", "--encoder", "pixel", "--metric", "frechet")
    assert distance.code == 0, distance.err
    assert f"distances of {sources / 'a'}: 0 s so far" in distance.err


def test_imports(run: Run, tmp_path: Path) -> None:
    rows = [f"sd1.5_normal_{n:03d}.jpg,a cat {n},,,,3.{n},.5,2.{n},.5\n" for n in range(9)]
    (tmp_path / "data.csv").write_text(AGIQA + "".join(rows), encoding="utf-8")
    ran = run("import", "agiqa", tmp_path / "data.csv", tmp_path / "study")
    assert ran.code == 0, ran.err
    assert "import: 0 s so far" in ran.err
