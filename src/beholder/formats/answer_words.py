"""What the words of other people's answer options mean: a side of a pair, or a number on a scale."""

import re

LEFT, TIE, RIGHT = "left", "tie", "right"

SIDES = {
    "left": LEFT,
    "a": LEFT,
    "1": LEFT,
    "first": LEFT,
    "right": RIGHT,
    "b": RIGHT,
    "2": RIGHT,
    "second": RIGHT,
}
TIES = frozenset({"tie", "equal", "equally", "same", "draw", "neither", "both"})
NO_PREFERENCE = "no preference"
FILLERS = frozenset({"image", "option", "picture", "item", "side", "the", "one", "is", "better", "prefer", "i"})

QUALITY = {"excellent": 5.0, "good": 4.0, "fair": 3.0, "poor": 2.0, "bad": 1.0}
"""The five words of ITU-R BT.500 and ITU-T P.910."""

NUMBER = re.compile(r"\s*(\d+(?:\.\d+)?)(?:\D|$)")


def side_of(words: str) -> str | None:
    """Read an option as *left*, *right* or *tie*; nothing if it is none of them, or a mere number.

    >>> side_of("Image A is better"), side_of("No preference"), side_of("2")
    ('left', 'tie', None)
    """
    text = words.strip().lower()
    if text == NO_PREFERENCE:
        return TIE
    tokens = re.findall(r"[a-z]+|\d+", text)
    if tokens and all(token.isdigit() for token in tokens):
        return None
    if TIES.intersection(tokens):
        return TIE
    # "a" is an article in "a dog", but a side in "a" and in "image a"
    sides = [token for token in tokens if token not in FILLERS]
    return SIDES.get(sides[0]) if len(sides) == 1 else None


def rating_of(words: str) -> float | None:
    """Read an option as a number: one that it begins with, or a word of the five-point quality scale.

    >>> rating_of("4 - good"), rating_of("Fair"), rating_of("cat")
    (4.0, 3.0, None)
    """
    number = NUMBER.match(words)
    return float(number.group(1)) if number else QUALITY.get(words.strip().lower())
