"""Rich feedback on some images as arrays by name, which files and messages hold, and back, to the last bit."""

import json
from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from beholder.engines.kept import Arrays
from beholder.feedback.image_feedback import AspectScore, Basis, ImageFeedback
from beholder.images.reading import BrokenImage
from beholder.images.sources import ImageSource
from beholder.models.explained import Explained
from beholder.scorers.rich.explain import ExplainedPart

ABOUT = "about"
"""The array of one text that says what all others are; they are numbered."""


class _Feedback(TypedDict):
    scores: dict[str, tuple[float, float | None, float | None, Basis | None]]
    heatmaps: dict[str, int]
    missed: int | None
    people: int


class _Image(TypedDict):
    place: int
    prompt: str
    note: str
    shift: float | None
    model: _Feedback
    people: _Feedback | None


class _Part(TypedDict):
    explained: list[_Image]
    without_prompt: list[str]
    broken: list[tuple[str, str]]


def to_arrays(part: ExplainedPart, sources: Sequence[ImageSource]) -> Arrays:
    """Return the feedback as arrays; its images are some of ``sources``, and stay there."""
    arrays: list[NDArray[np.generic]] = []
    places = {id(source): place for place, source in enumerate(sources)}
    about: _Part = {
        "explained": [
            {
                "place": places[id(image.picture)],
                "prompt": image.prompt,
                "note": image.note,
                "shift": image.shift,
                "model": _plain(image.model, arrays),
                "people": None if image.people is None else _plain(image.people, arrays),
            }
            for image in part.explained
        ],
        "without_prompt": list(part.without_prompt),
        "broken": [(image.name, image.reason) for image in part.broken],
    }
    return {ABOUT: np.array([json.dumps(about)]), **{str(number): array for number, array in enumerate(arrays)}}


def from_arrays(arrays: Arrays, sources: Sequence[ImageSource]) -> ExplainedPart:
    """Return the feedback on images of ``sources``."""
    about: _Part = json.loads(str(arrays[ABOUT][0]))
    return ExplainedPart(
        tuple(
            Explained(
                sources[image["place"]],
                image["prompt"],
                _feedback(image["model"], arrays),
                None if image["people"] is None else _feedback(image["people"], arrays),
                image["note"],
                image["shift"],
            )
            for image in about["explained"]
        ),
        tuple(about["without_prompt"]),
        tuple(BrokenImage(name, reason) for name, reason in about["broken"]),
    )


def _plain(feedback: ImageFeedback, arrays: list[NDArray[np.generic]]) -> _Feedback:
    """Return all numbers but those of arrays, which are added to the others and named by their number."""

    def added(array: NDArray[np.generic]) -> int:
        arrays.append(array)
        return len(arrays) - 1

    return {
        "scores": {
            aspect: (
                float(score.value),
                None if score.low is None else float(score.low),
                None if score.high is None else float(score.high),
                score.basis,
            )
            for aspect, score in feedback.scores.items()
        },
        "heatmaps": {aspect: added(heatmap) for aspect, heatmap in feedback.heatmaps.items()},
        "missed": None if feedback.missed is None else added(feedback.missed),
        "people": feedback.people,
    }


def _feedback(plain: _Feedback, arrays: Arrays) -> ImageFeedback:
    heatmaps: Mapping[str, NDArray[np.float32]] = {
        aspect: np.asarray(arrays[str(number)], np.float32) for aspect, number in plain["heatmaps"].items()
    }
    missed = None if plain["missed"] is None else np.asarray(arrays[str(plain["missed"])], np.float64)
    scores = {aspect: AspectScore(*numbers) for aspect, numbers in plain["scores"].items()}
    return ImageFeedback(scores, heatmaps, missed, plain["people"])
