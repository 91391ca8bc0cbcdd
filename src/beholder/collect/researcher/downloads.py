"""Which formats a study can be downloaded in: those for its kinds of questions.

The server does not load ``beholder.formats``, so what each format needs is repeated here; a test compares the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.study import Study


@dataclass(frozen=True, slots=True)
class Needs:
    """A question of one of the kinds, with all aspects; ``between``: in which each rater judges one generator."""

    kinds: tuple[str, ...]
    aspects: frozenset[str] = frozenset()
    between: bool = False

    def met_by(self, question: AnyQuestion) -> bool:
        """Whether a question can be written in the format."""
        if question.kind not in self.kinds or (self.between and not question.design.between):
            return False
        return self.aspects <= set(kind_of(question).aspects(question))


NEEDS = {
    "layer6": Needs(("realism", "timed-realism"), between=True),
    "hpd": Needs(("pair", "ranking")),
    "imagereward": Needs(("ranking",)),
    "pickapic": Needs(("pair",)),
    "agiqa": Needs(("rating",), frozenset({"quality", "alignment"})),
    "aigciqa": Needs(("rating",), frozenset({"quality", "authenticity", "alignment"})),
    "richhf": Needs(("rich-feedback",)),
}
"""Formats that are not for all questions."""


def formats_for(study: Study, formats: Sequence[str]) -> list[str]:
    """Return the formats that a study can be written in, in their order."""
    return [
        name
        for name in formats
        if name not in NEEDS or any(NEEDS[name].met_by(question) for question in study.questions)
    ]
