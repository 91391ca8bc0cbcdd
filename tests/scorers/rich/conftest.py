"""A small random model of rich feedback, and a study whose raters judged some images."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from beholder.feedback.heatmap import encode_heatmap
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, RichFeedbackSettings, TextModel
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Plain, Provenance, file_hash
from beholder.tables.store import Store

Row = dict[str, object]
SaveModel = Callable[..., Path]

SMALL = RichFeedbackSettings(
    image=ImageTower(side=16, patch=8, stem="convolutions", width=16, layers=1, heads=2),
    text=TextModel(width=16, head_width=8, heads=2, inner=16, layers=1, decoder_layers=1, longest=8),
    heads=Heads(heatmap=(4,), score=(4,), dense=()),
    words=("a", "cat", "mat", "on", "red"),
)
PROMPT = "a red cat, on a mat"
IMAGES = ("x", "y", "z")


@pytest.fixture(scope="session")
def save_model(tmp_path_factory: pytest.TempPathFactory) -> SaveModel:
    """Save a random model of that seed; ``changes`` are to its settings."""

    def save(seed: int = 0, about: dict[str, Plain] | None = None, **changes: object) -> Path:
        torch.manual_seed(seed)
        model = RichFeedbackModel(SMALL.model_copy(update=changes))
        folder = tmp_path_factory.mktemp("model") / f"m{seed}"
        save_checkpoint(
            folder, model, Record("rich-feedback", model.config, model.settings.scores, about=about or {})
        )
        return folder

    return save


@pytest.fixture(scope="session")
def rich_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three images; raters judged x (three raters) and y, whose file has another content than the table says."""
    folder = tmp_path_factory.mktemp("study")
    study = Study(name="rich", title="Rich", questions=(RichFeedbackQuestion(name="feedback"),))
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    rng = np.random.default_rng(0)
    for name in IMAGES:
        Image.fromarray(rng.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(folder / f"{name}.png")
    images: list[Row] = [
        {"image": name, "path": f"{name}.png", "generator": "g", "real": False, "gold": False, "prompt": "p"}
        | {"width": 30, "height": 20, "sha256": file_hash(folder / f"{name}.png") if name != "y" else "other"}
        for name in IMAGES
    ]
    heatmap = np.zeros((20, 30))
    heatmap[15:, 25:] = 1
    labels = [
        _label("x", "plausibility", 2.0, low=0.5, high=3.5),
        _label("x", "overall", 5.0),
        _label("y", "overall", 1.0),
        _label("x", "misalignment", 2 / 3, method="majority", word=2),
    ]
    region: Row = {"question": "feedback", "aspect": "implausibility", "image": "x", "width": 30, "height": 20}
    frames = {
        "prompts": TABLES["prompts"].frame([{"prompt": "p", "text": PROMPT}]),
        "images": TABLES["images"].frame(images),
        "labels": TABLES["labels"].frame(labels),
        "regions": TABLES["regions"].frame([region | {"heatmap": encode_heatmap(heatmap), "raters": 3}]),
    }
    Store(folder).write(frames, Provenance("test", {}, 0, {}))
    return folder


def _label(image: str, aspect: str, value: float, *, method: str = "mean", **more: object) -> Row:
    common: Row = {"question": "feedback", "aspect": aspect, "method": method, "image": image, "value": value}
    return common | {"answers": 3, "raters": 3, **more}
