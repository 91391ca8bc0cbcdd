"""Prompts with one word exchanged for another that could stand there: the image then misses that word.

Few words of a prompt are missed, so a model sees few examples of each. Of a word that people found in the image, a
sure example is made by putting another in its place. The other one must fit its neighbours, else the model would
learn which words are strange instead of looking: so it is one that stands between the same two words elsewhere,
and was seen as far before or after each word nearby ("two red cats", but not "a red cats"). And both must be words
that people miss at times: with "and" in place of "above", nothing would be missed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from beholder.study.words import split_words

EDGE = ""
"""What stands before the first word and after the last."""
NEARBY = 3
"""Words on either side that another word must fit."""
AT_TIMES = 0.01
"""Share of the images that miss a word, at least; less is a slip."""


@dataclass(frozen=True)
class Exchanges:
    """Which words stand between which, and which stand near which."""

    between: Mapping[tuple[str, str], tuple[str, ...]]
    near: Set[tuple[str, str, int]]
    """Two words, and how many places the second stands after the first."""
    missed: Set[str]
    """Words that people miss at times."""

    def others(self, words: Sequence[str], place: int) -> tuple[str, ...]:
        """The words that could stand at a place instead of the one that does."""
        small = [word.lower() for word in words]
        before = small[place - 1] if place else EDGE
        after = small[place + 1] if place + 1 < len(small) else EDGE
        found = self.between.get((before, after), ()) if small[place] in self.missed else ()
        return tuple(one for one in found if one != small[place] and self._fits(small, place, one))

    def _fits(self, words: Sequence[str], place: int, other: str) -> bool:
        earlier = ((word, other, away) for away, word in enumerate(_backwards(words, place), 1))
        later = ((other, word, away) for away, word in enumerate(words[place + 1 : place + 1 + NEARBY], 1))
        return other in self.missed and all(pair in self.near for pair in (*earlier, *later))

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


def exchanges(said: Iterable[tuple[str, Sequence[bool] | None]]) -> Exchanges:
    """What the training prompts say, in small letters, and which of their words people missed."""
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    near: set[tuple[str, str, int]] = set()
    asked, missed = Counter[str](), Counter[str]()
    for prompt, flags in said:
        words = [word.lower() for word in split_words(prompt)]
        with_edges = [EDGE, *words, EDGE]
        for before, word, after in zip(with_edges, with_edges[1:], with_edges[2:], strict=False):
            between[before, after].add(word)
        for place, word in enumerate(words):
            near |= {(other, word, away) for away, other in enumerate(_backwards(words, place), 1)}
        asked.update(words if flags is not None else ())
        missed.update(word for word, flag in zip(words, flags or (), strict=False) if flag)
    return Exchanges(
        {around: tuple(sorted(words)) for around, words in between.items() if len(words) > 1},
        frozenset(near),
        frozenset(word for word, times in missed.items() if times >= AT_TIMES * asked[word]),
    )


def _backwards(words: Sequence[str], place: int) -> Sequence[str]:
    """The words before a place, the nearest first."""
    return words[max(place - NEARBY, 0) : place][::-1]
