"""The data loader: training batches that depend on seed and step alone.

The loader has no state: the order of examples and their augmentation follow from seed, epoch and position in the
epoch, so a run that was killed and resumed continues with exactly the batch that was next. Processes deal the
examples of one batch between them: it holds the same images, augmented in the same way, however many they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
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
from beholder.models.division import Division
from beholder.models.encoders.encode import encode_by
from beholder.models.trainable import UNKNOWN_GENERATOR, Batch, Trainable, UsesEncoders

CACHE_BYTES = 1_000_000_000
"""Size limit of the decoded pixels that are cached in memory."""

THREADS = 2
"""Threads that prepare the images of a batch, in addition to the one that trains."""


class ImageCache:
    """Decoded images by name, as many as fit into memory; or their features where a model has frozen encoders."""

    def __init__(
        self, paths: Mapping[str, str], background: str = DEFAULT_BACKGROUND, *, cache_bytes: int = CACHE_BYTES
    ) -> None:
        self._paths = paths
        self._background = background
        self._bytes_left = cache_bytes
        self._decoded: dict[str, NDArray[np.uint8]] = {}
        self._features: dict[str, NDArray[np.float32]] = {}
        self._is_prepared = False

    def prepare_all(self, model: Trainable[Any], folder: Path) -> None:
        """Prepare all images once before training; an error lists every image that cannot be decoded.

        For a model with frozen encoders the features are computed, or read from ``folder`` (if another process is
        computing them, this waits for it); otherwise every image is decoded.
        """
        if self._is_prepared:
            return
        encoders = model.encoders if isinstance(model, UsesEncoders) else ()
        if encoders:
            files = named_files(list(self._paths), [Path(path) for path in self._paths.values()])
            encoded = encode_by(files, encoders, background=self._background, folder=folder, wait=True)
            vectors_by_encoder = [features.vectors for features in encoded.features]
            vectors = (
                vectors_by_encoder[0] if len(vectors_by_encoder) == 1 else np.concatenate(vectors_by_encoder, 1)
            )
            self._features = dict(zip(self._paths, vectors, strict=True))
        else:
            self.check(list(self._paths))
        self._is_prepared = True

    def model_input(
        self, name: str, model: Trainable[Any], rng: np.random.Generator | None
    ) -> NDArray[np.float32]:
        """Return the model's input for one image: its features, or its pixels, augmented by ``rng`` if given."""
        return self._features[name] if name in self._features else model.prepare(self.get(name), rng)

    def get(self, name: str) -> Image.Image:
        """Return the image in RGB; an error names it if it is missing or damaged."""
        image = self.read(name)
        if name in self._decoded:
            return image
        pixels = np.asarray(image)
        if pixels.nbytes <= self._bytes_left:
            self._bytes_left -= pixels.nbytes
            self._decoded[name] = pixels
        return image

    def read(self, name: str) -> Image.Image:
        """Return the image like :meth:`get`, without keeping it in memory."""
        if name in self._decoded:
            return Image.fromarray(self._decoded[name])
        try:
            return decode(Path(self._paths[name]).read_bytes(), self._background)
        except (OSError, UndecodableError) as error:
            raise ImageError("images", [f"{name}: {error}"]) from error

    def check(self, names: Sequence[str]) -> None:
        """Decode the images once; an error lists every one that is missing or damaged."""
        faults: list[str] = []
        with quiet_pillow():
            for name in names:
                try:
                    self.get(name)
                except ImageError as error:
                    faults += error.faults
        if faults:
            raise ImageError("images", faults, advice="Repair them, or remove them and their labels.")


