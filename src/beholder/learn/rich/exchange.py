"""Prompts with one word exchanged for another that could stand there: the image then misses that word.

Few words of a prompt are missed, so a model sees few examples of each. Of a word that people found in the image, a
sure example is made by putting another in its place. The other one must fit its neighbours, else the model would
learn which words are strange instead of looking: so it is one that stands between the same two words elsewhere.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beholder.study.words import split_words

EDGE = ""
"""What stands before the first word and after the last."""


@dataclass(frozen=True)
class Exchanges:
    """Which words stand between which."""

    between: Mapping[tuple[str, str], tuple[str, ...]]

    def others(self, words: Sequence[str], place: int) -> tuple[str, ...]:
        """The words that could stand at a place instead of the one that does."""
        before = words[place - 1].lower() if place else EDGE
        after = words[place + 1].lower() if place + 1 < len(words) else EDGE
        return tuple(one for one in self.between.get((before, after), ()) if one != words[place].lower())

    def exchanged(
        self, prompt: str, misaligned: Sequence[bool], rng: np.random.Generator
    ) -> tuple[str, tuple[bool, ...]] | None:
        """The prompt with one word that was not missed exchanged, and the flags of its words; None if none can be.

        The new prompt has plain spaces between its words.
        """
        words = split_words(prompt)
        places = [place for place, missed in enumerate(misaligned) if not missed and self.others(words, place)]
        if not places:
            return None
        place = int(rng.choice(places))
        other = str(rng.choice(self.others(words, place)))
        flags = tuple(missed or here == place for here, missed in enumerate(misaligned))
        return " ".join((*words[:place], other, *words[place + 1 :])), flags


def exchanges(prompts: Sequence[str]) -> Exchanges:
    """What the training prompts say; in small letters."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for prompt in prompts:
        words = [EDGE, *(word.lower() for word in split_words(prompt)), EDGE]
        for before, word, after in zip(words, words[1:], words[2:], strict=False):
            found[before, after].add(word)
    return Exchanges({around: tuple(sorted(words)) for around, words in found.items() if len(words) > 1})
