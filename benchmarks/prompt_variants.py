"""Near-duplicates of known origin: prompts changed as people change them, in five ways.

The changes are drawn without looking at how the package finds them: it shares no word list with this file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONG_WORD = 5
"""Letters from which on a word gets a typo; a typo in a shorter one is often another word."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A changed prompt, which text it was changed from, and how."""

    origin: int
    kind: str
    text: str


def draw_variants(texts: Sequence[str], count: int, rng: np.random.Generator) -> list[Variant]:
    """Draw ``count`` variants of distinct prompts, the kinds alternately."""
    variants: list[Variant] = []
    order = iter(rng.permutation(len(texts)))
    while len(variants) < count:
        kind = list(CHANGES)[len(variants) % len(CHANGES)]
        for origin in order:
            changed = CHANGES[kind](texts[origin], rng)
            if changed is not None and changed != texts[origin]:
                variants.append(Variant(int(origin), kind, changed))
                break
        else:
            raise ValueError(f"too few prompts for {count} variants")
    return variants


def change_case(text: str, rng: np.random.Generator) -> str | None:
    """Upper case, lower case, or every word capitalised."""
    ways: list[Callable[[str], str]] = [
        str.upper,
        str.lower,
        lambda t: " ".join(w.capitalize() for w in t.split()),
    ]
    return ways[rng.integers(3)](text)


def change_punctuation(text: str, rng: np.random.Generator) -> str | None:
    """A full stop added or removed, commas removed, quotes around it, spaces doubled, an exclamation mark."""
    ways = [
        text.rstrip(".") if text.endswith(".") else text + ".",
        text.replace(",", "") if "," in text else text + " !",
        f'"{text}"',
        text.replace(" ", "  "),
        text.rstrip(".") + "!!",
    ]
    return ways[rng.integers(len(ways))]


def add_typo(text: str, rng: np.random.Generator) -> str | None:
    """One letter of one long word left out, doubled, replaced, or exchanged with the next; never the first."""
    words = text.split(" ")
    long = [
        place for place, word in enumerate(words) if len(word) >= LONG_WORD and word.isalpha() and word.isascii()
    ]
    if not long:
        return None
    place = long[rng.integers(len(long))]
    word = words[place]
    at = int(rng.integers(1, len(word) - 1))
    way = rng.integers(4)
    if way == 0:
        word = word[:at] + word[at + 1 :]
    elif way == 1:
        word = word[:at] + word[at] + word[at:]
    elif way == 2:
        word = word[:at] + LETTERS[rng.integers(26)] + word[at + 1 :]
    else:
        word = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    words[place] = word
    return " ".join(words)


def change_order(text: str, rng: np.random.Generator) -> str | None:
    """Two coordinated noun phrases or parts of a list exchanged, or a final *in the …* put in front."""
    bare = text.rstrip(".")
    parts = [part.strip() for part in bare.split(",")]
    if len(parts) >= 4 and all(part and len(part.split()) <= 5 and "." not in part for part in parts):
        return ", ".join(parts[place] for place in rng.permutation(len(parts)))
    words = bare.split(" ")
    if " and " in bare and "," not in bare and len(words) <= 9 and bare.count(" and ") == 1:
        left, right = bare.split(" and ")
        both_begin_phrases = all(side.split(" ")[0].lower() in ARTICLES for side in (left, right))
        if both_begin_phrases and max(len(left.split()), len(right.split())) <= 4:
            return f"{right} and {left}"
    for start in (" in the ", " in a ", " on a ", " on the ", " at the ", " during ", " under a "):
        head, found, tail = bare.rpartition(start)
        if found and len(tail.split()) <= 3 and "," not in tail and len(head.split()) >= 3:
            return f"{start.strip().capitalize()} {tail}, {head[:1].lower()}{head[1:]}"
    return None


def change_function_words(text: str, rng: np.random.Generator) -> str | None:
    """Articles changed or left out, *there is* put in front, *is* and *are* left out."""
    words = text.split(" ")
    ways = [
        [{"a": "the", "A": "The", "the": "a", "The": "A"}.get(word, word) for word in words],
        [word for word in words if word.lower() not in ARTICLES[:3]],
        [word for word in words if word not in ("is", "are")],
        ["There", "is", words[0].lower(), *words[1:]] if words[0].lower() in ARTICLES[:2] else words,
    ]
    changed = " ".join(ways[rng.integers(len(ways))])
    return changed if changed and changed != text else None


ARTICLES = ("a", "an", "the", "one", "two", "three", "four", "five", "six", "seven", "eight")

CHANGES: dict[str, Callable[[str, np.random.Generator], str | None]] = {
    "case": change_case,
    "punctuation": change_punctuation,
    "typo": add_typo,
    "order": change_order,
    "function words": change_function_words,
}