@dataclass(frozen=True)
class DataLoader:
    """Training batches of ``batch`` examples, each in ``parts`` parts (processes × accumulation)."""

    model: Trainable[Batch]
    image_cache: ImageCache
    examples: Sequence[Example]
    aspects: tuple[str, ...]
    batch: int
    parts: int
    seed: int
    scales: Mapping[str, Scale]
    generators: Mapping[str, int] = field(default_factory=dict)
    """Number of each image's generator, for models that learn to tell generators from each other."""

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which every example is seen once; an incomplete last batch is dropped."""
        return steps_per_epoch(len(self.examples), self.batch)

    def __call__(self, step: int, part: int) -> Batch:
        """Return part ``part`` of the batch of step ``step``, both counted from 0."""
        examples = [self.examples[index] for index in self._indices(step)]
        examples_of_part = examples[part :: self.parts]
        numbers = {name: number for number, name in enumerate(_distinct_images(examples))}
        rngs = {
            name: augmentation_rng(step, numbers[name], self.seed) for name in _distinct_images(examples_of_part)
        }
        batch = collate(examples_of_part, self.model, self.image_cache, self.aspects, self.scales, rngs)
        if self.generators:
            names = _distinct_images(examples_of_part)
            generator_of = [self.generators.get(name, UNKNOWN_GENERATOR) for name in names]
            batch = replace(batch, generator_of=torch.tensor(generator_of, dtype=torch.int64))
        if self.parts == 1:
            return batch
        batch_labels = collate_labels(examples, self.aspects, self.scales)
        return replace(batch, division=Division(batch, batch_labels, part, self.parts, step_seed(step, self.seed)))

    def _indices(self, step: int) -> NDArray[np.int64]:
        return example_indices(
            step, examples=len(self.examples), batch=self.batch, parts=self.parts, seed=self.seed
        )


def steps_per_epoch(examples: int, batch: int) -> int:
    """Return the steps in which every example is seen once; an incomplete last batch is dropped."""
    return max(examples // batch, 1)


def example_indices(step: int, *, examples: int, batch: int, parts: int, seed: int) -> NDArray[np.int64]:
    """Return the indices of the examples in the batch of a step, counted from 0; part p has every parts-th from p.

    Every epoch has all examples once, in an order that follows from the seed alone.
    """
    epoch, position = divmod(step, steps_per_epoch(examples, batch))
    order = np.random.default_rng([seed, 1, epoch]).permutation(examples)
    indices = order[position * batch : (position + 1) * batch]
    if len(indices) < parts:  # some are seen twice
        indices = np.resize(order, parts)
    return np.asarray(indices, np.int64)


def augmentation_rng(step: int, number: int, seed: int) -> np.random.Generator:
    """Return the random generator that augments image ``number`` of the batch of a step.

    It does not depend on the parts into which the batch is divided.
    """
    return np.random.default_rng(np.random.SeedSequence([seed, 2, step, 0], spawn_key=(number,)))


def step_seed(step: int, seed: int) -> int:
    """Return a seed of what is drawn once for the batch of a step."""
    return int(np.random.SeedSequence([seed, 3, step]).generate_state(1, np.uint64)[0] >> 1)


def ordered_batches(
    model: Trainable[Batch],
    image_cache: ImageCache,
    examples: Sequence[Example],
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    size: int,
) -> Iterator[tuple[Batch, list[str]]]:
    """Yield batches of all examples in their order, without augmentation, each with the names of its images."""
    for examples_of_batch in batches(examples, size):
        yield (
            collate(examples_of_batch, model, image_cache, aspects, scales, None),
            _distinct_images(examples_of_batch),
        )


def collate(
    examples: Sequence[Example],
    model: Trainable[Batch],
    image_cache: ImageCache,
    aspects: tuple[str, ...],
    scales: Mapping[str, Scale],
    rngs: Mapping[str, np.random.Generator] | None,
) -> Batch:
    """Return examples as one batch; an image that several of them share is prepared once.

    ``rngs`` augment the images, each by its own.
    """
    inputs = _model_inputs(_distinct_images(examples), model, image_cache, rngs or {})
    return replace(collate_labels(examples, aspects, scales), pixels=torch.from_numpy(inputs))


def collate_labels(examples: Sequence[Example], aspects: tuple[str, ...], scales: Mapping[str, Scale]) -> Batch:
    """Return prompts and labels of examples as one batch without images."""
    names = _distinct_images(examples)
    index = {name: number for number, name in enumerate(names)}
    prompts = list(dict.fromkeys(example.prompt for example in examples))
    prompt_of = {image: prompts.index(example.prompt) for example in examples for image in example.images}
    pairs = [
        (index[example.images[pair.first]], index[example.images[pair.second]], pair.proportion, pair.weight)
        for example in examples
        for pair in example.pairs
    ]
    ratings = np.full((len(names), len(aspects)), np.nan, np.float32)
    answers = np.zeros((len(names), len(aspects)), np.float32)
    for example in examples:
        for aspect, values in example.ratings.items():
            scale = scales.get(aspect, Scale(0.0, 1.0))
            for image, value in zip(example.images, values, strict=True):
                if value is not None:
                    ratings[index[image], aspects.index(aspect)] = (value - scale.mean) / scale.standard_deviation
        for aspect, counts in example.answers.items():
            for image, count in zip(example.images, counts, strict=True):
                answers[index[image], aspects.index(aspect)] = count
    return Batch(
        prompts=tuple(prompts),
        pixels=torch.empty(0),
        prompt_of=torch.tensor([prompt_of[name] for name in names], dtype=torch.int64),
        pairs=torch.tensor([pair[:2] for pair in pairs], dtype=torch.int64).reshape(-1, 2),
        soft_labels=torch.tensor([pair[2] for pair in pairs], dtype=torch.float32),
        pair_weights=torch.tensor([pair[3] for pair in pairs], dtype=torch.float32),
        aspects=aspects,
        ratings=torch.from_numpy(ratings),
        answers=torch.from_numpy(answers),
    )


def _distinct_images(examples: Sequence[Example]) -> list[str]:
    return list(dict.fromkeys(image for example in examples for image in example.images))


def _model_inputs(
    names: Sequence[str],
    model: Trainable[Batch],
    image_cache: ImageCache,
    rngs: Mapping[str, np.random.Generator],
) -> NDArray[np.float32]:
    """Return the model inputs, (images, …); each image is augmented by its own random generator."""

    def model_input(name: str) -> NDArray[np.float32]:
        return image_cache.model_input(name, model, rngs.get(name))

    with ThreadPoolExecutor(THREADS) as pool:
        return np.stack(list(pool.map(model_input, names)))
