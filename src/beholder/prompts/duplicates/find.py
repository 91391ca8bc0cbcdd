"""All pairs of prompts that say the same, nearly the same, or differ in a word."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from beholder.prompts.duplicates.candidates import candidate_pairs
from beholder.prompts.duplicates.compare import Relation, compare
from beholder.prompts.duplicates.spelling import Spelling
from beholder.prompts.normalise import normalise


@dataclass(frozen=True, slots=True)
class PromptPair:
    """Two prompts by their positions, the earlier first, and what they are to each other."""

    first: int
    second: int
    relation: Relation
    evidence: str
    similarity: float


def find_pairs(texts: Sequence[str], spelling: Spelling | None = None) -> list[PromptPair]:
    """Find duplicates, near-duplicates and minimal pairs among prompts.

    Of several texts that are the same but for case and punctuation, only the first is compared with others; the
    others are duplicates of it. So the number of pairs does not grow with the square of a text's copies.

    Args:
        texts: the prompts.
        spelling: says which words are misspelt; by default an English dictionary and the prompts themselves.

    Returns:
        The pairs, by the position of the first prompt, then of the second.

    Example:
        >>> pairs = find_pairs(["a red truck", "A red truck.", "a blue truck", "a red trukc"])
        >>> [(pair.first, pair.second, pair.relation) for pair in pairs]
        [(0, 1, 'duplicate'), (0, 2, 'minimal-pair'), (0, 3, 'near-duplicate')]
    """
    copies: dict[str, list[int]] = defaultdict(list)
    prompts = [normalise(text) for text in texts]
    for position, prompt in enumerate(prompts):
        copies[prompt.text].append(position)
    pairs = [
        PromptPair(first, other, "duplicate", _typography(texts[first], texts[other]), 1.0)
        for first, *others in copies.values()
        for other in others
    ]
    firsts = [positions[0] for positions in copies.values()]
    distinct = [prompts[position] for position in firsts]
    spelling = spelling or Spelling.of_prompts(distinct)
    for low, high in candidate_pairs(distinct):
        verdict = compare(distinct[low], distinct[high], spelling)
        if verdict is not None:
            pairs.append(
                PromptPair(firsts[low], firsts[high], verdict.relation, verdict.evidence, verdict.similarity)
            )
    return sorted(pairs, key=lambda pair: (pair.first, pair.second))


def _typography(text: str, other: str) -> str:
    if text == other:
        return "the same text"
    return "case" if text.casefold() == other.casefold() else "case, punctuation or spacing"
