"""``beholder score`` with preference models: scores, what they mean, calibration; every fault in a sentence."""

import json
import os

os.environ["HF_HUB_OFFLINE"] = "1"

from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from tests.engines.pickling import PicklingEngine

from beholder.scorers.shards.in_shards import SHARD

score_command = import_module("beholder.cli.score")

Run = Callable[..., Any]

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random PickScore, images, a reference, and choices that follow brightness."""
    folder = tmp_path_factory.mktemp("room")
    torch.manual_seed(0)
    vision = {"image_size": 32, "patch_size": 8, **SMALL}
    config = transformers.CLIPConfig(text_config=dict(SMALL), vision_config=vision, projection_dim=12)
    transformers.CLIPModel(config).save_pretrained(folder / "pick")
    rng = np.random.default_rng(0)
    for name, count in (("mine", 6), ("known", 9)):
        (folder / name).mkdir()
        for number in range(count):
            pixels = rng.integers(0, 40, (20, 20, 3), dtype=np.uint8) + np.uint8(20 * number)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    rows = [f"{i}.png,{j}.png,{1 if i > j else 0}" for i in range(6) for j in range(6) if i != j]
    contradicting = ["1.png,0.png,0", "3.png,2.png,0.5"]
    (folder / "choices.csv").write_text("first,second,share\n" + "\n".join(rows + contradicting) + "\n")
    return folder


def pick(room: Path) -> tuple[str, ...]:
    return ("--scorer", "pickscore", "--weights", f"pickscore={room / 'pick'}", "--prompt", "a red cat")


def test_scores_with_their_meaning(run: Run, room: Path) -> None:
    ran = run("score", room / "mine", *pick(room), "--reference", room / "known", "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    assert printed["scorers"][0].startswith("pickscore@")
    assert printed["reference"]["pickscore"] == {"images": 9, "scale": 1.0, "scale_from": "training"}
    meanings = [row["meaning"]["pickscore"] for row in printed["scores"]]
    assert all(0 <= meaning["percentile"] <= 100 and 0 < meaning["chance"] < 1 for meaning in meanings)
    order = np.argsort([row["pickscore"] for row in printed["scores"]])
    assert np.all(np.diff([meanings[place]["chance"] for place in order]) >= 0)


def test_a_table(run: Run, room: Path) -> None:
    ran = run("score", room / "mine", *pick(room), "--reference", room / "known")
    assert ran.code == 0
    assert ran.out.split()[:4] == ["image", "pickscore", "percentile", "preferred"]
    assert "percentile among 9 reference images" in ran.err
    assert "as it was trained, not calibrated" in ran.err
    plain = run("score", room / "mine", "--scorer", "brightness", "--reference", room / "known")
    assert "preferred" not in plain.out
    assert "no probability to be preferred without --choices" in plain.err


def test_calibrated_on_choices(run: Run, room: Path) -> None:
    call = ("score", room / "mine", "--scorer", "brightness", "--choices", room / "choices.csv")
    ran = run(*call, "--reference", room / "known", "--json")
    assert ran.code == 0
    printed = json.loads(ran.out)
    calibration = printed["calibration"]["brightness"]
    assert calibration["pairs"] == 32
    assert calibration["scale"]["value"] > 0
    assert sum(row["pairs"] for row in calibration["reliability"]) == 32
    assert printed["reference"]["brightness"]["scale_from"] == "choices"
    assert printed["reference"]["brightness"]["scale"] == pytest.approx(calibration["scale"]["value"])
    ran_again = run(*call)
    assert "calibration error" in ran_again.err
    assert "would be chance" in ran_again.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scorer", "hps-v2"), "hps-v2 needs prompts: give a file with --prompts, or one with --prompt"),
        (
            ("--scorer", "hps-v2", "--prompt", "a"),
            "'xswu/HPSv2' is no file or folder here and could not be fetched",
        ),
        (("--scorer", "nowhere", "--prompt", "a"), "or a folder with a trained model (model.json)"),
        (("--scorer", "brightness", "--choices", "nowhere.csv"), "cannot be read as a table"),
        (("--scorer", "brightness", "--reference", "nowhere"), "no such file or folder"),
        (("--scorer", "pickscore", "--prompt", "a", "--prompts", "b.csv"), "either --prompts or --prompt"),
    ],
)
def test_faults(run: Run, room: Path, arguments: tuple[str, ...], message: str) -> None:
    ran = run("score", room / "mine", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_device_that_is_not_there(run: Run, room: Path) -> None:
    ran = run("score", room / "mine", *pick(room), "--device", "abacus")
    assert ran.code == 2
    assert "device 'abacus' cannot be used here" in ran.err


@pytest.mark.parametrize("column", ["file", "image"])
def test_prompts_go_by_either_column(run: Run, room: Path, tmp_path: Path, column: str) -> None:
    prompts = tmp_path / "prompts.csv"
    prompts.write_text(f"{column},prompt\n" + "".join(f"{number}.png,{'a ' * number}b\n" for number in range(9)))
    ran = run(
        *("score", room / "mine", "--scorer", "prompt-length", "--prompts", prompts, "--json"),
        *("--reference", room / "known", "--reference-prompts", prompts),
    )
    assert ran.code == 0, ran.err
    assert [row["prompt-length"] for row in json.loads(ran.out)["scores"]] == [1, 2, 3, 4, 5, 6]


def test_a_scorer_by_the_name_of_its_paper(run: Run, room: Path) -> None:
    ran = run("score", room / "mine", "--scorer", "CLIPScore", "--prompt", "a")
    assert "CLIPScore: clip-score" in ran.err


def test_a_stopped_run_of_an_engine_goes_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    images = tmp_path / "images.npy"
    np.save(images, rng.integers(0, 256, (SHARD + 5, 8, 8, 3), np.uint8))
    engines = [PicklingEngine(most=2), PicklingEngine()]
    opened = iter(engines)
    monkeypatch.setattr(score_command, "open_engine", lambda *_, **__: nullcontext(next(opened)))
    command = ("score", images, "--scorer", "sharpness", "--json")
    by_engine = (*command, "--engine", "ray", "--keep", tmp_path / "keep")
    assert run(*by_engine).code != 0
    resumed = run(*by_engine)
    assert [engine.done for engine in engines] == [2, 2]  # the hashes and a shard each
    monkeypatch.undo()
    assert resumed.out == run(*command).out
    refused = run(*command, "--keep", tmp_path / "keep")
    assert refused.code == 2
    assert "give --engine ray too" in refused.err
