"""Who or what is depicted: persons, animals, and parts of them."""

from collections.abc import Iterator

from beholder.prompts.tags.tag import Tag, tag_of
from beholder.prompts.tags.tokens import Tokens, matches
from beholder.prompts.words.lexicons import phrases, wordnet, words_of

NOT_NOUNS = frozenset(["toaster", "cross", "light", "stack", "jack", "cracker", "roller", "conductor", "mummy"])
"""Words that rarely mean what WordNet's most frequent sense says."""


def tag_nouns(prompt: Tokens, name: str, wordnet_list: str) -> Iterator[Tag]:
    """Yield nouns of a list of WordNet or of our own, in singular or plural, with the singular as label."""
    own = words_of(name) if name in ("person", "animal") else frozenset[str]()
    nouns = wordnet(wordnet_list)
    words = prompt.words
    things = {
        place for match in matches(words, phrases("not_living")) for place in range(match.first, match.after)
    }
    for place, token in enumerate(words):
        if place in things or not NOT_NOUNS.isdisjoint((token.word, token.word.removesuffix("s"))):
            continue
        noun = next((form for form in _singulars(token.word) if form in nouns or form in own), None)
        if noun is not None:
            yield tag_of(name, noun, prompt, words, place, place + 1)


def is_living(word: str) -> bool:
    """Whether a word is a person or an animal, in singular or plural."""
    return any(
        form in wordnet("persons")
        or form in wordnet("animals")
        or form in words_of("person")
        or form in words_of("animal")
        for form in _singulars(word)
    )


def _singulars(word: str) -> tuple[str, ...]:
    word = word.removesuffix("'s")
    if word.endswith("ies"):
        return word, f"{word[:-3]}y"
    if word.endswith("es"):
        return word, word[:-1], word[:-2]
    if word.endswith("s"):
        return word, word[:-1]
    return (word,)
