"""Images of a study that a scorer was not trained on."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from beholder.improve.critic import Critic
from beholder.improve.pictures import StudyPicture
from beholder.improve.unseen import not_trained_on
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

HELD_OUT = (("model", 0, 0, True), ("model", 0, 1, True), ("model", 0, 2, False), ("model", 1, 2, True))
"""Model, fold, number of the image, and whether the model was trained without it."""


@pytest.fixture
def study(bare_study: Callable[..., Path]) -> Path:
    folder = bare_study(RatingQuestion(name="quality"), prompts=2, reals=0)
    images = Store(folder).read("images")["image"].to_list()
    rows: list[dict[str, object]] = [
        {"model": model, "fold": fold, "aspect": "overall", "image": images[number], "score": 0.5}
        | {"better": "higher", "held_out": without}
        for model, fold, number, without in HELD_OUT
    ]
    Store(folder).write({"predictions": TABLES["predictions"].frame(rows)}, Provenance("learn", {}, 0, {}))
    return folder


def unseen(study: Path, *folders: Path | None) -> list[int]:
    """The numbers of the images, of the first four, that no scorer was trained on."""
    images = Store(study).read("images")["image"].to_list()[:4]
    pictures = [StudyPicture(image, f"prompt {image}", "a", study / image) for image in images]
    critics = [
        Critic("scorer", "overall", lambda batch, _: np.zeros(len(batch)), folder=folder) for folder in folders
    ]
    return [images.index(picture.image) for picture in not_trained_on(study, pictures, [*critics, None])]


def test_only_held_out_images_of_the_study_s_own_model_count(study: Path) -> None:
    models = study / "models"
    assert unseen(study, models / "model") == [0, 1, 2]
    assert unseen(study, models / "model" / "fold-0") == [0, 1]
    assert unseen(study, models / "model" / "fold-1") == [2]
    assert unseen(study, models / "model" / "fold-0", models / "model" / "fold-1") == []
    assert unseen(study, models / "unfinished") == []


def test_every_image_counts_for_scorers_of_elsewhere(study: Path) -> None:
    assert unseen(study, None, study.parent / "other" / "models" / "model") == [0, 1, 2, 3]
