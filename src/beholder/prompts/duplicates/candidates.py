"""Which pairs of prompts are worth comparing: all that can be near-duplicates or minimal pairs, and few others.

Two prompts are compared where they share a key. Keys of a prompt with n content words: all of them as a bag; the
bag without each of its words (so every pair that differs in one word, replaced, added or removed, shares a key);
its letters without spaces; and, for pairs that differ in several words, its rarest words (prefix filter for sets:
two bags of sizes m ≤ n with at least a proportion t of the larger in common share one of their n − ⌈t·n⌉ + 1
rarest).
"""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from beholder.prompts.normalise import NormalPrompt

LEAST_IN_COMMON = 0.8
"""Proportion of words in common from which pairs that differ in several words are compared."""
MOST_PER_RARE_WORD = 400
"""A word that more prompts share than this is not rare: it alone makes no candidates."""


def candidate_pairs(prompts: Sequence[NormalPrompt]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of positions to compare, each once, the lower first.

    Args:
        prompts: distinct normal texts.
    """
    yielded: set[tuple[int, int]] = set()
    for bucket in _buckets(prompts):
        for place, low in enumerate(bucket):
            for high in bucket[place + 1 :]:
                if (low, high) not in yielded:
                    yielded.add((low, high))
                    yield low, high


def _buckets(prompts: Sequence[NormalPrompt]) -> Iterator[list[int]]:
    hash_of = {word: _hash(word) for prompt in prompts for word in prompt.content}
    by_bag: dict[int, dict[int, None]] = defaultdict(dict)
    by_letters: dict[str, list[int]] = defaultdict(list)
    for position, prompt in enumerate(prompts):
        hashes = [hash_of[word] for word in prompt.content]
        bag = sum(hashes)  # the same for every order
        by_bag[bag][position] = None
        for lacking in set(hashes):
            by_bag[bag - lacking][position] = None
        by_letters["".join(prompt.words)].append(position)
    yield from (list(bucket) for bucket in by_bag.values() if len(bucket) > 1)
    yield from (bucket for bucket in by_letters.values() if len(bucket) > 1)
    yield from _by_rare_words(prompts)


def _by_rare_words(prompts: Sequence[NormalPrompt]) -> Iterator[list[int]]:
    frequency = Counter(word for prompt in prompts for word in set(prompt.content))
    holders: dict[str, list[int]] = defaultdict(list)
    sizes = [len(set(prompt.content)) for prompt in prompts]
    for position, prompt in enumerate(prompts):
        size = sizes[position]
        prefix = size - math.ceil(LEAST_IN_COMMON * size) + 1
        for word in sorted(set(prompt.content), key=lambda word: (frequency[word], word))[:prefix]:
            holders[word].append(position)
    for bucket in holders.values():
        if 1 < len(bucket) <= MOST_PER_RARE_WORD:
            yield from _of_similar_size(bucket, sizes, prompts)


def _of_similar_size(
    bucket: Iterable[int], sizes: Sequence[int], prompts: Sequence[NormalPrompt]
) -> Iterator[list[int]]:
    """Yield the pairs of a bucket whose words overlap enough."""
    ordered = sorted(bucket, key=lambda position: (sizes[position], position))
    sets = {position: set(prompts[position].content) for position in ordered}
    for place, small in enumerate(ordered):
        for large in ordered[place + 1 :]:
            if sizes[small] < LEAST_IN_COMMON * sizes[large]:
                break
            if len(sets[small] & sets[large]) >= LEAST_IN_COMMON * sizes[large]:
                yield sorted((small, large))


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
