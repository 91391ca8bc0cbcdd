"""``beholder new``, as a user calls it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.study.study import load_study
from beholder.tables.store import Store


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_study_is_made_and_the_next_step_named(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    folder = tmp_path / "s"
    ran = run(
        *("new", "hype-infinity, hpd-pairs", folder, "--real", sources / "real"),
        *("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}"),
        *("--name", "my-study", "--title", "Which is real?", "--seed", "3", "--copy"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert "study 'my-study' with 6 images (2 real, 2 a, 2 b)" in ran.out
    assert "realism: realism, 60 raters × 100 trials" in ran.out
    assert f"beholder collect {folder}" in ran.out
    study = load_study(folder)
    assert (study.name, study.title, study.seed) == ("my-study", "Which is real?", 3)
    assert (folder / "images/a/0.png").is_file()


def test_numbers_and_manifest(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    (sources / "list.csv").write_text("path,generator,prompt\na/0.png,a,x\nb/0.png,b,x\n")
    ran = run("new", "mos", tmp_path / "s", "--manifest", sources / "list.csv", "--raters", "15", "--trials", "2")
    assert ran.code == 0
    assert "15 raters × 2 trials" in ran.out
    assert Store(tmp_path / "s").read("images")["path"].to_list() == ["../in/a/0.png", "../in/b/0.png"]


def test_faults_are_listed_and_nothing_is_written(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    (sources / "a/0.png").write_text("text")
    before = tree(tmp_path)
    ran = run("new", "hpd-pairs,nope", tmp_path / "s", "--generated", f"a={sources / 'a'}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {tmp_path}/s: the study was not made: 3 faults\n")
    for expected in (
        "protocol 'nope' is not known",
        "0.png: not an image that can be read",
        "at least 2 are needed",
    ):
        assert expected in ran.err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", ["folder", "=folder", "name="])
def test_a_generator_needs_name_and_folder(run: Callable[..., Any], tmp_path: Path, value: str) -> None:
    ran = run("new", "mos", tmp_path / "s", "--generated", value)
    assert ran.code == 2
    assert "not of the form NAME=DIR" in ran.err


def test_no_bar_where_no_one_looks(tmp_path: Path, sources: Path) -> None:
    line = [sys.executable, "-m", "beholder", "new", "mos", "s", "--generated", f"a={sources / 'a'}"]
    plain = {**os.environ, "TERM": "xterm"}
    ended = subprocess.run(line, cwd=tmp_path, env=plain, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert ended.stdout.startswith("s: study 's' with 2 images (2 a)\n")
