"""The id of a prompt."""

import hashlib


def prompt_id(text: str) -> str:
    """Return the id of a prompt: the same for the same text, in every study.

    >>> prompt_id("a photo of a cat")
    'ba792b3ff0f6'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:12]
