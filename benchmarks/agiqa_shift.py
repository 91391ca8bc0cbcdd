"""The warning of images unlike the training images of ``agiqa-quality``: how it was trained and tested.

    python benchmarks/agiqa_shift.py CACHE                     # leave one kind of altered images out
    python benchmarks/agiqa_shift.py CACHE --write             # train, and write the packaged file
    python benchmarks/agiqa_shift.py CACHE --open PICTURES …   # test it on the prompts put aside, and on others

PICTURES are folders of images, such as ``openclipart-png``'s and ``tuxpaint-stamps-default``'s; CIFAR-10 and the
synthetic world are made by the script itself. The altered images of the training are made from images of the
prompts that were not put aside; none of the folders is trained on.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import cifar_images
import numpy as np
from agiqa_altered import (
    COUNTS,
    DRAWN_NAMES,
    MORE,
    MORE_NAMES,
    NAMES,
    RENDERED_NAMES,
    SEED,
    altered_images,
    drawn_images,
    more_altered_images,
    rendered_images,
)
from agiqa_scorer import CHOSEN, FOLDS, SOURCE, Images, load
from agiqa_scorer_fit import fit_head
from numpy.typing import NDArray
from PIL import Image
from safetensors.numpy import save_file
from scipy.special import bdtrc

from beholder.images.decode import flatten
from beholder.images.sources import named_files
from beholder.models.components import components_and_residuals
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encode import encode_by
from beholder.models.encoders.pixel_statistics import DIMS
from beholder.models.quality.head import read_head
from beholder.models.quality.packaged import ENCODERS, HEAD, SHIFT
from beholder.models.quality.training_set import FOLDER
from beholder.models.shift.detector import NUMBERS, TENSORS, read_shift_detector
from beholder.models.shift.fit import fit_detector, unfitted
from beholder.models.shift.light import PIXELS
from beholder.models.weights.files import hash_files
from beholder.simulate.world import World, paint_world
from beholder.stats.intervals.proportions import wilson

TESTED = 200
DRAWN_SEED, WORLD_SEED, WORLD_SIDES = 20261119, 20261120, (192, 512)
"""Of the pictures that the packaged detector was tested on; nothing was chosen on them."""
STRENGTHS, STRENGTH = (0.001, 0.01, 0.1, 1.0), 0.001
"""Inverses of the ridge of the logistic regression that were tried, and the one that was chosen."""
WIDTHS = (32, 16, 24, 40, 80, 112, 192)
"""Channels of stem and stages; the moments have all seven, the details the first six, each twice."""
BOUNDS = 2 * np.cumsum([0, *WIDTHS, *WIDTHS[:-1]])
SET_SIZES = (5, 20)
Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--open", nargs="*", type=Path, metavar="PICTURES")
    arguments = parser.parse_args()
    images = load_with_statistics(arguments.cache)
    if arguments.write:
        write(images, arguments.cache)
    elif arguments.open is None:
        choose(images, arguments.cache)
    else:
        open_held_out(images, arguments.cache, arguments.open)


def load_with_statistics(cache: Path) -> Images:
    """AGIQA-3K with the vectors of all encoders of the detector."""
    images = load(cache)
    names = images.table["name"].to_list()
    files = named_files(names, [SOURCE / "image" / name for name in names])
    statistics = encode_by(files, [load_encoder(PIXELS)], folder=cache).features[0].vectors
    return replace(images, vectors=np.concatenate([images.vectors, statistics], axis=1))


def choose(images: Images, cache: Path) -> None:
    """Print how often each kind of altered images is reported by a detector trained on the other kinds."""
    by_kind = altered_by_kind(images, cache)
    print("| ridge | " + " | ".join(by_kind) + " | mean |\n|---|" + "---|" * (len(by_kind) + 1))
    train, test = images.development & (images.fold != 0), images.fold == 0
    head = fit_head(images.vectors[train], images.quality[train], CHOSEN)
    residuals = components_and_residuals(head, BOUNDS, images.vectors[test])[1]
    blank = unfitted(head, BOUNDS, images.vectors[train], residuals, DIMS)
    for strength in STRENGTHS:
        rates = []
        for kind in by_kind:
            others = np.concatenate([vectors for name, vectors in by_kind.items() if name != kind])
            detector = fit_detector(blank, head, images.vectors[train], others, strength=strength)
            threshold = np.quantile(detector.scores(head, images.vectors[test]), 0.95)
            rates.append(float((detector.scores(head, by_kind[kind]) > threshold).mean()))
        print(f"| {strength:g} | {' | '.join(f'{rate:.2f}' for rate in [*rates, np.mean(rates)])} |", flush=True)


def write(images: Images, cache: Path) -> None:
    """Calibrate by cross-validation over prompts, fit to all prompts that were not put aside, and write."""
    altered = np.concatenate(list(altered_by_kind(images, cache).values()))
    scores = np.full(len(images.fold), np.nan)
    residuals = np.full((len(images.fold), len(BOUNDS) - 1), np.nan)
    for fold in range(FOLDS):
        train, test = images.development & (images.fold != fold), images.fold == fold
        head = fit_head(images.vectors[train], images.quality[train], CHOSEN)
        held_out = components_and_residuals(head, BOUNDS, images.vectors[test])[1]
        blank = unfitted(head, BOUNDS, images.vectors[train], held_out, DIMS)
        detector = fit_detector(blank, head, images.vectors[train], altered, strength=STRENGTH)
        scores[test] = detector.scores(head, images.vectors[test])
        residuals[test] = held_out
    head, _ = read_head(FOLDER / HEAD)
    vectors, held_out = images.vectors[images.development], residuals[images.development]
    blank = unfitted(head, BOUNDS, vectors, held_out, DIMS)
    detector = fit_detector(blank, head, vectors, altered, strength=STRENGTH)
    median, high = np.quantile(scores[images.development], (0.5, 0.95))
    detector = replace(detector, median=float(median), unit=float(high - median))
    tensors = {name: getattr(detector, name) for name in TENSORS}
    metadata = {name: repr(float(getattr(detector, name))) for name in NUMBERS}
    save_file(
        {name: np.ascontiguousarray(tensor, np.float32) for name, tensor in tensors.items()},
        FOLDER / SHIFT,
        metadata | {"head": hash_files([FOLDER / HEAD]), "data_set": "AGIQA-3K"},
    )
    print(f"{FOLDER / SHIFT}: {len(altered)} altered images; median {median:.3f}, unit {high - median:.3f}")


def altered_by_kind(images: Images, cache: Path) -> dict[str, NDArray[np.float32]]:
    """Vectors of altered images, by how they were altered."""
    names = images.table["name"].to_numpy()[images.development]
    originals = [SOURCE / "image" / name for name in names]
    by_kind: dict[str, NDArray[np.float32]] = {}
    for group, make, kinds, counts in (
        ("altered", altered_images, NAMES, COUNTS),
        ("altered-more", more_altered_images, MORE_NAMES, [MORE] * len(MORE_NAMES)),
        ("altered-rendered", rendered_images, RENDERED_NAMES, [MORE] * len(RENDERED_NAMES)),
        ("altered-drawn", drawn_images, DRAWN_NAMES, [MORE] * len(DRAWN_NAMES)),
    ):
        vectors = encode_named(cache, group, partial(make, originals))
        by_kind |= dict(zip(kinds, np.split(vectors, np.cumsum(counts)[:-1]), strict=True))
    return by_kind


def open_held_out(images: Images, cache: Path, folders: list[Path]) -> None:
    """Print how often single images and sets of images are reported."""
    head, _ = read_head(FOLDER / HEAD)
    detector, _ = read_shift_detector(FOLDER / SHIFT)
    trials = {"AGIQA-3K, prompts put aside (false alarms)": images.vectors[images.held_out]}
    trials["CIFAR-10"] = encode_named(cache, f"cifar-{DRAWN_SEED}", lambda: cifar(cache))
    for side in WORLD_SIDES:
        trials[f"synthetic world, {side} px"] = encode_named(
            cache, f"world-{WORLD_SEED}-{side}", partial(synthetic, side)
        )
    trials |= {
        folder.name: encode_named(cache, f"{folder.name}-{DRAWN_SEED}", lambda folder=folder: pictures(folder))
        for folder in folders
    }
    print("| images | number | reported one by one | by the distance used before | " + sizes_of_sets() + " |")
    print("|---|---|---|---|" + "---|" * len(SET_SIZES))
    rng = np.random.default_rng(SEED)
    for name, vectors in trials.items():
        unlike, before = detector.shifts(head, vectors) > 1, head.shifts(vectors) > 1
        cells = [rate(unlike), rate(before), *(rate(reported_sets(unlike, size, rng)) for size in SET_SIZES)]
        print(f"| {name} | {len(vectors)} | {' | '.join(cells)} |", flush=True)


def sizes_of_sets() -> str:
    return " | ".join(f"sets of {size}" for size in SET_SIZES)


def reported_sets(unlike: NDArray[np.bool_], size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Whether sets of images drawn at random are reported: by a binomial test against 5 % at the 1 % level."""
    counts = np.array([rng.choice(unlike, size, replace=False).sum() for _ in range(1000)])
    return np.asarray((counts > 0) & (bdtrc(counts - 1, size, 0.05) < 0.01))


