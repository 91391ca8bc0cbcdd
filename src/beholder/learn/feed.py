"""Batches of examples for the trainer, the same for the same seed and step wherever a run begins.

Nothing is remembered from one batch to the next: order and augmentation follow from seed, epoch and place, so a
run that was killed goes on with the very batch that was next.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.errors import ImageError
from beholder.images.background import DEFAULT_BACKGROUND
from beholder.images.decode import decode, quiet_pillow
from beholder.images.formats import UndecodableError
from beholder.images.in_order import batches
from beholder.images.sources import named_files
from beholder.learn.examples import Example, Scale
from beholder.learn.order import places_at, random_at, steps_an_epoch
from beholder.models.encoders.encode import encode_by
from beholder.models.trainable import Batch, Trainable, UsesEncoders

CACHE_BYTES = 1_000_000_000
"""Decoded pixels that are kept in memory."""

THREADS = 2
"""Threads that prepare the images of a batch, beside the one that trains."""


class Pictures:
    """Decoded images by name, as many as fit; or what a model with frozen encoders sees of them."""

    def __init__(
        self, paths: Mapping[str, str], background: str = DEFAULT_BACKGROUND, *, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self._paths = paths
        self._background = background
        self._room = cache_bytes
        self._kept: dict[str, NDArray[np.uint8]] = {}
        self._features: dict[str, NDArray[np.float32]] = {}
        self._ready = False

    def make_ready(self, model: Trainable[Any], folder: Path) -> None:
        """Once, before training: an error lists every image that is broken.

        Where the model sees images through frozen encoders, their features are computed now, or taken from
        ``folder`` (another model that learns beside this one may be at it: then this waits); elsewhere every image
        is decoded.
        """
        if self._ready:
            return
        encoders = model.encoders if isinstance(model, UsesEncoders) else ()
        if encoders:
            files = named_files(list(self._paths), [Path(path) for path in self._paths.values()])
            encoded = encode_by(files, encoders, background=self._background, folder=folder, wait=True)
            parts = [features.vectors for features in encoded.features]
            together = parts[0] if len(parts) == 1 else np.concatenate(parts, 1)
            self._features = dict(zip(self._paths, together, strict=True))
        else:
            self.check(list(self._paths))
        self._ready = True

    def prepared(self, name: str, model: Trainable[Any], rng: np.random.Generator | None) -> NDArray[np.float32]:
        """What the model takes in of an image."""
        return self._features[name] if name in self._features else model.prepare(self.get(name), rng)

    def get(self, name: str) -> Image.Image:
        """The image in RGB; an error names it where it is missing or damaged."""
        if name in self._kept:
            return Image.fromarray(self._kept[name])
        try:
            image = decode(Path(self._paths[name]).read_bytes(), self._background)
        except (OSError, UndecodableError) as error:
            raise ImageError("images", [f"{name}: {error}"]) from error
        pixels = np.asarray(image)
        if pixels.nbytes <= self._room:
            self._room -= pixels.nbytes
            self._kept[name] = pixels
        return image

    def check(self, names: Sequence[str]) -> None:
        """Decode all of them once; an error lists every one that is broken."""
        faults: list[str] = []
        with quiet_pillow():
            for name in names:
                try:
                    self.get(name)
                except ImageError as error:
                    faults += error.faults
        if faults:
            raise ImageError("images", faults, advice="Mend or remove them, and their labels.")


@dataclass(frozen=True)
class Feed:
    """Training batches of ``batch`` examples, each in ``parts`` parts (devices × accumulation)."""

    model: Trainable[Batch]
    pictures: Pictures
    examples: Sequence[Example]
    aspects: tuple[str, ...]
    batch: int
    parts: int
    seed: int
    scales: Mapping[str, Scale]

    @property
    def steps_an_epoch(self) -> int:
        """Steps in which all examples are seen once; an incomplete last batch is left out."""
        return steps_an_epoch(len(self.examples), self.batch)

    def __call__(self, step: int, part: int) -> Batch:
        """Part ``part`` of the batch of step ``step``, both from 0."""
        chosen = places_at(
            step, part, examples=len(self.examples), batch=self.batch, parts=self.parts, seed=self.seed
        )
        rng = random_at(step, part, self.seed)
        return collated(
            [self.examples[one] for one in chosen], self.model, self.pictures, self.aspects, self.scales, rng
        )


def plain_batches(
    model: Trainable[Batch],
    pictures: Pictures,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    size: int,
) -> Iterator[tuple[Batch, list[str]]]:
    """All examples in their order, without augmentation, each batch with the names of its images."""
    for portion in batches(examples, size):
        yield collated(portion, model, pictures, aspects, scales, None), _distinct(portion)


def collated(
    portion: Sequence[Example],
    model: Trainable[Batch],
    pictures: Pictures,
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    rng: np.random.Generator | None,
) -> Batch:
    """Examples as one batch; an image that several of them have is prepared once."""
    names = _distinct(portion)
    place = {name: number for number, name in enumerate(names)}
    prompts = list(dict.fromkeys(one.prompt for one in portion))
    prompt_of = {image: prompts.index(one.prompt) for one in portion for image in one.images}
    compared = [
        (place[one.images[pair.first]], place[one.images[pair.second]], pair.share, pair.weight)
        for one in portion
        for pair in one.compared
    ]
    ratings = np.full((len(names), len(aspects)), np.nan, np.float32)
    answers = np.zeros((len(names), len(aspects)), np.float32)
    for one in portion:
        for aspect, values in one.ratings.items():
            scale = scales.get(aspect, Scale(0.0, 1.0))
            for image, value in zip(one.images, values, strict=True):
                if value is not None:
                    ratings[place[image], aspects.index(aspect)] = (value - scale.mean) / scale.deviation
        for aspect, counts in one.answers.items():
            for image, count in zip(one.images, counts, strict=True):
                answers[place[image], aspects.index(aspect)] = count
    return Batch(
        prompts=tuple(prompts),
        pixels=torch.from_numpy(_pixels(names, model, pictures, rng)),
        prompt_of=torch.tensor([prompt_of[name] for name in names], dtype=torch.int64),
        pairs=torch.tensor([pair[:2] for pair in compared], dtype=torch.int64).reshape(-1, 2),
        soft_labels=torch.tensor([pair[2] for pair in compared], dtype=torch.float32),
        pair_weights=torch.tensor([pair[3] for pair in compared], dtype=torch.float32),
        aspects=aspects,
        ratings=torch.from_numpy(ratings),
        answers=torch.from_numpy(answers),
    )


def _distinct(portion: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(image for one in portion for image in one.images))


def _pixels(
    names: Sequence[str], model: Trainable[Batch], pictures: Pictures, rng: np.random.Generator | None
) -> NDArray[np.float32]:
    """What the model takes in, (images, …); each image is augmented by a random state of its own."""
    states = rng.spawn(len(names)) if rng else [None] * len(names)

    def prepared(one: tuple[str, np.random.Generator | None]) -> NDArray[np.float32]:
        return pictures.prepared(one[0], model, one[1])

    with ThreadPoolExecutor(THREADS) as pool:
        return np.stack(list(pool.map(prepared, zip(names, states, strict=True))))
