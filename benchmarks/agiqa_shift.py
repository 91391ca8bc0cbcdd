"""The warning of images unlike the training images of ``agiqa-quality``: how it was trained and tested.

    python benchmarks/agiqa_shift.py CACHE                     # leave one kind of altered images out
    python benchmarks/agiqa_shift.py CACHE --write             # train, and write the packaged file
    python benchmarks/agiqa_shift.py CACHE --open PICTURES …   # test it on the prompts put aside, and on others

PICTURES are folders of images, such as ``openclipart-png``'s and ``tuxpaint-stamps-default``'s; CIFAR-10 and the
synthetic world are made by the script itself. The altered images of the training are made from images of the
prompts that were not put aside; none of the folders is trained on.
"""

import argparse
import io
import tempfile
from collections.abc import Iterator
from dataclasses import replace
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
from beholder.images.in_order import batches
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.quality.head import KernelHead, read_head
from beholder.models.quality.packaged import ENCODERS, HEAD, SHIFT
from beholder.models.quality.shift import (
    NUMBERS,
    TENSORS,
    ShiftDetector,
    components_and_residuals,
    read_shift_detector,
)
from beholder.models.quality.training_set import FOLDER
from beholder.models.weights.files import hash_files
from beholder.simulate.world import World, paint_world
from beholder.stats.intervals.proportions import wilson

SEED, ALTERED, SHAPES, NOISY, MORE, TESTED = 53, 150, 120, 60, 100, 200
STRENGTH, STRENGTHS = 0.01, (0.001, 0.01, 0.1)
"""Inverse of the ridge of the logistic regression: the one that was chosen, and those that were tried."""
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
    images = load(arguments.cache)
    if arguments.write:
        write(images, arguments.cache)
    elif arguments.open is None:
        choose(images, arguments.cache)
    else:
        open_held_out(images, arguments.cache, arguments.open)


def choose(images: Images, cache: Path) -> None:
    """Print how often each kind of altered images is reported by a detector trained on the other kinds."""
    by_kind = altered_by_kind(images, cache)
    print("| ridge | " + " | ".join(by_kind) + " | mean |\n|---|" + "---|" * (len(by_kind) + 1))
    train, test = images.development & (images.fold != 0), images.fold == 0
    head = fit_head(images.vectors[train], images.quality[train], CHOSEN)
    blank = unfitted(head, images.vectors[train], images.vectors[test])
    for strength in STRENGTHS:
        rates = []
        for kind in by_kind:
            others = np.concatenate([vectors for name, vectors in by_kind.items() if name != kind])
            detector = fit_detector(blank, head, images.vectors[train], others, strength)
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
        blank = unfitted(head, images.vectors[train], images.vectors[test])
        detector = fit_detector(blank, head, images.vectors[train], altered, STRENGTH)
        scores[test] = detector.scores(head, images.vectors[test])
        residuals[test] = components_and_residuals(head, BOUNDS, images.vectors[test])[1]
    head, _ = read_head(FOLDER / HEAD)
    vectors, held_out = images.vectors[images.development], residuals[images.development]
    detector = fit_detector(unfitted(head, vectors, None, held_out), head, vectors, altered, STRENGTH)
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
    first = encode_named(cache, "altered", lambda: altered_images(images))
    more = encode_named(cache, "altered-more", lambda: more_altered_images(images))
    ends = np.cumsum([ALTERED, ALTERED, NOISY])
    by_kind = dict(zip(("small", "flat", "noisy", "shapes"), np.split(first, ends), strict=True))
    names = ("smooth", "enlarged", "lines", "compressed", "painted")
    return by_kind | dict(zip(names, np.split(more, len(names)), strict=True))


def unfitted(
    head: KernelHead,
    trained_on: NDArray[np.float32],
    held_out: NDArray[np.float32] | None,
    residuals: Floats | None = None,
) -> ShiftDetector:
    """The scales of components and residuals; the latter from held-out images, or from their residuals."""
    if residuals is None:
        assert held_out is not None
        residuals = components_and_residuals(head, BOUNDS, held_out)[1]
    scales = components_and_residuals(head, BOUNDS, trained_on)[0].std(axis=0)
    centres, highs = np.quantile(residuals, (0.5, 0.95), axis=0)
    weights = np.zeros(len(scales) + len(centres))
    return ShiftDetector(scales, BOUNDS, centres, highs - centres, weights, intercept=0.0, median=0.0, unit=1.0)


def fit_detector(
    blank: ShiftDetector,
    head: KernelHead,
    vectors: NDArray[np.float32],
    altered: NDArray[np.float32],
    strength: float,
) -> ShiftDetector:
    """Return the detector before it is calibrated."""
    labels = np.repeat([0, 1], [len(vectors), len(altered)])
    fitted = LogisticRegression(C=strength, max_iter=400, class_weight="balanced")
    fitted.fit(np.concatenate([blank.features(head, part) for part in (vectors, altered)]), labels)
    return replace(blank, weights=fitted.coef_[0], intercept=float(fitted.intercept_[0]))


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


def more_altered_images(images: Images) -> Iterator[Image.Image]:
    """Smooth, enlarged, drawn in lines, compressed and painted images, ``MORE`` of each."""
    rng = np.random.default_rng(SEED + 1)
    names = rng.choice(images.table["name"].to_numpy()[images.development], 4 * MORE, replace=False)
    originals = [SOURCE / "image" / name for name in names]
    yield from (smooth(rng) for _ in range(MORE))
    for change, files in zip((enlarged, in_lines, compressed, painted), batches(originals, MORE), strict=True):
        for file in files:
            yield change(Image.open(file).convert("RGB"), rng)


def smooth(rng: np.random.Generator) -> Image.Image:
    """A few random colours that run into each other, with a little noise."""
    side, knots = int(rng.choice([128, 256, 512])), int(rng.integers(2, 9))
    field = Image.fromarray(rng.integers(0, 256, (knots, knots, 3), np.uint8))
    pixels = np.asarray(field.resize((side, side), Image.Resampling.BICUBIC), np.float64)
    noise = rng.normal(0, rng.uniform(0, 6), pixels.shape)
    return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))


def enlarged(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """At 80 to 224 px, as such or enlarged again."""
    side = int(rng.integers(80, 225))
    small = image.resize((side, side), Image.Resampling.BICUBIC)
    return small if rng.random() < 0.5 else small.resize((512, 512), Image.Resampling(int(rng.choice([0, 2, 3]))))


def in_lines(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Edges alone, in black on white or white on black."""
    edges = np.asarray(image.convert("L").filter(ImageFilter.FIND_EDGES)) > rng.integers(20, 70)
    ink = edges if rng.random() < 0.5 else ~edges
    return Image.fromarray((255 * ink).astype(np.uint8)).convert("RGB")


def compressed(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """As a JPEG of very low quality."""
    file = io.BytesIO()
    image.save(file, "JPEG", quality=int(rng.integers(2, 9)))
    return Image.open(file).convert("RGB")


def painted(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """In brush strokes: the most frequent colour around each pixel."""
    side = int(rng.choice([192, 256, 384]))
    return image.resize((side, side)).filter(ImageFilter.ModeFilter(int(rng.choice([7, 9, 11]))))


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
