"""The commands on metrics: results as a table and as JSON, and every fault in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.tables.store import TRUTH_ROOM, Store

Run = Callable[..., Any]


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, shift in (("real", 0), ("near", 0), ("far", 90)):
        (tmp_path / name).mkdir()
        for place in range(12):
            pixels = rng.integers(0, 120, (8, 8, 3), dtype=np.uint8) + np.uint8(shift)
            Image.fromarray(pixels).save(tmp_path / name / f"{place:02d}.png")
    return tmp_path


class TestDistance:
    def test_the_farther_set_is_farther(self, run: Run, sets: Path) -> None:
        places = (sets / "real", sets / "near", sets / "far")
        ran = run("distance", *places, "--encoder", "pixel", "--metric", "frechet", "--metric", "kernel", "--json")
        assert ran.code == 0
        rows = json.loads(ran.out)
        assert [(Path(row["generated"]).name, row["name"]) for row in rows] == [
            *(("near", "frechet"), ("near", "kernel"), ("far", "frechet"), ("far", "kernel"))
        ]
        assert rows[0]["value"] < rows[2]["value"]
        assert rows[0]["encoder"].startswith("pixel@")
        assert rows[0]["generated_images"] == rows[0]["real_images"] == 12

    def test_a_table(self, run: Run, sets: Path) -> None:
        ran = run("distance", sets / "real", sets / "far", "--encoder", "pixel", "--metric", "kernel")
        assert ran.code == 0
        assert "95 % CI" in ran.out
        assert "12 and 12" in ran.out

    def test_all_wrong_names_at_once(self, run: Run, sets: Path) -> None:
        ran = run(
            "distance", sets / "real", sets / "far", "--encoder", "dino", "--metric", "frechett", "--metric", "ct"
        )
        assert ran.code == 2
        assert "encoder 'dino' is not known; known: pixel" in ran.err
        assert "metric 'frechett' is not known; known: frechet" in ran.err
        assert "Did you mean 'frechet'?" in ran.err
        assert "'ct' needs --train" in ran.err

    def test_empty_and_missing_folders(self, run: Run, sets: Path) -> None:
        (sets / "empty").mkdir()
        ran = run("distance", sets / "empty", sets / "nowhere", "--encoder", "pixel")
        assert ran.code == 2
        assert "no images here" in ran.err
        assert "no such file or folder" in ran.err

    def test_two_images_and_identical_sets(self, run: Run, sets: Path) -> None:
        (sets / "few").mkdir()
        for name in ("00.png", "01.png"):
            (sets / "few" / name).write_bytes((sets / "far" / name).read_bytes())
        ran = run("distance", sets / "real", sets / "few", "--encoder", "pixel", "--metric", "precision")
        assert ran.code == 2
        assert "2 generated images; needed are at least 6 for k = 5 neighbours" in ran.err
        ran = run("distance", sets / "far", sets / "far", "--encoder", "pixel", "--metric", "frechet", "--json")
        assert json.loads(ran.out)[0]["value"] == pytest.approx(0, abs=1e-9)  # the last bits differ by processor

    def test_broken_images(self, run: Run, sets: Path) -> None:
        (sets / "far" / "broken.png").write_bytes(b"no image")
        call = ("distance", sets / "real", sets / "far", "--encoder", "pixel", "--metric", "kernel")
        ran = run(*call)
        assert ran.code == 2
        assert "broken.png" in ran.err
        ran = run(*call, "--skip-broken")
        assert ran.code == 0
        assert "skipped: 1 generated" in ran.err


class TestScore:
    def test_scores_and_prompts(self, run: Run, sets: Path) -> None:
        prompts = sets / "prompts.csv"
        prompts.write_text("image,prompt\n" + "".join(f"{n:02d}.png,{'word ' * (n + 1)}\n" for n in range(12)))
        scorers = ("--scorer", "brightness", "--scorer", "prompt-length")
        ran = run("score", sets / "far", *scorers, "--prompts", prompts, "--json")
        assert ran.code == 0
        scores = json.loads(ran.out)["scores"]
        assert [row["prompt-length"] for row in scores] == list(range(1, 13))
        assert all(90 / 255 < row["brightness"] < 210 / 255 for row in scores)

    def test_a_table(self, run: Run, sets: Path) -> None:
        ran = run("score", sets / "far" / "00.png", "--scorer", "contrast")
        assert ran.code == 0
        assert ran.out.split()[:2] == ["image", "contrast"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("--scorer", "sharp"), "scorer 'sharp' is not known; known: sharpness"),
            (("--scorer", "prompt-length"), "needs prompts"),
            (("--scorer", "contrast", "--weights", "clip"), "NAME=PLACE"),
            (("--scorer", "aesthetic"), "needs a file"),
        ],
    )
    def test_faults(self, run: Run, sets: Path, arguments: tuple[str, ...], message: str) -> None:
        ran = run("score", sets / "far", *arguments)
        assert ran.code == 2
        assert message in ran.err

    def test_images_without_a_prompt_are_named(self, run: Run, sets: Path) -> None:
        prompts = sets / "prompts.csv"
        prompts.write_text("image,prompt\n00.png,a\n")
        ran = run("score", sets / "far", "--scorer", "prompt-length", "--prompts", prompts)
        assert ran.code == 2
        assert "01.png" in ran.err
        assert "and 6 more" in ran.err


def test_measure_needs_a_study(run: Run, tmp_path: Path) -> None:
    ran = run("measure", tmp_path)
    assert ran.code == 2
    assert "no study.toml here" in ran.err


def test_what_the_verdicts_rest_on_is_said_before_them(run: Run, painted_study: Callable[..., Path]) -> None:
    """Neither simulated raters nor answers that have changed since may pass for a finding about metrics."""
    folder = painted_study(PairQuestion(name="preference", design=Design(raters=6, trials=10)))
    measure = ("measure", folder, "--scorer", "sharpness", "--metric", "vendi", "--encoder", "pixel")
    assert run("run", folder, "--simulate", 6, "--include-excluded", "--quiet").code == 0
    included, simulated, invented = (
        "With the answers of raters whom screening excludes",
        "Simulated raters gave these answers.",
        " They know nothing about your images: this is a rehearsal, no finding about the metrics.",
    )
    printed = run(*measure).out
    assert printed.index(included) < printed.index(simulated) < printed.index("preference · preference")
    assert invented not in printed
    Store(folder, TRUTH_ROOM).path("scores").unlink()
    assert simulated + invented in run(*measure).out
    assert run("consolidate", folder, "--quiet").code == 0
    caveats = json.loads(run(*measure, "--json").out)["caveats"]
    assert caveats[0] == simulated + invented
    assert caveats[1].startswith("The answers have changed since the ratings were computed")