def rate(hits: NDArray[np.bool_]) -> str:
    low, high = wilson(hits.sum(), len(hits))
    return f"{100 * hits.mean():.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def encode_named(cache: Path, name: str, make) -> NDArray[np.float32]:  # type: ignore[no-untyped-def]
    """Vectors of images that are made on demand, stored in the cache."""
    file = cache / f"shift-{name}.npy"
    if not file.is_file():
        encoders = [load_encoder(encoder) for encoder in (*ENCODERS, PIXELS)]
        pixels = [np.asarray(image) for image in make()]
        np.save(file, np.concatenate([encoder.encode(pixels) for encoder in encoders], axis=1))
    return np.asarray(np.load(file))


def cifar(cache: Path) -> Iterator[Image.Image]:
    rng = np.random.default_rng(DRAWN_SEED)
    pixels = cifar_images.load(cache, "test", 10_000).images
    return (Image.fromarray(pixels[index]) for index in rng.choice(len(pixels), TESTED, replace=False))


def synthetic(side: int) -> Iterator[Image.Image]:
    with tempfile.TemporaryDirectory() as folder:
        paint_world(World(prompts=TESTED // 5, reals=1, size=side, seed=WORLD_SEED), Path(folder))
        for file in sorted(Path(folder).rglob("*.png"))[:TESTED]:
            yield Image.open(file).convert("RGB")


def pictures(folder: Path) -> Iterator[Image.Image]:
    files = [file for file in sorted(folder.rglob("*.png")) if file.is_file()]
    for index in np.random.default_rng(DRAWN_SEED).choice(len(files), TESTED, replace=False):
        yield flatten(Image.open(files[index])).convert("RGB")


if __name__ == "__main__":
    main()
