"""How things stand to each other: spatial relations, actions, comparisons; and what is negated."""

from collections.abc import Iterator

from beholder.prompts.tags.counts import VALUES
from beholder.prompts.tags.subjects import is_living
from beholder.prompts.tags.tag import Tag, tag_of
from beholder.prompts.tags.tokens import Match, Token, Tokens, matches
from beholder.prompts.words.lexicons import phrases, wordnet, words_of

NOT_SPATIAL = {
    "on": ("artstation", "canvas", "trending"),
    "at": ("night", "sunset", "sunrise", "dawn", "dusk", "noon"),
}
"""Prepositions, and what follows them where they say nothing of space; those of *in* are a list."""
BEFORE_ARTICLE = frozenset(["by", "from", "up", "out", "down", "off", "over"])
"""Prepositions that are spatial only before an article or the like."""
CONSONANT_DOUBLED = 2
MOST_ATTRIBUTES = 7
"""Words between a number and what it counts, at most."""
MADE_OR_DOING = frozenset(["painting", "drawing"])
"""Both a picture and what its maker does."""


def tag_spatial(prompt: Tokens) -> Iterator[Tag]:
    """Yield spatial relations, with the preposition or phrase as label."""
    words = prompt.words
    for match in matches(words, phrases("spatial")):
        if not _is_spatial(prompt, words, match):
            continue
        yield tag_of("spatial", match.phrase, prompt, words, match.first, match.after)


def tag_actions(prompt: Tokens) -> Iterator[Tag]:
    """Yield what is done, with the infinitive as label: forms in *-ing*, in the third person, and after a subject.

    Verbs of state, such as *stand* and *wear*, are none.
    """
    words = prompt.words
    compounds = {
        place for match in matches(words, phrases("compound_ing")) for place in range(match.first, match.after)
    }
    for place, token in enumerate(words):
        before = words[place - 1].word if place else ""
        if place in compounds or (token.capital and place):
            continue
        following = words[place + 1].word if place + 1 < len(words) else "."
        if token.word.endswith("s") and _is_counted(words, place):
            continue
        acting = place > 0 and (is_living(before) or words[place - 1].capital)
        if token.word in MADE_OR_DOING and not _is_doing(words, place):
            continue
        verb = _infinitive(token.word, before, following, acting=acting)
        if verb is not None and verb not in words_of("state_verb"):
            yield tag_of("action", verb, prompt, words, place, place + 1)


def tag_listed(prompt: Tokens, name: str) -> Iterator[Tag]:
    """Yield the phrases of a list as they are; *painting* in *a man painting it* is no style."""
    words = prompt.words
    for match in matches(words, phrases(name)):
        if match.phrase in MADE_OR_DOING and _is_doing(words, match.first):
            continue
        yield tag_of(name, match.phrase, prompt, words, match.first, match.after)


def _is_counted(words: tuple[Token, ...], place: int) -> bool:
    """Whether a number stands before the word, in the same phrase: *three ceramic sinks*."""
    for token in reversed(words[max(place - MOST_ATTRIBUTES, 0) : place]):
        if token.word in VALUES or token.word.isdigit():
            return True
        if token.word in words_of("article", "after_verb") or is_living(token.word) or not token.word[0].isalpha():
            return False
    return False


def _is_doing(words: tuple[Token, ...], place: int) -> bool:
    """Whether *painting* and the like is what somebody does."""
    following = words[place + 1].word if place + 1 < len(words) else "."
    return (
        place > 0
        and is_living(words[place - 1].word)
        and (following in words_of("article") or following.isdigit() or following in VALUES)
    )


def _is_spatial(prompt: Tokens, words: tuple[Token, ...], match: Match) -> bool:
    if match.after >= len(words):
        return len(match.phrase.split()) > 1
    if match.phrase in BEFORE_ARTICLE:
        return words[match.after].word in words_of("article")
    exceptions = phrases("not_place") if match.phrase == "in" else NOT_SPATIAL.get(match.phrase, ())
    return not prompt.text[words[match.after].start :].lower().startswith(exceptions)


def _infinitive(word: str, before: str, following: str, *, acting: bool) -> str | None:
    """Return the verb of which a word is a form; ``None`` where it is none, or rather a noun."""
    if word.endswith("ing") and len(word) > len("sing"):
        return None if word in words_of("noun_ing") or before in words_of("article") else _of_gerund(word)
    if before in words_of("article", "before_plural") or not (
        acting or following in words_of("article", "after_verb")
    ):
        return None
    verbs = wordnet("verbs")
    if word.endswith("s") and not word.endswith("ss") and not is_living(word):
        ies = f"{word.removesuffix('ies')}y" if word.endswith("ies") else word.removesuffix("s")
        stems = (word.removesuffix("s"), word.removesuffix("es"), ies)
        return next((verb for verb in stems if verb in verbs and verb != word), None)
    return (
        word
        if acting and word in verbs and following in words_of("article", "after_verb") | {"past", "."}
        else None
    )


def _of_gerund(word: str) -> str | None:
    verbs, stem = wordnet("verbs_any"), word.removesuffix("ing")
    undoubled = stem[:-1] if len(stem) > CONSONANT_DOUBLED and stem[-1] == stem[-2] else stem
    return next((verb for verb in (f"{stem}e", stem, undoubled) if verb in verbs), None)
