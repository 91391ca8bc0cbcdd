"""Which word is another one misspelt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz.distance import OSA

from beholder.prompts.normalise import NormalPrompt
from beholder.prompts.words.english import english_words

SHORT = 4
"""Letters from which on a word can have a typo: below that, most changes of a letter give another word."""
COMMON = 3
"""A word that so many prompts contain is spelled as intended, whether or not it is in the list of words."""
OUTNUMBERED = 30
"""Where one prompt has a word, and so many have one that differs by a letter, it is taken for a typo."""
CONTEXT = 3
"""Content words that the prompts must have in common for that."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """Words that are spelled correctly, and how many prompts contain each word."""

    words: frozenset[str]
    uses: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_prompts(cls, prompts: Sequence[NormalPrompt]) -> "Spelling":
        """Return the spelling of English prompts: the words of a dictionary, and those that several have."""
        uses = Counter(word for prompt in prompts for word in set(prompt.content))
        return cls(english_words() | {word for word, count in uses.items() if count >= COMMON}, uses)

    def is_typo(self, word: str, other: str, shared: int) -> bool:
        """Whether one is the other with a letter added, left out, replaced, or exchanged with its neighbour.

        Args:
            word: a word of one prompt.
            other: the word of the other prompt.
            shared: content words that both prompts have.

        Example:
            >>> spelling = Spelling(frozenset({"bicycle", "boat", "goat"}))
            >>> spelling.is_typo("bicycle", "bicylce", 1), spelling.is_typo("boat", "goat", 1)
            (True, False)
        """
        if min(len(word), len(other)) < SHORT or not (word.isalpha() and other.isalpha()):
            return False
        if OSA.distance(word, other, score_cutoff=1) > 1 or f"{word}s" == other or f"{other}s" == word:
            return False
        if word not in self.words or other not in self.words:
            return True
        rare, frequent = sorted(self.uses.get(either, 0) for either in (word, other))
        return rare <= 1 and frequent >= OUTNUMBERED and word[0] == other[0] and shared >= CONTEXT
