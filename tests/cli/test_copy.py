"""``beholder copy --shards`` and ``--loose``: images as tar files, and back."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

Run = Callable[..., Any]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(5):
        Image.new("RGB", (8, 8), (40 * number, 0, 0)).save(folder / f"{number}.png")
    rows = [f"{number}.png,{'red ' * (number + 1)}circle" for number in range(5)]
    (folder / "prompts.csv").write_text("\n".join(["file,prompt", *rows]) + "\n")
    return folder


def test_a_folder_becomes_tar_files_whose_prompts_scorers_read(run: Run, pictures: Path, tmp_path: Path) -> None:
    copied = run("copy", pictures, tmp_path / "shards", "--shards", "2", "--json")
    assert (copied.code, json.loads(copied.out)["files"]) == (0, 3)
    scored = run("score", tmp_path / "shards", "--scorer", "prompt-length", "--json")
    assert [(row["image"], row["prompt-length"]) for row in json.loads(scored.out)["scores"]] == [
        (f"{number}.png", number + 2) for number in range(5)
    ]
    assert run("copy", tmp_path / "shards", tmp_path / "loose", "--loose").code == 0
    written = {path.name: path.read_bytes() for path in (tmp_path / "loose").iterdir()}
    assert written.keys() == {path.name for path in pictures.iterdir()}
    assert all(written[f"{number}.png"] == (pictures / f"{number}.png").read_bytes() for number in range(5))


def test_faults_are_sentences(run: Run, pictures: Path, tmp_path: Path) -> None:
    both = run("copy", pictures, tmp_path / "shards", "--shards", "2", "--loose")
    assert both.code == 2
    assert "either --shards or --loose" in both.err
    (tmp_path / "empty").mkdir()
    nothing = run("copy", tmp_path / "empty", tmp_path / "shards", "--shards", "2")
    assert nothing.code == 2
    assert "no images here" in nothing.err
    lacking = run("score", pictures, "--scorer", "prompt-length")  # loose files have no prompts of their own
    assert lacking.code == 2
    assert "needs prompts" in lacking.err
