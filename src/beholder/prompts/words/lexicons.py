"""The words that tags rest on: lists written for prompts, and nouns and verbs of WordNet."""

import gzip
import json
import tomllib
from functools import cache
from importlib import resources

_ROOM = resources.files("beholder.prompts.words")


@cache
def phrases(name: str) -> tuple[str, ...]:
    """Return the words and phrases of a list of ``tags.toml``, the longest first, so that these match first."""
    listed: list[str] = tomllib.loads(_ROOM.joinpath("tags.toml").read_text(encoding="utf-8"))[name]
    return tuple(sorted(set(listed), key=lambda phrase: (-len(phrase.split()), phrase)))


@cache
def words_of(*names: str) -> frozenset[str]:
    """Return one or several lists of ``tags.toml`` as a set."""
    return frozenset(phrase for name in names for phrase in phrases(name))


@cache
def wordnet(name: str) -> frozenset[str]:
    """Return a list of WordNet: nouns (``persons``, ``animals``, ``body_parts``), verbs or names.

    A noun is in a list where its most frequent sense is below *person*, *animal* and so on; a verb is in ``verbs``
    where it is a verb more often than a noun, and else in ``verbs_any`` alone. ``famous_names`` are persons of
    WordNet, ``given_names`` the first of their names and names of the dictionary.
    ``benchmarks/word_lists.py`` makes the lists.
    """
    packed = gzip.decompress(_ROOM.joinpath("wordnet.json.gz").read_bytes())
    lists: dict[str, list[str]] = json.loads(packed)
    return frozenset(lists[name])
