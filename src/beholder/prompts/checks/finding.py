"""One thing that a check found in a prompt."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Which check, for which words, and where; ``start`` is ``end`` where it is about the prompt as a whole."""

    check: str
    evidence: str
    start: int
    end: int
