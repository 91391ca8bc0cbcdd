"""Prompts from a grammar that knows their tags; its words are its own, not those of the tagger's lists.

Objects are COCO's, colours those that CSS 2.1 and people name first, materials, shapes and textures those that
T2I-CompBench's paper names; persons are professions of the census, animals those of a zoo.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

OBJECTS = [
    "bicycle",
    "car",
    "motorcycle",
    "airplane",
    "bus",
    "train",
    "truck",
    "boat",
    "bench",
    "backpack",
    "umbrella",
    "handbag",
    "suitcase",
    "frisbee",
    "snowboard",
    "kite",
    "skateboard",
    "surfboard",
    "bottle",
    "cup",
    "fork",
    "knife",
    "spoon",
    "bowl",
    "banana",
    "apple",
    "sandwich",
    "carrot",
    "pizza",
    "donut",
    "cake",
    "chair",
    "couch",
    "bed",
    "toilet",
    "laptop",
    "keyboard",
    "microwave",
    "oven",
    "toaster",
    "sink",
    "refrigerator",
    "book",
    "clock",
    "vase",
    "toothbrush",
    "orange",
    "pillow",
    "lamp",
    "candle",
    "basket",
    "guitar",
    "violin",
    "drum",
    "ladder",
    "bucket",
    "mirror",
    "carpet",
    "helmet",
    "telescope",
    "lantern",
    "kettle",
    "statue",
]
COMPOUNDS = ["wine glass", "fire hydrant", "stop sign", "hot dog", "teddy bear", "potted plant", "tennis racket"]
ANIMALS = [
    "cat",
    "dog",
    "horse",
    "cow",
    "elephant",
    "zebra",
    "giraffe",
    "penguin",
    "otter",
    "lion",
    "tiger",
    "koala",
    "flamingo",
    "rabbit",
    "turtle",
    "owl",
    "fox",
]
PERSONS = [
    "nurse",
    "firefighter",
    "teacher",
    "lawyer",
    "carpenter",
    "electrician",
    "waiter",
    "astronaut",
    "farmer",
    "dancer",
    "scientist",
    "woman",
    "man",
    "girl",
    "boy",
    "child",
    "grandmother",
    "sailor",
    "wizard",
]
IRREGULAR = {"knife": "knives", "woman": "women", "man": "men", "child": "children", "wolf": "wolves"}
COLOURS = [
    "red",
    "blue",
    "green",
    "yellow",
    "purple",
    "pink",
    "brown",
    "black",
    "white",
    "gray",
    "maroon",
    "teal",
    "navy",
    "orange",
    "silver",
    "turquoise",
]
SIZES = ["small", "big", "large", "tiny", "huge", "giant", "enormous", "miniature", "tall", "gigantic"]
MATERIALS = [
    "wooden",
    "metallic",
    "plastic",
    "leather",
    "rubber",
    "ceramic",
    "marble",
    "velvet",
    "bamboo",
    "cardboard",
    "wicker",
    "copper",
]
SHAPES = [
    "round",
    "rectangular",
    "triangular",
    "oval",
    "cylindrical",
    "spherical",
    "square",
    "hexagonal",
    "heart-shaped",
    "conical",
]
TEXTURES = ["fluffy", "striped", "shiny", "spotted", "fuzzy", "rusty", "glossy", "furry", "checkered", "bumpy"]
RELATIONS = [
    *("on", "under", "behind", "next to", "in front of", "above", "below", "to the left of", "inside", "near"),
    *("on top of", "beside", "to the right of", "between two walls and"),
]
ACTIONS = [
    "chasing",
    "carrying",
    "washing",
    "repairing",
    "kicking",
    "painting",
    "eating",
    "pushing",
    "throwing",
    "drawing",
]
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "seven": 7, "ten": 10, "3": 3, "6": 6, "12": 12}
STYLES = [
    "a watercolor painting of {}",
    "{}, digital art",
    "a photo of {}",
    "{}, oil on canvas",
    "a pencil sketch of {}",
]
STYLES += ["{} in the style of Monet", "{}, 4k, highly detailed"]
WRITTEN = ["open", "two red cats", "no entry", "hello world", "10 miles"]


@dataclass
class Written:
    """A text that is being written, with the tags it has so far."""

    tags: set[str] = field(default_factory=set)
    labels: set[tuple[str, str]] = field(default_factory=set)

    def add(self, name: str, label: str) -> str:
        self.tags.add(name)
        self.labels.add((name, label))
        return label


@dataclass(frozen=True)
class TaggedPrompt:
    """A prompt, the names of its tags, and the labels of its counts and colours."""

    text: str
    tags: frozenset[str]
    labels: frozenset[tuple[str, str]]


def draw_prompts(count: int, rng: np.random.Generator) -> Iterator[TaggedPrompt]:
    """Yield so many prompts; the same text may come twice."""
    for _ in range(count):
        about = Written()
        text = _sentence(about, rng)
        if rng.random() < 0.3:
            about.tags.add("style")
            text = _pick(STYLES, rng).format(text)
        labels = {(name, label) for name, label in about.labels if name in ("count", "colour")}
        yield TaggedPrompt(_typeset(text, rng), frozenset(about.tags), frozenset(labels))


def _sentence(about: Written, rng: np.random.Generator) -> str:
    form = rng.integers(8)
    if form == 0:
        about.tags |= {"person", "action"}
        return f"a {_pick(PERSONS, rng)} {_pick(ACTIONS, rng)} {_phrase(about, rng)}"
    first = _phrase(about, rng)
    if form <= 2:
        return first
    if form <= 4:
        relation = _pick(RELATIONS, rng)
        about.tags.add("spatial")
        if "two" in relation:
            about.add("count", "2")
        return f"{first} {relation} {_phrase(about, rng)}"
    if form == 5:
        about.tags.add("negation")
        return f"{first} {_pick(['without', 'and no'], rng)} {_pick(OBJECTS, rng)}"
    if form == 6:
        about.tags.add("text")
        return f'{first} with the words "{_pick(WRITTEN, rng)}"'
    about.tags |= {"comparison", "size"}
    compared = f"that is {_pick(['bigger', 'smaller'], rng)} than a"
    return f"a {_pick(OBJECTS, rng)} {compared} {_pick(OBJECTS, rng)} and {first}"


def _phrase(about: Written, rng: np.random.Generator) -> str:
    """A noun with attributes, in singular or with a number."""
    words: list[str] = []
    for name, choices, chance in (
        ("size", SIZES, 0.3),
        ("colour", COLOURS, 0.4),
        ("texture", TEXTURES, 0.15),
        ("shape", SHAPES, 0.15),
        ("material", MATERIALS, 0.2),
    ):
        if rng.random() < chance:
            words.append(about.add(name, _pick(choices, rng)))
    kind = rng.integers(5)
    if kind == 0:
        about.tags.add("animal")
        noun = _pick(ANIMALS, rng)
    elif kind == 1:
        about.tags.add("person")
        noun = _pick(PERSONS, rng)
    else:
        noun = _pick([*OBJECTS, *COMPOUNDS], rng)
    if rng.random() < 0.3:
        number = _pick(list(NUMBERS), rng)
        about.add("count", str(NUMBERS[number]))
        return " ".join([number, *words, _plural(noun)])
    start = (words or [noun])[0][0]
    return " ".join(["an" if start in "aeiou" else "a", *words, noun])


def _plural(noun: str) -> str:
    if noun in IRREGULAR:
        return IRREGULAR[noun]
    if noun.endswith(("s", "x", "ch", "sh", "ss")):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"


def _typeset(text: str, rng: np.random.Generator) -> str:
    text = text[:1].upper() + text[1:] if rng.random() < 0.5 else text
    return f"{text}." if rng.random() < 0.3 else text


def _pick(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]
