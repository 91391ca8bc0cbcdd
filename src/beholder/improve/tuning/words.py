"""Misaligned keywords as a remedy: the words that a model says are missing get more weight, or another try.

Words are positions in ``split_words``. The control weighs as many random words of each prompt: what it gains is
due to weighing words at all.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.improve.tuning.reward import pictures
from beholder.models.pipelines.generator import TrainableGenerator
from beholder.models.pipelines.sampling import Emphasis, Sample, sample
from beholder.scorers.rich.members import Member
from beholder.study.words import split_words

Words = tuple[tuple[int, ...], ...]
"""Positions of words, one tuple per prompt."""

PredictWords = Callable[[torch.Tensor, Sequence[str]], Words]
"""From images and prompts to the misaligned words of each."""


@dataclass(frozen=True, slots=True)
class WordSettings:
    """How words are followed more closely."""

    weight: float = 3.0
    """Of the words: 1 changes nothing."""
    threshold: float = 0.3
    """Probability from which a word counts as misaligned: a word that was followed anyway loses little by more
    weight, so it is below a half."""
    tries: int = 0
    """Other seeds that are tried where a word is still predicted to be misaligned; 0 leaves that out."""
    reword: bool = False
    """Whether the words are put in front of the prompt, instead of being weighed."""


def predicts_words(member: Member) -> bool:
    """Whether a rich-feedback model predicts misaligned words; models that do not leave them empty."""
    return bool(member.feedback([Image.new("RGB", (32, 32))], ["a"]).misaligned)


def word_predictor(member: Member, threshold: float) -> PredictWords:
    """The misaligned words by a rich-feedback model."""

    def predict(images: torch.Tensor, prompts: Sequence[str]) -> Words:
        feedback = member.feedback(pictures(images), prompts)
        return tuple(
            tuple(int(place) for place in np.flatnonzero(np.nan_to_num(chances) >= threshold))
            for chances in feedback.misaligned
        )

    return predict


def random_words(prompts: Sequence[str], like: Words, rng: np.random.Generator) -> Words:
    """As many random words of each prompt as ``like`` has."""
    chosen = []
    for prompt, words in zip(prompts, like, strict=True):
        count = len(split_words(prompt))
        chosen.append(tuple(sorted(int(place) for place in rng.permutation(count)[: len(words)])))
    return tuple(chosen)


def reworded(prompt: str, words: Sequence[int]) -> str:
    """The prompt with its misaligned words once more in front.

    >>> reworded("two red balls, at sunset", [0, 1])
    'two red: two red balls, at sunset'
    """
    listed = split_words(prompt)
    front = " ".join(listed[place] for place in sorted(words) if place < len(listed))
    return f"{front}: {prompt}" if front else prompt


@torch.no_grad()
def follow_words(
    generator: TrainableGenerator,
    prompts: Sequence[str],
    seeds: Sequence[int],
    words: Words,
    settings: WordSettings,
) -> Sample:
    """Sample again, from the same noise, with more weight on some words or with these in front of the prompt.

    Images without such words stay as they are.
    """
    if settings.reword:
        texts = [reworded(prompt, missed) for prompt, missed in zip(prompts, words, strict=True)]
        return sample(generator, texts, seeds, noise=generator.noise(prompts, seeds))
    return sample(generator, prompts, seeds, emphasis=Emphasis(words, settings.weight))


@torch.no_grad()
def until_aligned(
    generator: TrainableGenerator,
    prompts: Sequence[str],
    seeds: Sequence[int],
    predict: PredictWords,
    settings: WordSettings,
) -> tuple[list[int], NDArray[np.int64]]:
    """The seed of each image with the fewest words predicted to be misaligned, and how many tries it took."""
    best, fewest = list(seeds), np.full(len(seeds), np.iinfo(np.int64).max)
    tries = np.zeros(len(seeds), np.int64)
    for attempt in range(settings.tries + 1):
        open_rows = [row for row in range(len(seeds)) if fewest[row] > 0]
        if not open_rows:
            break
        texts, drawn = [prompts[row] for row in open_rows], [seeds[row] + 10_007 * attempt for row in open_rows]
        counts = [len(words) for words in predict(sample(generator, texts, drawn).images, texts)]
        for row, seed, count in zip(open_rows, drawn, counts, strict=True):
            tries[row] += 1
            if count < fewest[row]:
                best[row], fewest[row] = seed, count
    return best, tries
