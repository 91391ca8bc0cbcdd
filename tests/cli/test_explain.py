"""``beholder explain``: what is printed, what is written, and every fault in a sentence."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tests.engines.pickling import PicklingEngine

from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import (
    HEATMAPS,
    SCORES,
    Heads,
    ImageTower,
    RichFeedbackSettings,
    TextModel,
)
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.tables.provenance import Plain

explain_command = import_module("beholder.cli.explain")

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two images, and a small random model."""
    folder = tmp_path_factory.mktemp("room")
    rng = np.random.default_rng(0)
    for name in ("one", "two"):
        Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(folder / f"{name}.png")
    torch.manual_seed(0)
    model = RichFeedbackModel(
        RichFeedbackSettings(
            image=ImageTower(side=16, patch=8, width=16, layers=1, heads=2),
            text=TextModel(width=16, head_width=8, heads=2, inner=16, layers=1, decoder_layers=1),
            heads=Heads(heatmap=(4,), score=(4,), dense=()),
            words=("a", "cat"),
        )
    )
    about: dict[str, Plain] = {"within": {"plausibility": 0.2}}
    save_checkpoint(folder / "m", model, Record("rich-feedback", model.config, model.settings.scores, about=about))
    return folder


def test_a_table(run: Run, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = np.array([0.2, 0.9, np.nan])
    monkeypatch.setattr(RichFeedbackModel, "_misaligned_probabilities", lambda *_: (marks, marks))
    ran = run("explain", room / "one.png", room / "two.png", "--model", room / "m", "--prompt", "A cat, asleep.")
    assert ran.code == 0
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert lines[0].endswith("one.png")
    assert lines[1] == "prompt           A [cat], asleep."
    cells = dict(line.split(maxsplit=1) for line in lines[2:8])
    assert list(cells) == [*SCORES, *HEATMAPS]
    value, interval = cells["plausibility"].split("  ")
    low, high = map(float, interval.split(" to "))
    assert high - low == pytest.approx(0.4, abs=0.011)
    assert low < float(value) < high
    assert "two.png" in ran.out


def test_everything_but_pixels_as_json(run: Run, room: Path, tmp_path: Path) -> None:
    page = tmp_path / "deep" / "page.html"
    ran = run("explain", room / "one.png", "--model", room / "m", "--prompt", "a cat", "--json", "--out", page)
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert printed["models"][0]["within"] == {"plausibility": 0.2}
    image = printed["images"][0]
    assert (image["prompt"], image["people"], image["note"]) == ("a cat", None, None)
    assert image["model"]["scores"]["plausibility"]["basis"] == "held-out"
    assert image["model"]["scores"]["overall"] == image["model"]["scores"]["overall"] | {
        "low": None,
        "basis": None,
    }
    summary = image["model"]["heatmaps"]["misalignment"]
    assert set(summary) == {"peak", "x", "y", "mean", "above_half", "where"}
    assert [word["word"] for word in image["model"]["words"]] == ["a", "cat"]
    assert printed["page"] == str(page)
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give prompts with --prompt or --prompts, or a study"),
        (("--prompt", "a", "--prompts", "b.csv"), "either --prompts or --prompt"),
        (("--prompts", "nowhere.csv"), "nowhere.csv: cannot be read"),
        (("--prompt", "a", "--model", "elsewhere"), "elsewhere: no model.json here"),
        (("--study", "nowhere"), "nowhere"),
        (("--prompt", "a", "--device", "abacus"), "device 'abacus' cannot be used here"),
    ],
)
def test_faults(run: Run, room: Path, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    page = tmp_path / "page.html"
    ran = run("explain", room / "one.png", "--model", room / "m", "--out", page, *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert not page.exists()


def test_broken_images_are_left_out_if_asked_for(run: Run, room: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"")
    call = ("explain", room / "one.png", tmp_path / "broken.png", "--model", room / "m", "--prompt", "a")
    assert "broken.png: the file is empty" in run(*call).err
    ran = run(*call, "--skip-broken")
    assert ran.code == 0
    assert "1 broken image left out" in ran.err


def test_an_engine_keeps_what_is_done(
    run: Run, room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engines = [PicklingEngine(), PicklingEngine()]
    opened = iter(engines)
    monkeypatch.setattr(explain_command, "open_engine", lambda *_, **__: nullcontext(next(opened)))
    command = ("explain", room / "one.png", "--model", room / "m", "--prompt", "a cat", "--json")
    by_engine = (*command, "--engine", "ray", "--keep", tmp_path / "keep")
    first, second = run(*by_engine), run(*by_engine)
    assert [engine.done for engine in engines] == [2, 1]  # the hash and the shard, then the hash alone
    monkeypatch.undo()
    assert first.out == second.out == run(*command).out
