"""How a prompt is cut into words: the rule RichHF-18K uses, so that word positions mean the same everywhere."""

import re

_BREAKS = re.compile(r'[,.?!":;\s]+')


def split_words(prompt: str) -> tuple[str, ...]:
    """Split at ``, . ? ! " : ;`` and at whitespace, and drop what is empty.

    A word keeps its case, its hyphens and its apostrophes: ``"A cat-like face, isn't it?"`` has the words
    ``A``, ``cat-like``, ``face``, ``isn't`` and ``it``.
    """
    return tuple(word for word in _BREAKS.split(prompt) if word)
