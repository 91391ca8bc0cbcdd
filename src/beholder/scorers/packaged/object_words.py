"""Objects that the prompt names, looked for by a detector.

A prompt names a class of the detector by one of its words, and asks for as many as the number before it says, or
for two in the plural. The class is there as much as its most confident boxes, as many as are asked for, are
confident on average; where the number is said, the next box counts against it. That is standardised by the mean
and the standard deviation of its most confident box over generated images. The score is the mean over the classes
of the prompt: above 0, they are seen more clearly than usual. It is 0 for prompts without any.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.models.detection.detections import LEAST, Detections
from beholder.models.detection.tiny_yolo import TinyYolo, load_tiny_yolo
from beholder.models.encoders.torch_network import share_cores
from beholder.scorers.scorer import Scorer, ScorerInput

PEOPLE = (
    "person people man men woman women girl girls boy boys lady child children twins lovers bodies king queen "
    "prince princess empress emperor pope nun priest priestess monk chef engineer scientist boxer golfer "
    "astronaut soldier warrior knight adventurer gardener nomads player bard tomboy mermaid viking santa"
)
WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(spellings.split())
    for name, spellings in {
        "person": PEOPLE,
        "bicycle": "bicycle bicycles bike",
        "car": "car cars taxi rickshaw",
        "motorbike": "motorcycle motorbike",
        "aeroplane": "airplane aeroplane plane jet",
        "bus": "bus buses",
        "train": "train trains locomotive",
        "truck": "truck trucks lorry",
        "boat": "boat boats ship ships rowboat sailboat",
        "bench": "bench benches",
        "bird": "bird birds owl eagle parrot crow raven",
        "cat": "cat cats kitten kittens tabby",
        "dog": "dog dogs puppy poodle shepherd terrier corgi",
        "horse": "horse horses pony",
        "sheep": "sheep lamb",
        "cow": "cow cows bull",
        "elephant": "elephant elephants",
        "bear": "bear bears",
        "zebra": "zebra zebras",
        "giraffe": "giraffe giraffes",
        "umbrella": "umbrella umbrellas",
        "tie": "tie",
        "skateboard": "skateboard",
        "surfboard": "surfboard",
        "bottle": "bottle bottles",
        "cup": "cup mug",
        "bowl": "bowl",
        "banana": "banana bananas",
        "apple": "apple apples",
        "sandwich": "sandwich hamburger",
        "orange": "oranges",
        "broccoli": "broccoli",
        "carrot": "carrot carrots",
        "pizza": "pizza",
        "donut": "donut donuts doughnut",
        "cake": "cake cupcake",
        "chair": "chair chairs armchair",
        "sofa": "sofa couch",
        "bed": "bed",
        "diningtable": "table desk",
        "laptop": "laptop",
        "keyboard": "keyboard",
        "cell phone": "phone smartphone",
        "book": "book books",
        "clock": "clock clocks",
        "vase": "vase",
    }.items()
}
"""Class -> words of a prompt that name it; words that more often name something else are left out."""
NUMBERS = {"two": 2, "twins": 2, "pair": 2, "three": 3, "four": 4, "five": 5, "six": 6}
PLURALS = frozenset(["bodies", "children", "men", "people", "women"])
SINGULARS = frozenset(["bus", "empress", "princess", "priestess"])
"""Words in the plural without s, and in the singular with it."""
BEFORE = 2
"""A number is looked for among so many words before the object."""
USUAL: Mapping[str, tuple[float, float]] = {
    "person": (0.252, 0.289),
    "bicycle": (0.002, 0.05),
    "car": (0.009, 0.05),
    "motorbike": (0.008, 0.05),
    "aeroplane": (0.002, 0.05),
    "bus": (0.001, 0.05),
    "train": (0.002, 0.05),
    "truck": (0.002, 0.05),
    "boat": (0.002, 0.05),
    "bench": (0.003, 0.05),
    "bird": (0.009, 0.05),
    "cat": (0.025, 0.113),
    "dog": (0.016, 0.081),
    "horse": (0.004, 0.05),
    "sheep": (0.003, 0.05),
    "cow": (0.001, 0.05),
    "elephant": (0.0, 0.05),
    "bear": (0.001, 0.05),
    "zebra": (0.001, 0.05),
    "giraffe": (0.005, 0.05),
    "umbrella": (0.011, 0.054),
    "tie": (0.02, 0.082),
    "skateboard": (0.005, 0.05),
    "surfboard": (0.003, 0.05),
    "bottle": (0.012, 0.051),
    "cup": (0.022, 0.066),
    "bowl": (0.023, 0.088),
    "banana": (0.011, 0.05),
    "apple": (0.01, 0.064),
    "sandwich": (0.001, 0.05),
    "orange": (0.009, 0.055),
    "broccoli": (0.004, 0.05),
    "carrot": (0.004, 0.05),
    "pizza": (0.003, 0.05),
    "donut": (0.016, 0.091),
    "cake": (0.013, 0.053),
    "chair": (0.017, 0.053),
    "sofa": (0.002, 0.05),
    "bed": (0.003, 0.05),
    "diningtable": (0.008, 0.05),
    "laptop": (0.003, 0.05),
    "keyboard": (0.002, 0.05),
    "cell phone": (0.012, 0.05),
    "book": (0.007, 0.05),
    "clock": (0.014, 0.063),
    "vase": (0.02, 0.078),
}
"""Class -> mean and standard deviation of its most confident box over 1,915 images of AGIQA-3K."""
WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Request:
    """How many objects of a class a prompt asks for, and whether it says the number."""

    number: int
    exact: bool


def object_words(
    detections: Detections, prompt: str, names: Sequence[str], usual: Mapping[str, tuple[float, float]]
) -> float:
    """Return how much more clearly than usual the objects of a prompt are seen, in standard deviations."""
    parts = [
        (presence(detections, names.index(name), request) - usual[name][0]) / usual[name][1]
        for name, request in requests(prompt).items()
    ]
    return float(np.mean(parts)) if parts else 0.0


def requests(prompt: str) -> Mapping[str, Request]:
    """Return which classes a prompt names, and how many it asks for.

    Example:
        >>> requests("two women with a cat")
        {'person': Request(number=2, exact=True), 'cat': Request(number=1, exact=False)}
    """
    words = WORD.findall(prompt.lower())
    asked: dict[str, Request] = {}
    for name, spellings in WORDS.items():
        places = [place for place, word in enumerate(words) if word in spellings]
        if places:
            asked[name] = _request(words, places[0])
    return asked


def _request(words: Sequence[str], place: int) -> Request:
    """What is asked for by the word at a place."""
    said = [NUMBERS[word] for word in words[max(0, place - BEFORE) : place + 1] if word in NUMBERS]
    if said:
        return Request(said[-1], exact=True)
    word = words[place]
    plural = word in PLURALS or (word.endswith("s") and word not in SINGULARS)
    return Request(2 if plural else 1, exact=False)


def presence(detections: Detections, which: int, request: Request) -> float:
    """Return how clearly as many objects of a class as are asked for are seen, from −1 to 1."""
    confidences = np.zeros(request.number + 1)
    best = detections.confidences[detections.classes == which][: request.number + 1]
    confidences[: len(best)] = best
    return float(confidences[:-1].mean() - (confidences[-1] if request.exact else 0.0))


def usual_of(confidences: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and standard deviation of confidences; the latter at least the least confidence of a box."""
    return float(confidences.mean()), max(float(confidences.std()), LEAST)


def load(name: str) -> Scorer:
    """Load the scorer with the detector that is installed."""
    detector = load_tiny_yolo()

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        return np.array([_score_one(detector, each.image, each.prompt or "") for each in inputs], np.float64)

    return Scorer(name, f"{name}@{detector.sha256[:12]}:1", score, threads=share_cores)


def _score_one(detector: TinyYolo, image: Image.Image | None, prompt: str) -> float:
    """The score of an image, which is looked at only where its prompt names a class."""
    if image is None:
        return np.nan
    return object_words(detector.detect(image), prompt, detector.names, USUAL) if requests(prompt) else 0.0
