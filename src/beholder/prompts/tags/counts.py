"""How many: numbers of things, spelled or in digits, and quantities such as *a pair of*."""

import re
from collections.abc import Iterator

from beholder.prompts.tags.tag import Tag, tag_of
from beholder.prompts.tags.tokens import Tokens, matches
from beholder.prompts.words.lexicons import phrases, words_of

VALUES = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ],
        start=1,
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
VALUES |= {"hundred": 100, "thousand": 1000}
QUANTITIES = {"pair of": "2", "couple of": "2", "duo of": "2", "trio of": "3", "dozen": "12", "half a dozen": "6"}
MOST = 1000
"""Larger numbers in digits are years, sizes in pixels or serial numbers."""


def tag_counts(prompt: Tokens) -> Iterator[Tag]:
    """Yield how many things the prompt asks for, with the number as label (*several* and *few* as they are)."""
    words = prompt.words
    for match in matches(words, phrases("quantity")):
        yield tag_of("count", QUANTITIES.get(match.phrase, match.phrase), prompt, words, match.first, match.after)
    for place, token in enumerate(words):
        following = words[place + 1].word if place + 1 < len(words) else ""
        before = words[place - 1].word if place else ""
        number = VALUES.get(token.word) or (int(token.word) if re.fullmatch(r"\d{1,4}", token.word) else 0)
        if (
            not 0 < number <= MOST
            or not following
            or not following[0].isalpha()
            or following in words_of("not_counted")
        ):
            continue
        if token.word.isdigit() and (
            before in words_of("before_code") or before == ":" or prompt.text[token.end :].startswith(" -")
        ):
            continue
        if number == 1 and (
            following in words_of("after_pronoun_one") or before in ("the", "this", "that", "each", "every", "no")
        ):
            continue
        yield tag_of("count", str(number), prompt, words, place, place + 1)
