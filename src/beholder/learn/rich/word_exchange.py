"""Augmentation of prompts: one word is exchanged for another that fits, which is then misaligned with the image.

Few words of a prompt are misaligned, so a model sees few examples of each. Replacing a word that raters found in
the image gives a certain example. The replacement must fit its neighbours, else the model would learn which words
are unusual instead of looking at the image: it occurs between the same two words elsewhere, and at the same
distance before or after each word nearby ("two red cats", but not "a red cats"). And both must be words that
raters sometimes call misaligned: with "and" instead of "above", nothing would be misaligned. Words that are mostly
misaligned together, such as "left" and "of", are marked together here too.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beholder.study.words import split_words

EDGE = ""
"""Stands for the edge before the first word and after the last."""
NEARBY = 3
"""Number of words on either side that a replacement must fit."""
MIN_MISALIGNED = 0.01
"""Proportion of a word's occurrences that must be misaligned; fewer count as slips."""

JOINT_PROPORTION, JOINT_COUNT = 0.5, 10
"""Two words count as misaligned together if both are, in more than this proportion of the images where either is,
of which there must be at least this many."""


@dataclass(frozen=True)
class WordExchanges:
    """The words that can replace each other, from the training prompts."""

    between: Mapping[tuple[str, str], tuple[str, ...]]
    """(word before, word after) -> the words that occur between them."""
    near: Set[tuple[str, str, int]]
    """Two words, and how many positions the second comes after the first."""
    misaligned: Set[str]
    """Words that raters sometimes call misaligned."""
    together: Set[tuple[str, str]] = frozenset()
    """Two consecutive words that raters mostly call misaligned together or not at all."""

    def replacements(self, words: Sequence[str], index: int) -> tuple[str, ...]:
        """Return the words that can replace the one at an index."""
        lower = [word.lower() for word in words]
        before = lower[index - 1] if index else EDGE
        after = lower[index + 1] if index + 1 < len(lower) else EDGE
        candidates = self.between.get((before, after), ()) if lower[index] in self.misaligned else ()
        return tuple(
            candidate
            for candidate in candidates
            if candidate != lower[index] and self._fits(lower, index, candidate)
        )

    def _fits(self, words: Sequence[str], index: int, other: str) -> bool:
        earlier = ((word, other, distance) for distance, word in enumerate(_backwards(words, index), 1))
        later = ((other, word, distance) for distance, word in enumerate(words[index + 1 : index + 1 + NEARBY], 1))
        return other in self.misaligned and all(pair in self.near for pair in (*earlier, *later))

    def exchange(
        self, prompt: str, misaligned: Sequence[bool], rng: np.random.Generator
    ) -> tuple[str, tuple[bool, ...]] | None:
        """Return the prompt with one aligned word exchanged, and the flags of its words; None if no word can be.

        The new prompt has single spaces between its words.
        """
        words = split_words(prompt)
        indices = [index for index, flag in enumerate(misaligned) if not flag and self.replacements(words, index)]
        if not indices:
            return None
        index = int(rng.choice(indices))
        other = str(rng.choice(self.replacements(words, index)))
        exchanged = (*words[:index], other, *words[index + 1 :])
        newly_misaligned = self._misaligned_together(exchanged, index)
        return " ".join(exchanged), tuple(
            flag or position in newly_misaligned for position, flag in enumerate(misaligned)
        )

    def _misaligned_together(self, words: Sequence[str], index: int) -> range:
        """Return the indices of the words that are misaligned together with the one at an index."""
        lower = [word.lower() for word in words]
        first, last = index, index
        while first and (lower[first - 1], lower[first]) in self.together:
            first -= 1
        while last + 1 < len(lower) and (lower[last], lower[last + 1]) in self.together:
            last += 1
        return range(first, last + 1)


def find_word_exchanges(labelled_prompts: Iterable[tuple[str, Sequence[bool] | None]]) -> WordExchanges:
    """Return the possible exchanges from (prompt, flags of misaligned words), in lower case."""
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    near: set[tuple[str, str, int]] = set()
    occurrences, misaligned = Counter[str](), Counter[str]()
    either, both = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for prompt, flags in labelled_prompts:
        words = [word.lower() for word in split_words(prompt)]
        with_edges = [EDGE, *words, EDGE]
        for before, word, after in zip(with_edges, with_edges[1:], with_edges[2:], strict=False):
            between[before, after].add(word)
        for index, word in enumerate(words):
            near |= {(earlier, word, distance) for distance, earlier in enumerate(_backwards(words, index), 1)}
        occurrences.update(words if flags is not None else ())
        misaligned.update(word for word, flag in zip(words, flags or (), strict=False) if flag)
        words_and_flags = list(zip(words, flags or (), strict=False))
        for (word, word_flag), (after, after_flag) in pairwise(words_and_flags):
            either[word, after] += word_flag or after_flag
            both[word, after] += word_flag and after_flag
    return WordExchanges(
        {around: tuple(sorted(words)) for around, words in between.items() if len(words) > 1},
        frozenset(near),
        frozenset(word for word, times in misaligned.items() if times >= MIN_MISALIGNED * occurrences[word]),
        frozenset(
            pair for pair, times in both.items() if times > JOINT_PROPORTION * max(either[pair], JOINT_COUNT)
        ),
    )


def _backwards(words: Sequence[str], index: int) -> Sequence[str]:
    """Return the words before an index, the nearest first."""
    return words[max(index - NEARBY, 0) : index][::-1]
