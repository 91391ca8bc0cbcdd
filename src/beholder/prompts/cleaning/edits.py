"""A text that is being cut, which remembers where every character stood in the original."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of the original that was removed: by which rule, for which words, and where it stood."""

    rule: str
    removed: str
    evidence: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Traced:
    """A text, and the place in the original of each of its characters."""

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "Traced":
        """Return a text nothing of which is cut."""
        return cls(text, tuple(range(len(text))))

    def without(self, spans: Iterable[tuple[int, int]]) -> "Traced":
        """Return the text without these spans, which may overlap."""
        cut = {place for start, end in spans for place in range(start, end)}
        left = [place for place in range(len(self.text)) if place not in cut]
        return Traced("".join(self.text[place] for place in left), tuple(self.places[place] for place in left))

    def cut(self, rule: str, evidence: str, start: int, end: int) -> Cut:
        """Return the record of a cut between two places of this text, in places of the original."""
        return Cut(rule, self.text[start:end], evidence, self.places[start], self.places[end - 1] + 1)
