from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from beholder.feedback.heatmap import encode_heatmap
from beholder.images.background import DEFAULT_BACKGROUND as GREY
from beholder.report.sections.heatmaps import Heatmaps, build_heatmaps
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Row = dict[str, object]

PROMPT = "A red cat, on a mat"
FEEDBACK = RichFeedbackQuestion(name="feedback")


def image_row(name: str, has_file: bool) -> Row:
    return {"image": name, "path": f"{name}.png", "generator": "g", "real": False, "gold": False} | {
        "prompt": "p",
        "width": 8,
        "height": 8,
        "sha256": "x" if has_file else "unknown",
    }


def label(image: str, value: float, **more: object) -> Row:
    return {"question": "feedback", "aspect": "plausibility", "method": "mean", "image": image} | {
        "value": value,
        "low": value - 2,
        "high": value + 2,
        "answers": 3,
        "raters": 3,
        **more,
    }


def heatmaps_of(folder: Path, *, has_file: bool) -> Heatmaps:
    """Two badly rated images: x with few marks, y with many; words of y's prompt clicked by 2 and 1 of 3."""
    store = Store(folder)
    names = ["x", "y"]
    for name in names:
        Image.new("RGB", (8, 8), (90, 120, 60)).save(folder / f"{name}.png")
    few, many = np.zeros((8, 8)), np.zeros((8, 8))
    few[0, 0], many[:4] = 1.0, 2 / 3
    regions: list[Row] = [
        {"question": "feedback", "aspect": aspect, "image": name, "heatmap": encode_heatmap(heatmap)}
        | {"width": 8, "height": 8, "raters": 3}
        for aspect, pair in (("implausibility", (few, many)), ("misalignment", (few * 0, few * 0)))
        for name, heatmap in zip(names, pair, strict=True)
    ]
    words = [
        label("y", proportion, aspect="misalignment", method="majority", word=word)
        for word, proportion in ((1, 2 / 3), (2, 1 / 3))
    ]
    frames: dict[str, pl.DataFrame] = {
        "prompts": TABLES["prompts"].frame([{"prompt": "p", "text": PROMPT}]),
        "images": TABLES["images"].frame([image_row(name, has_file) for name in names]),
        "labels": TABLES["labels"].frame([label("x", 1.5), label("y", 2.0), *words]),
        "regions": TABLES["regions"].frame(regions),
    }
    store.write(frames, Provenance("test", {}, 0, {}))
    heatmaps = build_heatmaps(
        FEEDBACK,
        [],
        frames["labels"],
        frames["images"],
        {"p": PROMPT},
        store.path("regions"),
        folder,
        GREY,
    )
    assert heatmaps is not None
    return heatmaps


def test_the_image_with_the_most_marked_is_shown_with_its_words(tmp_path: Path) -> None:
    heatmaps = heatmaps_of(tmp_path, has_file=True)
    marked, other = heatmaps.images  # of one generator several are shown, the most marked first
    assert other.layers[0].marked == pytest.approx(1 / 64)
    assert (marked.generator, marked.raters) == ("g", 3)
    assert marked.rated == "plausibility 2.00 (1.0 to 4.0), 3 answers"
    assert [(layer.aspect, layer.marked) for layer in marked.layers] == [
        ("implausibility", 0.5),
        ("misalignment", 0.0),
    ]
    assert marked.layers[0].peak == pytest.approx(2 / 3, abs=1 / 255)
    assert "implausibility marked on 50 % of the area, by up to 67 % of 3 raters" in marked.layers[0].alt
    assert [word.text for word in marked.words if word.struck] == ["red"]
    assert [word.note != "" for word in marked.words] == [False, True, True, False, False, False]
    assert "".join(word.before + word.text for word in marked.words) == PROMPT
    assert marked.source is not None


def test_without_the_image_the_map_stands_alone(tmp_path: Path) -> None:
    marked = heatmaps_of(tmp_path, has_file=False).images[0]
    assert marked.source is None
    assert marked.layers[0].source.startswith("data:image/webp;base64,")


def test_without_regions_there_is_nothing(tmp_path: Path) -> None:
    empty = TABLES["labels"].empty()
    nowhere = tmp_path / "regions.parquet"
    images = TABLES["images"].empty()
    assert build_heatmaps(FEEDBACK, [], empty, images, {}, nowhere, tmp_path, GREY) is None
