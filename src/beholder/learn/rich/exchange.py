"""Prompts with one word exchanged for another that could stand there: the image then misses that word.

Few words of a prompt are missed, so a model sees few examples of each. Of a word that people found in the image, a
sure example is made by putting another in its place. The other one must fit its neighbours, else the model would
learn which words are strange instead of looking: so it is one that stands between the same two words elsewhere,
and was seen as far before or after each word nearby ("two red cats", but not "a red cats"). And both must be words
that people miss at times: with "and" in place of "above", nothing would be missed. Words that people mostly miss
together, as "left" and "of", are missed together here too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beholder.study.words import split_words

EDGE = ""
"""What stands before the first word and after the last."""
NEARBY = 3
"""Words on either side that another word must fit."""
AT_TIMES = 0.01
"""Share of the images that miss a word, at least; less is a slip."""

MOSTLY, SEVERAL = 0.5, 10
"""Words are missed together where more than this share of the images (so many or more) that miss one miss both."""


@dataclass(frozen=True)
class Exchanges:
    """Which words stand between which, and which stand near which."""

    between: Mapping[tuple[str, str], tuple[str, ...]]
    near: Set[tuple[str, str, int]]
    """Two words, and how many places the second stands after the first."""
    missed: Set[str]
    """Words that people miss at times."""
    together: Set[tuple[str, str]] = frozenset()
    """Two words, one after the other, of which people mostly miss both or neither."""

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
        made = (*words[:place], other, *words[place + 1 :])
        new = self._with_it(made, place)
        return " ".join(made), tuple(missed or here in new for here, missed in enumerate(misaligned))

    def _with_it(self, words: Sequence[str], place: int) -> range:
        """The places of the words that are missed with the one at a place."""
        small = [word.lower() for word in words]
        first, last = place, place
        while first and (small[first - 1], small[first]) in self.together:
            first -= 1
        while last + 1 < len(small) and (small[last], small[last + 1]) in self.together:
            last += 1
        return range(first, last + 1)


def exchanges(said: Iterable[tuple[str, Sequence[bool] | None]]) -> Exchanges:
    """What the training prompts say, in small letters, and which of their words people missed."""
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    near: set[tuple[str, str, int]] = set()
    asked, missed = Counter[str](), Counter[str]()
    either, both = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for prompt, flags in said:
        words = [word.lower() for word in split_words(prompt)]
        with_edges = [EDGE, *words, EDGE]
        for before, word, after in zip(with_edges, with_edges[1:], with_edges[2:], strict=False):
            between[before, after].add(word)
        for place, word in enumerate(words):
            near |= {(other, word, away) for away, other in enumerate(_backwards(words, place), 1)}
        asked.update(words if flags is not None else ())
        missed.update(word for word, flag in zip(words, flags or (), strict=False) if flag)
        told = list(zip(words, flags or (), strict=False))
        for (word, one), (after, other) in pairwise(told):
            either[word, after] += one or other
            both[word, after] += one and other
    return Exchanges(
        {around: tuple(sorted(words)) for around, words in between.items() if len(words) > 1},
        frozenset(near),
        frozenset(word for word, times in missed.items() if times >= AT_TIMES * asked[word]),
        frozenset(pair for pair, times in both.items() if times > MOSTLY * max(either[pair], SEVERAL)),
    )


def _backwards(words: Sequence[str], place: int) -> Sequence[str]:
    """The words before a place, the nearest first."""
    return words[max(place - NEARBY, 0) : place][::-1]
