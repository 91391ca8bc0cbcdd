"""The warning of images unlike the training set: trained on some of a study's images, written next to the weights.

It depends on these images, their prompts and the seed alone, not on the model.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from beholder.images.in_order import batches, in_order
from beholder.learn.data_loader import THREADS, ImageCache
from beholder.models.encoders.encoder import BATCH, Encoder, Vectors
from beholder.models.shift.altered_set import altered_set
from beholder.models.shift.light import encode_light, light_encoders
from beholder.models.shift.train import DRAWN, FEWEST, FOLDS, PromptedVectors, train_warning
from beholder.models.shift.warning import write_warning
from beholder.models.training_images import SHIFT_FILE

MOST = 1200
"""Images of the study that are looked at, at the most; drawn by the seed."""


def write_shift(folder: Path, image_cache: ImageCache, prompts: Mapping[str, str], seed: int) -> float:
    """Write the warning, and return the seconds that it took; with too few images there is no file.

    ``prompts`` are those of the training and validation images of the model, by image.
    """
    began = time.monotonic()
    rng = np.random.default_rng([seed, 22])
    names = [str(name) for name in rng.permutation(sorted(prompts))[:MOST]]
    if len(names) < FEWEST:
        (folder / SHIFT_FILE).unlink(missing_ok=True)
        return 0.0
    prompt_of = _numbers([prompts[name] or name for name in names])
    encoders = light_encoders()
    usual = _encode(encoders, (image_cache.read(name) for name in names))
    origins: list[int] = []

    def altered() -> Iterable[Image.Image]:
        for _, number, image in altered_set(lambda number: image_cache.read(names[number]), len(names), rng):
            origins.append(DRAWN if number is None else int(prompt_of[number]))
            yield image

    against = _encode(encoders, altered())
    warning = train_warning(
        encoders, PromptedVectors(usual, prompt_of), PromptedVectors(against, np.array(origins))
    )
    write_warning(folder / SHIFT_FILE, warning)
    return time.monotonic() - began


def _numbers(prompts: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each prompt; with too few for the folds every image counts as one of its own."""
    _, numbers = np.unique(prompts, return_inverse=True)
    return np.asarray(numbers if numbers.max() + 1 >= FOLDS else np.arange(len(prompts)))


def _encode(encoders: Sequence[Encoder], images: Iterable[Image.Image]) -> Vectors:
    """Return the vectors of images, which are read one after the other and encoded by several threads."""
    encoded = in_order(lambda batch: encode_light(encoders, batch), batches(images, BATCH), THREADS)
    return np.concatenate(list(encoded))
