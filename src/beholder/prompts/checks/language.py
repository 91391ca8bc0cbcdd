"""The language of a prompt: English where nearly all of its words are, otherwise what py3langid says."""

import re
from functools import cache

from py3langid.langid import MODEL_FILE, LanguageIdentifier

from beholder.prompts.words.english import english_words

WORD = re.compile(r"[^\W\d_]+")
ENGLISH = "en"
UNCERTAIN = "und"
"""ISO 639's code for an undetermined language."""
SURELY_ENGLISH, LIKELY_ENGLISH = 0.8, 0.5
"""Proportions of English words from which on a prompt is English, whatever a classifier says, or where it does not
know: names and keywords mislead it."""
LEAST_PROBABILITY, ENOUGH_LETTERS = 0.5, 12
"""Probability and number of letters from which on the classifier is believed."""
SHORT = 4
"""Letters below which nothing is said."""


def language_of(text: str) -> str:
    """Return the ISO 639 code of a prompt's language, ``und`` where it cannot be determined.

    Example:
        >>> language_of("a photo of a cat"), language_of("ein Foto von einer Katze im Garten")
        ('en', 'de')
    """
    words = [word.lower() for word in WORD.findall(text)]
    if sum(map(len, words)) < SHORT:
        return UNCERTAIN
    english = sum(word in english_words() for word in words) / len(words)
    if english >= SURELY_ENGLISH:
        return ENGLISH
    language, probability = _identifier().classify(text)
    if language == ENGLISH or (probability >= LEAST_PROBABILITY and sum(map(len, words)) >= ENOUGH_LETTERS):
        return str(language)
    return ENGLISH if english >= LIKELY_ENGLISH else UNCERTAIN


@cache
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
