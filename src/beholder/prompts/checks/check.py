"""All checks of a prompt. A new check is a function of the tokens and a line in ``CHECKS``."""

from collections.abc import Callable, Iterable, Mapping

from beholder.prompts.checks.contradictions import find_contradictions
from beholder.prompts.checks.finding import Finding
from beholder.prompts.checks.persons import find_persons
from beholder.prompts.checks.quotes import find_quoted_text
from beholder.prompts.checks.word_lists import find_listed_words
from beholder.prompts.tags.tokens import Tokens, tokenise

CHECKS: dict[str, Callable[[Tokens], Iterable[Finding]]] = {
    "contradiction": find_contradictions,
    "named-person": find_persons,
    "quoted-text": find_quoted_text,
}
"""Check -> the function that finds what it is about. Languages and word lists are checks with settings."""


def check_prompt(text: str, word_lists: Mapping[str, tuple[str, ...]] | None = None) -> list[Finding]:
    """Return what all checks find in a prompt.

    Args:
        text: the prompt.
        word_lists: words and phrases in lower case, by the name of their list.

    Returns:
        The findings, in the order of ``CHECKS``, then those of the word lists.

    Example:
        >>> [(each.check, each.evidence) for each in check_prompt('Danny DeVito holds a sign "open"')]
        [('named-person', 'Danny DeVito'), ('quoted-text', '"open"')]
    """
    prompt = tokenise(text)
    findings = [finding for find in CHECKS.values() for finding in find(prompt)]
    return findings + list(find_listed_words(prompt, word_lists or {}))
