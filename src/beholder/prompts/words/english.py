"""English words, to recognise a misspelt one: SCOWL's list of size 60, 73,445 words with names and inflections."""

import gzip
from functools import cache
from importlib import resources


@cache
def english_words() -> frozenset[str]:
    """Return all words of the list in lower case.

    Example:
        >>> "bicycle" in english_words(), "bicylce" in english_words()
        (True, False)
    """
    packed = resources.files("beholder.prompts.words").joinpath("english.txt.gz").read_bytes()
    return frozenset(gzip.decompress(packed).decode().split("\n"))
