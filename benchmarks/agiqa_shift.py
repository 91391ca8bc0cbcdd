"""The warning of images unlike the training images of ``agiqa-quality``: how it was trained and tested.

    python benchmarks/agiqa_shift.py CACHE --write             # train, and write the packaged file
    python benchmarks/agiqa_shift.py CACHE --open PICTURES …   # test it on the prompts put aside, and on others

PICTURES are folders of images, such as ``openclipart-png``'s and ``tuxpaint-stamps-default``'s; CIFAR-10 and the
synthetic world are made by the script itself. The altered images of the training are made from images of the
prompts that were not put aside; none of the folders is trained on.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import cifar_images
import numpy as np
from agiqa_scorer import CHOSEN, FOLDS, SOURCE, Images, load
from agiqa_scorer_fit import fit_head
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from safetensors.numpy import save_file
from scipy.special import bdtrc
from sklearn.linear_model import LogisticRegression

from beholder.images.decode import flatten
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.quality.head import KernelHead, read_head
from beholder.models.quality.packaged import ENCODERS, HEAD, SHIFT
from beholder.models.quality.shift import NUMBERS, TENSORS, ShiftDetector, read_shift_detector, shift_features
from beholder.models.quality.training_set import FOLDER
from beholder.models.weights.files import hash_files
from beholder.simulate.world import World, paint_world
from beholder.stats.intervals.proportions import wilson

SEED, ALTERED, SHAPES, NOISY, TESTED = 53, 150, 120, 60, 200
STRENGTH = 0.01
"""Inverse of the ridge of the logistic regression."""
SET_SIZES = (5, 20)
Floats = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--open", nargs="*", type=Path, metavar="PICTURES")
    arguments = parser.parse_args()
    images = load(arguments.cache)
    if arguments.write:
        write(images, arguments.cache)
    else:
        open_held_out(images, arguments.cache, arguments.open or [])


def write(images: Images, cache: Path) -> None:
    """Calibrate by cross-validation over prompts, fit to all prompts that were not put aside, and write."""
    altered = encode_named(cache, "altered", lambda: altered_images(images))
    scores = np.full((len(images.fold), 2), np.nan)
    for fold in range(FOLDS):
        train, test = images.development & (images.fold != fold), images.fold == fold
        head = fit_head(images.vectors[train], images.quality[train], CHOSEN)
        scores[test] = parts(fit_detector(head, images.vectors[train], altered), head, images.vectors[test])
    held_out = scores[images.development]
    centres = np.median(held_out, axis=0)
    units = np.quantile(held_out, 0.95, axis=0) - centres
    threshold = float(np.quantile(((held_out - centres) / units).max(axis=1), 0.95))
    head, _ = read_head(FOLDER / HEAD)
    detector = fit_detector(head, images.vectors[images.development], altered)
    tensors = {"scales": detector.scales, "weights": detector.weights, "centres": centres, "units": units}
    numbers = {"intercept": repr(detector.intercept), "threshold": repr(threshold)}
    save_file(
        {name: np.ascontiguousarray(tensors[name], np.float32) for name in TENSORS},
        FOLDER / SHIFT,
        {name: numbers[name] for name in NUMBERS} | {"head": hash_files([FOLDER / HEAD]), "data_set": "AGIQA-3K"},
    )
    print(
        f"{FOLDER / SHIFT}: {len(altered)} altered images; medians {centres}, units {units}, threshold {threshold}"
    )


def fit_detector(head: KernelHead, vectors: NDArray[np.float32], altered: NDArray[np.float32]) -> ShiftDetector:
    """Return the detector before it is calibrated."""
    scales = shift_features(head, np.ones(head.components.shape[1]), vectors)[:, :-1].std(axis=0)
    features = [shift_features(head, scales, part) for part in (vectors, altered)]
    labels = np.repeat([0, 1], [len(vectors), len(altered)])
    fitted = LogisticRegression(C=STRENGTH, max_iter=500, class_weight="balanced")
    fitted.fit(np.concatenate(features), labels)
    return ShiftDetector(
        scales, fitted.coef_[0], float(fitted.intercept_[0]), np.zeros(2), np.ones(2), threshold=1.0
    )


def parts(detector: ShiftDetector, head: KernelHead, vectors: NDArray[np.float32]) -> Floats:
    """Residual and exposure before they are scaled, (images, 2)."""
    features = shift_features(head, detector.scales, vectors)
    return np.column_stack([features[:, -1], features @ detector.weights + detector.intercept])


def open_held_out(images: Images, cache: Path, folders: list[Path]) -> None:
    """Print how often single images and sets of images are reported."""
    head, _ = read_head(FOLDER / HEAD)
    detector, _ = read_shift_detector(FOLDER / SHIFT)
    trials = {"AGIQA-3K, prompts put aside (false alarms)": images.vectors[images.held_out]}
    trials["CIFAR-10"] = encode_named(cache, "cifar", lambda: cifar(cache))
    trials["synthetic world"] = encode_named(cache, "world", synthetic)
    trials |= {
        folder.name: encode_named(cache, folder.name, lambda folder=folder: pictures(folder)) for folder in folders
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
        encoders = [load_encoder(encoder) for encoder in ENCODERS]
        pixels = [np.asarray(image) for image in make()]
        np.save(file, np.concatenate([encoder.encode(pixels) for encoder in encoders], axis=1))
    return np.asarray(np.load(file))


def altered_images(images: Images) -> Iterator[Image.Image]:
    """Small, flat, noisy, and drawn images."""
    rng = np.random.default_rng(SEED)
    names = images.table["name"].to_numpy()[images.development]

    def some(count: int) -> Iterator[Image.Image]:
        for name in rng.choice(names, count, replace=False):
            yield Image.open(SOURCE / "image" / name).convert("RGB")

    for image in some(ALTERED):
        side = int(rng.integers(24, 65))
        yield image.resize((side, side), Image.Resampling.BICUBIC)
    for image in some(ALTERED):
        smooth = image.resize((256, 256)).filter(ImageFilter.MedianFilter(5))
        yield smooth.quantize(int(rng.integers(3, 12)), dither=Image.Dither.NONE).convert("RGB")
    for image in some(NOISY):
        pixels = np.asarray(image.resize((256, 256)), np.float64)
        yield Image.fromarray(
            np.clip(pixels + rng.normal(0, rng.uniform(30, 90), pixels.shape), 0, 255).astype(np.uint8)
        )
    for _ in range(SHAPES):
        yield shapes(rng)


def shapes(rng: np.random.Generator) -> Image.Image:
    """Disks, rectangles and polygons of one colour each on one background."""
    side = int(rng.choice([128, 192, 256, 512]))
    image = Image.new("RGB", (side, side), colour(rng))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(1, 9))):
        (x, y), radius = rng.integers(0, side, 2).tolist(), int(rng.integers(side // 16, side // 2))
        box = (x - radius, y - radius, x + radius, y + radius)
        kind = rng.integers(0, 3)
        if kind == 0:
            draw.ellipse(box, fill=colour(rng))
        elif kind == 1:
            draw.rectangle(box, fill=colour(rng))
        else:
            corners = rng.integers(0, side, (int(rng.integers(3, 7)), 2)).tolist()
            draw.polygon([(across, down) for across, down in corners], fill=colour(rng))
    return image


def colour(rng: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = rng.integers(0, 256, 3).tolist()
    return red, green, blue


def cifar(cache: Path) -> Iterator[Image.Image]:
    rng = np.random.default_rng(SEED)
    pixels = cifar_images.load(cache, "test", 10_000).images
    return (Image.fromarray(pixels[index]) for index in rng.choice(len(pixels), TESTED, replace=False))


def synthetic() -> Iterator[Image.Image]:
    with tempfile.TemporaryDirectory() as folder:
        paint_world(World(prompts=TESTED // 5, reals=1), Path(folder))
        for file in sorted(Path(folder).rglob("*.png"))[:TESTED]:
            yield Image.open(file).convert("RGB")


def pictures(folder: Path) -> Iterator[Image.Image]:
    files = [file for file in sorted(folder.rglob("*.png")) if file.is_file()]
    for index in np.random.default_rng(SEED).choice(len(files), TESTED, replace=False):
        yield flatten(Image.open(files[index])).convert("RGB")


if __name__ == "__main__":
    main()
