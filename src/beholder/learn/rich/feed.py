"""Batches of rich feedback for the trainer, the same for the same seed and step wherever a run begins."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.learn.feed import THREADS, Pictures
from beholder.learn.order import places_at, random_at, steps_an_epoch
from beholder.learn.rich.examples import RichExample
from beholder.learn.rich.exchange import Exchanges
from beholder.learn.rich.maps import SizedMaps, sized
from beholder.models.rich_feedback.augment import Augmentation, Maps, augment
from beholder.models.rich_feedback.trainable import RichBatch, RichTrainable

OF_THE_PROMPT = ("alignment", "overall", "misalignment")
"""Scores and maps that another prompt would change."""


@dataclass(frozen=True)
class RichFeed:
    """Training batches of ``batch`` images, each in ``parts`` parts (devices × accumulation)."""

    model: RichTrainable
    pictures: Pictures
    maps: SizedMaps
    examples: Sequence[RichExample]
    batch: int
    parts: int
    seed: int
    augmentation: Augmentation
    exchanges: Exchanges | None = None
    exchanged: float = 0.0
    """Share of the images whose prompt gets another word, which the image then misses."""
    again: float = 0.0
    """Chance that one more word is exchanged, each time that one was."""
    named: float = 0.0
    """Passes, the first ones, in which only which words the images show is learnt."""
    plain_from: float = inf
    """Passes after which no word is exchanged any more."""

    @property
    def steps_an_epoch(self) -> int:
        """Steps in which all images are seen once; an incomplete last batch is left out."""
        return steps_an_epoch(len(self.examples), self.batch)

    def __call__(self, step: int, part: int) -> RichBatch:
        """Part ``part`` of the batch of step ``step``, both from 0."""
        chosen = places_at(
            step, part, examples=len(self.examples), batch=self.batch, parts=self.parts, seed=self.seed
        )
        states = random_at(step, part, self.seed).spawn(len(chosen))
        if step < self.named * self.steps_an_epoch:
            return self._only_naming([self.examples[one] for one in chosen], states)
        mine = [self.examples[one] for one in chosen]
        if step < self.plain_from * self.steps_an_epoch:
            mine = [self._exchanged(one, state) for one, state in zip(mine, states, strict=True)]
        return rich_batch(mine, self.model, self.pictures, self.maps, self.augmentation, states)

    def _only_naming(self, chosen: Sequence[RichExample], states: Sequence[np.random.Generator]) -> RichBatch:
        unmapped = [replace(one, mapped=()) for one in chosen]
        made = rich_batch(unmapped, self.model, self.pictures, self.maps, self.augmentation, states)
        return replace(made, only_naming=True)

    def _exchanged(self, one: RichExample, rng: np.random.Generator) -> RichExample:
        """Another prompt where the lot falls on the image; what depended on the prompt is then not known."""
        if self.exchanges is None or one.misaligned is None or rng.random() >= self.exchanged:
            return one
        made = self.exchanges.exchanged(one.prompt, one.misaligned, rng)
        if made is None:
            return one
        while rng.random() < self.again and (more := self.exchanges.exchanged(*made, rng)):
            made = more
        scores = {aspect: score for aspect, score in one.scores.items() if aspect not in OF_THE_PROMPT}
        mapped = tuple(aspect for aspect in one.mapped if aspect not in OF_THE_PROMPT)
        return replace(one, prompt=made[0], misaligned=made[1], scores=scores, mapped=mapped)


def rich_batch(
    examples: Sequence[RichExample],
    model: RichTrainable,
    pictures: Pictures,
    maps: SizedMaps,
    augmentation: Augmentation | None = None,
    states: Sequence[np.random.Generator] = (),
) -> RichBatch:
    """Images with their feedback; augmented where there is a random state for each."""
    settings = model.settings

    def made(place: int) -> tuple[NDArray[np.float32], Maps]:
        one = examples[place]
        if not (augmentation and states and augmentation.changes):
            return pictures.prepared(one.image, model, None), maps.of(one, settings.heatmaps)
        theirs = maps.decoded(one, settings.heatmaps)
        image, changed = augment(pictures.get(one.image), theirs, augmentation, states[place])
        return model.prepare(image, None), sized(changed, settings.map_side)

    with ThreadPoolExecutor(THREADS) as pool:
        both = list(pool.map(made, range(len(examples))))
    scores = [[one.scores.get(aspect, np.nan) for aspect in settings.scores] for one in examples]
    return RichBatch(
        pixels=torch.from_numpy(np.stack([pixels for pixels, _ in both])),
        prompts=tuple(one.prompt for one in examples),
        heatmaps=torch.from_numpy(np.stack([theirs for _, theirs in both])),
        scores=torch.tensor(scores, dtype=torch.float32).reshape(len(examples), len(settings.scores)),
        misaligned=tuple(one.misaligned for one in examples),
    )
