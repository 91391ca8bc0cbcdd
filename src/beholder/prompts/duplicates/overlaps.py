"""How many prompts two sets share: whoever averages over both counts these twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from beholder.prompts.normalise import normal_text
from beholder.prompts.prompt import PromptSet


@dataclass(frozen=True, slots=True)
class Overlap:
    """Distinct prompts of two sets, without case and punctuation, and how many are in both."""

    first: str
    second: str
    first_distinct: int
    second_distinct: int
    shared: int


def overlaps(sets: Sequence[PromptSet]) -> list[Overlap]:
    """Return the overlap of every two sets that share a prompt, the largest first.

    Args:
        sets: the sets to compare; a text that occurs several times in one of them counts once.
    """
    texts = {each.full_name: {normal_text(prompt.text) for prompt in each.prompts} for each in sets}
    pairs = [
        Overlap(first, second, len(texts[first]), len(texts[second]), len(texts[first] & texts[second]))
        for first, second in combinations(texts, 2)
    ]
    return sorted((pair for pair in pairs if pair.shared), key=lambda pair: -pair.shared)
