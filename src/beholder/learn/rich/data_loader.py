"""The data loader of rich feedback: training batches that depend on seed and step alone."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.images.in_order import batches
from beholder.learn.data_loader import (
    THREADS,
    ImageCache,
    augmentation_rng,
    example_indices,
    step_seed,
    steps_per_epoch,
)
from beholder.learn.rich.examples import RichExample
from beholder.learn.rich.heatmaps import HeatmapCache, resize_maps
from beholder.learn.rich.word_exchange import WordExchanges
from beholder.models.division import Division
from beholder.models.rich_feedback.augment import Augmentation, Maps, augment
from beholder.models.rich_feedback.trainable import Outputs, RichBatch, RichTrainable

PROMPT_ASPECTS = ("alignment", "overall", "misalignment")
"""Scores and heatmaps that depend on the prompt."""


@dataclass(frozen=True)
class RichDataLoader:
    """Training batches of ``batch`` images, each in ``parts`` parts (processes × accumulation)."""

    model: RichTrainable
    image_cache: ImageCache
    heatmap_cache: HeatmapCache
    examples: Sequence[RichExample]
    batch: int
    parts: int
    seed: int
    augmentation: Augmentation
    exchanges: WordExchanges | None = None
    exchanged: float = 0.0
    """Proportion of the images whose prompt gets another word, which is then misaligned."""
    again: float = 0.0
    """Probability that one more word is exchanged, after each exchange."""
    named: float = 0.0
    """Epochs at the start in which only the words that images show are learned."""
    plain_from: float = inf
    """Epoch from which on no word is exchanged any more."""

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which every image is seen once; an incomplete last batch is dropped."""
        return steps_per_epoch(len(self.examples), self.batch)

    def __call__(self, step: int, part: int) -> RichBatch:
        """Return part ``part`` of the batch of step ``step``, both counted from 0."""
        indices = example_indices(
            step, examples=len(self.examples), batch=self.batch, parts=self.parts, seed=self.seed
        )
        rngs = [augmentation_rng(step, number, self.seed) for number in range(len(indices))]
        only_naming = step < self.named * self.steps_per_epoch
        exchanging = not only_naming and step < self.plain_from * self.steps_per_epoch
        originals = [self.examples[index] for index in indices]
        examples = originals
        if only_naming:
            examples = [replace(example, mapped=()) for example in originals]
        elif exchanging:
            examples = [self._maybe_exchange(example, rng) for example, rng in zip(originals, rngs, strict=True)]
        rows = slice(part, None, self.parts)
        batch = rich_batch(
            examples[rows], self.model, self.image_cache, self.heatmap_cache, self.augmentation, rngs[rows]
        )
        labels = rich_labels(examples, self.model.settings)
        if exchanging:
            batch = replace(batch, image_scores=_scores(originals[rows], self.model.settings))
            labels = replace(labels, image_scores=_scores(originals, self.model.settings))
        if exchanging and not self.augmentation.moves:  # else the maps of the originals are not those of the batch
            maps = [self.heatmap_cache.resized(each, self.model.settings.heatmaps) for each in originals[rows]]
            batch = replace(batch, image_heatmaps=torch.from_numpy(np.stack(maps)))
            labels = replace(labels, image_heatmaps=rich_labels(originals, self.model.settings).heatmaps)
        batch = replace(batch, only_naming=only_naming)
        if self.parts == 1:
            return batch
        return replace(batch, division=Division(batch, labels, part, self.parts, step_seed(step, self.seed)))

    def _maybe_exchange(self, example: RichExample, rng: np.random.Generator) -> RichExample:
        """Return the example, by chance with another prompt and then without the labels that depend on it."""
        if self.exchanges is None or example.misaligned is None or rng.random() >= self.exchanged:
            return example
        exchanged = self.exchanges.exchange(example.prompt, example.misaligned, rng)
        if exchanged is None:
            return example
        while rng.random() < self.again and (exchanged_again := self.exchanges.exchange(*exchanged, rng)):
            exchanged = exchanged_again
        scores = {aspect: score for aspect, score in example.scores.items() if aspect not in PROMPT_ASPECTS}
        mapped = tuple(aspect for aspect in example.mapped if aspect not in PROMPT_ASPECTS)
        return replace(example, prompt=exchanged[0], misaligned=exchanged[1], scores=scores, mapped=mapped)


def rich_labels(examples: Sequence[RichExample], outputs: Outputs) -> RichBatch:
    """Return prompts and labels of examples without images; of a heatmap, one pixel says whether there is one."""
    heatmaps = [
        [0.0 if aspect in example.mapped else np.nan for aspect in outputs.heatmaps] for example in examples
    ]
    return RichBatch(
        pixels=torch.empty(0),
        prompts=tuple(example.prompt for example in examples),
        heatmaps=torch.tensor(heatmaps, dtype=torch.float32).reshape(len(examples), len(outputs.heatmaps), 1, 1),
        scores=_scores(examples, outputs),
        misaligned=tuple(example.misaligned for example in examples),
    )


def rich_batch(
    examples: Sequence[RichExample],
    model: RichTrainable,
    image_cache: ImageCache,
    heatmap_cache: HeatmapCache,
    augmentation: Augmentation | None = None,
    rngs: Sequence[np.random.Generator] = (),
) -> RichBatch:
    """Return images with their feedback as a batch, augmented if there is a random generator for each."""
    settings = model.settings

    def load(index: int) -> tuple[NDArray[np.float32], Maps]:
        example = examples[index]
        if not (augmentation and rngs and augmentation.changes):
            pixels = image_cache.model_input(example.image, model, None)
            return pixels, heatmap_cache.resized(example, settings.heatmaps)
        maps = heatmap_cache.original(example, settings.heatmaps)
        image, changed = augment(image_cache.get(example.image), maps, augmentation, rngs[index])
        return model.prepare(image, None), resize_maps(changed, settings.map_side)

    with ThreadPoolExecutor(THREADS) as pool:
        pixels_and_maps = list(pool.map(load, range(len(examples))))
    return RichBatch(
        pixels=torch.from_numpy(np.stack([pixels for pixels, _ in pixels_and_maps])),
        prompts=tuple(example.prompt for example in examples),
        heatmaps=torch.from_numpy(np.stack([maps for _, maps in pixels_and_maps])),
        scores=_scores(examples, settings),
        misaligned=tuple(example.misaligned for example in examples),
    )


def _scores(examples: Sequence[RichExample], outputs: Outputs) -> torch.Tensor:
    scores = [[example.scores.get(aspect, np.nan) for aspect in outputs.scores] for example in examples]
    return torch.tensor(scores, dtype=torch.float32).reshape(len(examples), len(outputs.scores))


def labelled_batches(
    examples: Sequence[RichExample],
    model: RichTrainable,
    image_cache: ImageCache,
    heatmap_cache: HeatmapCache,
    size: int = 64,
) -> Iterator[RichBatch]:
    """Yield batches of all examples in their order, as they are."""
    for examples_of_batch in batches(examples, size):
        yield rich_batch(examples_of_batch, model, image_cache, heatmap_cache)
