"""What two prompts are to each other: duplicates, near-duplicates, a minimal pair, or neither.

*Duplicates* have the same words in the same order. *Near-duplicates* differ only in words without content
(articles, forms of *to be*), in a misspelt word, or in the order of whole phrases. A *minimal pair* differs in
content: one or a few words are replaced, added or removed, or words change places (*a red car and a green bench*
against *a green car and a red bench*). Minimal pairs are what compositional benchmarks consist of, and are never
dropped.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from beholder.prompts.duplicates.spelling import Spelling
from beholder.prompts.normalise import NormalPrompt
from beholder.prompts.words.lexicons import words_of

Relation = Literal["duplicate", "near-duplicate", "minimal-pair", "paraphrase"]


LEAST_COMMON = 0.5
"""Proportion of content words that a minimal pair has in common, at least."""
MOST_DIFFERING = 4
"""Content words in which a minimal pair differs, at most."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two prompts are to each other, why, and how similar they are."""

    relation: Relation
    evidence: str
    """What differs: ``typo: bicylce / bicycle``, ``order``, ``function words``, ``content: red / blue``."""
    similarity: float
    """Proportion of content words in common (Dice)."""


def compare(first: NormalPrompt, second: NormalPrompt, spelling: Spelling) -> Verdict | None:
    """Compare two prompts.

    Args:
        first: a prompt, taken apart.
        second: another.
        spelling: says which word is another one misspelt.

    Returns:
        The verdict, or ``None`` where they have little in common.

    Example:
        >>> from beholder.prompts.normalise import normalise
        >>> spelling = Spelling(frozenset({"red", "blue"}))
        >>> compare(normalise("a photo of a cat"), normalise("Photo of the cat!"), spelling).evidence
        'function words'
        >>> compare(normalise("a red cat"), normalise("a blue cat"), spelling).relation
        'minimal-pair'
    """
    if first.text == second.text:
        return Verdict("duplicate", "case, punctuation or spacing" if first != second else "", 1.0)
    common = Counter(first.content) & Counter(second.content)
    similarity = 2 * common.total() / (len(first.content) + len(second.content))
    removed, added = Counter(first.content) - common, Counter(second.content) - common
    typos = _typos(list(removed.elements()), list(added.elements()), spelling, common.total())
    if len(typos) == removed.total() == added.total():
        return _same_words(first, second, typos, similarity)
    if "".join(first.words) == "".join(second.words):
        return Verdict("near-duplicate", "spacing", similarity)
    spelled = {wrong for pair in typos for wrong in pair}
    gone, new = ([word for word in side.elements() if word not in spelled] for side in (removed, added))
    differing = max(len(gone), len(new))
    in_common = (common.total() + len(typos)) / max(len(first.content), len(second.content))
    if differing > MOST_DIFFERING or in_common < LEAST_COMMON:
        return None
    return Verdict("minimal-pair", f"content: {' '.join(gone) or '–'} / {' '.join(new) or '–'}", similarity)


def _typos(removed: list[str], added: list[str], spelling: Spelling, shared: int) -> list[tuple[str, str]]:
    """Pair each removed word with an added one of which it is a misspelling, or the other way round."""
    left, pairs = list(added), []
    for word in removed:
        match = next((other for other in left if spelling.is_typo(word, other, shared)), None)
        if match is not None:
            left.remove(match)
            pairs.append((word, match))
    return pairs


def _same_words(
    first: NormalPrompt, second: NormalPrompt, typos: list[tuple[str, str]], similarity: float
) -> Verdict:
    """Return the verdict for prompts with the same content words, but for typos, which are corrected here."""
    corrected = dict(typos)

    def correct(words: Iterable[str]) -> tuple[str, ...]:
        return tuple(corrected.get(word, word) for word in words)

    spelled = "; ".join(f"typo: {word} / {other}" for word, other in typos)
    words, others = correct(first.content), correct(second.content)
    if words == others:
        return Verdict("near-duplicate", spelled or "function words", similarity)
    lists_moved = sorted(map(correct, first.clauses)) == sorted(map(correct, second.clauses))
    if lists_moved or _phrase_moved(words, others) or _conjuncts_moved(first, second, correct):
        return Verdict("near-duplicate", f"{spelled}; order" if spelled else "order", similarity)
    return Verdict("minimal-pair", "content: words exchanged", similarity)


def _phrase_moved(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether a phrase that begins with a preposition moved from the end to the start, or back."""
    return any(
        words[split:] + words[:split] == others
        and (words[split] in words_of("preposition") or words[0] in words_of("preposition"))
        for split in range(1, len(words))
    )


def _conjuncts_moved(
    first: NormalPrompt, second: NormalPrompt, correct: Callable[[Iterable[str]], tuple[str, ...]]
) -> bool:
    """Whether what *and* joins changed its order; not so where only one of them has a preposition."""
    conjuncts = [correct(part) for part in first.conjuncts]
    if sorted(conjuncts) != sorted(map(correct, second.conjuncts)):
        return False
    related = [any(word in words_of("preposition") for word in part) for part in conjuncts]
    return all(related) or not any(related)
