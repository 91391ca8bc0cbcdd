"""Predictions that a model saved with its weights, side by side with raters; torch is not needed."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.feedback.heatmap import encode_heatmap
from beholder.feedback.predictions import RichPredictions, write_predictions
from beholder.report.sections.rich_models import MOST_IMAGES, build_rich_models, prediction_files
from beholder.report.stage import PAGE, run
from beholder.report.tables.inputs import read_inputs
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.study.study import FILE_NAME, Study, dump_study, load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Row = dict[str, object]
NAMES = tuple(f"i{number}" for number in range(9))


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Nine images rated 1, 1.5, … 5, the better the later; one with marks; raters clicked its second word."""
    (tmp_path / FILE_NAME).write_text(
        dump_study(Study(name="s", title="S", questions=(RichFeedbackQuestion(name="feedback"),))),
        encoding="utf-8",
    )
    for name in NAMES:
        Image.new("RGB", (12, 8), (90, 120, 60)).save(tmp_path / f"{name}.png")
    common: Row = {"generator": "g", "real": False, "gold": False, "prompt": "p", "width": 12, "height": 8}
    images = [common | {"image": name, "path": f"{name}.png", "sha256": name} for name in NAMES]
    label: Row = {"question": "feedback", "aspect": "plausibility", "method": "mean", "answers": 3, "raters": 3}
    labels = [label | {"image": name, "value": 1 + place / 2} for place, name in enumerate(NAMES)]
    labels.append(label | {"image": "i0", "value": 1.0, "aspect": "misalignment", "method": "majority", "word": 1})
    region: Row = {"question": "feedback", "aspect": "implausibility", "image": "i0", "width": 4, "height": 4}
    frames = {
        "prompts": TABLES["prompts"].frame([{"prompt": "p", "text": "a cat"}]),
        "images": TABLES["images"].frame(images),
        "labels": TABLES["labels"].frame(labels),
        "regions": TABLES["regions"].frame([region | {"heatmap": encode_heatmap(np.eye(4)), "raters": 3}]),
    }
    Store(tmp_path).write(frames, Provenance("test", {}, 0, {}))
    return tmp_path


def predict(folder: Path, images: tuple[str, ...], value: float = 0.5) -> None:
    """What a model saves: a score that is the same for all, a heatmap, probabilities of words."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.json").write_text(json.dumps({"about": {"within": {"plausibility": 0.75}}}))
    predictions = RichPredictions(
        images,
        {"plausibility": np.full(len(images), value, np.float32)},
        {"implausibility": np.full((len(images), 4, 4), 0.25, np.float16)},
        [np.array([0.1, 0.9], np.float32)] * len(images),
        "weights",
    )
    write_predictions(folder / "predictions.npz", predictions)


def test_images_are_spread_from_the_worst_to_the_best(study: Path) -> None:
    predict(study / "models" / "rich", NAMES)
    (model,) = build_rich_models(load_study(study), read_inputs(study), study)
    assert (model.name, model.held_out, model.aspect) == ("rich", 9, "plausibility")
    assert MOST_IMAGES == 4
    assert [card.name for card in model.cards] == ["i0", "i3", "i5", "i8"]  # of 0 to 8: 0, 2.67, 5.33, 8
    worst = model.cards[0]
    assert [side.who for side in worst.sides] == ["model", "3 raters"]
    score = worst.scores[0]
    assert score.model is not None
    assert score.raters is not None
    assert (score.model.value, score.model.low, score.model.high, score.raters.value) == (0.5, 0.0, 1.0, 0.0)
    assert [[word.text for word in side.words if word.struck] for side in worst.sides] == [["cat"], ["cat"]]


def test_folds_belong_to_one_model(study: Path) -> None:
    predict(study / "models" / "rich" / "fold-0", NAMES[:4], 0.25)
    predict(study / "models" / "rich" / "fold-1", NAMES[4:], 0.75)
    (model,) = build_rich_models(load_study(study), read_inputs(study), study)
    assert model.held_out == 9
    values = [card.scores[0].model.value for card in model.cards if card.scores[0].model]
    assert values == [0.25, 0.25, 0.75, 0.75]


def test_the_report_shows_them_and_is_written_again_when_they_change(study: Path) -> None:
    run(study)
    assert 'id="seen"' not in (study / PAGE).read_text(encoding="utf-8")
    predict(study / "models" / "rich", NAMES)
    assert len(prediction_files(study)) == 1
    assert not run(study).skipped
    html = (study / PAGE).read_text(encoding="utf-8")
    assert html.count('<p class="small">3 raters</p>') == 1  # of the four, raters clicked words of one
    assert html.count('<article class="explained') == 4
    assert run(study).skipped
    predict(study / "models" / "rich", NAMES, 0.6)
    assert not run(study).skipped


def test_a_damaged_file_is_passed_over(study: Path) -> None:
    (study / "models" / "rich").mkdir(parents=True)
    (study / "models" / "rich" / "predictions.npz").write_bytes(b"nothing")
    assert build_rich_models(load_study(study), read_inputs(study), study) == ()
