"""New prompts by a grammar over seed prompts: a tagged word is replaced by one that other seeds have in its place.

Words are exchanged within a tag (colour for colour, count for count, animal for animal), and only for words that
occur in the seeds, so that the new prompts stay within what the seeds are about.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from beholder.prompts.normalise import normal_text
from beholder.prompts.tags.tagger import tag_prompt
from beholder.prompts.writing.new_prompt import NewPrompt

VARIED = ("colour", "size", "shape", "material", "texture", "count", "animal")
"""Tags whose words are exchanged."""
TRIES = 20
"""Draws per new prompt, before it is given up."""


def vary(seeds: Mapping[str, str], count: int, rng: np.random.Generator) -> list[NewPrompt]:
    """Write new prompts from seeds.

    Args:
        seeds: texts by id.
        count: how many to write; fewer come back where the seeds have too few tags.
        rng: draws the seeds and the words.

    Returns:
        Distinct prompts that are no seed, each with its parent and what was changed.
    """
    spans = {key: _spans(text) for key, text in seeds.items()}
    pools = _pools(seeds, spans)
    keys = [key for key in seeds if spans[key]]
    known = {normal_text(text) for text in seeds.values()}
    written: list[NewPrompt] = []
    for _ in range(count * TRIES):
        if len(written) >= count or not keys:
            break
        key = keys[rng.integers(len(keys))]
        name, start, end = spans[key][rng.integers(len(spans[key]))]
        old = seeds[key][start:end]
        others = [
            word for word in pools[name] if word != old.lower() and _is_plural(word) == _is_plural(old.lower())
        ]
        if not others:
            continue
        word = others[rng.integers(len(others))]
        text = _with_article(seeds[key][:start], word) + seeds[key][end:]
        if normal_text(text) not in known:
            known.add(normal_text(text))
            written.append(NewPrompt(text, key, "variation", f"{name}: {old} -> {word}", key))
    return written


def _spans(text: str) -> list[tuple[str, int, int]]:
    return [
        (tag.name, tag.start, tag.end)
        for tag in tag_prompt(text)
        if tag.name in VARIED and " " not in tag.evidence
    ]


def _pools(seeds: Mapping[str, str], spans: Mapping[str, Sequence[tuple[str, int, int]]]) -> dict[str, list[str]]:
    pools: dict[str, set[str]] = {name: set() for name in VARIED}
    for key, of_seed in spans.items():
        for name, start, end in of_seed:
            pools[name].add(seeds[key][start:end].lower())
    return {name: sorted(words) for name, words in pools.items()}


def _is_plural(word: str) -> bool:
    return word.endswith("s") or word in ("sheep", "fish", "deer")


def _with_article(before: str, word: str) -> str:
    """Append a word, with *a* or *an* before it as it needs."""
    head, space, article = before.rstrip().rpartition(" ")
    if article.lower() not in ("a", "an"):
        return before + (word[0].upper() + word[1:] if not before else word)
    vowel = word[0] in "aeiou"
    return f"{head}{space}{article[0]}{'n' if vowel else ''} {word}"
