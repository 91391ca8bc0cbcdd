"""The word lists of ``beholder.prompts.words``, made again from Debian's ``wamerican`` and ``wordnet-base``.

``python benchmarks/word_lists.py /usr/share/dict/american-english /usr/share/wordnet OUT`` writes
``english.txt.gz`` (SCOWL, size 60) and ``wordnet.json.gz`` into OUT; the committed files were made from wamerican
2020.12.07-2 and WordNet 3.0-37 of Debian 12.
"""

import gzip
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PERSON, ANIMAL, ARTIFACT = "00007846", "00015388", "00021939"
BODY_PART = "05220461"
"""Offsets of the synsets in ``data.noun`` of WordNet 3.0."""
ATTRIBUTES = ("colour", "size", "shape", "material", "texture", "state")
NOT_ANIMALS = frozenset(
    [
        "head",
        "giant",
        "male",
        "female",
        "young",
        "mate",
        "host",
        "game",
        "pet",
        "work",
        "stock",
        "stayer",
        "survivor",
        "range",
        "racer",
        "mount",
        "prey",
        "darter",
        "pest",
        "peeper",
        "x",
        "critic",
        "pointer",
        "setter",
        "boxer",
        "bay",
        "roan",
        "sorrel",
        "chestnut",
        "grey",
    ]
)
NOT_BODY_PARTS = frozenset(["behind", "back", "sticker", "palm", "plant", "cross", "light"])
TITLES = frozenset(
    [
        "saint",
        "sir",
        "king",
        "queen",
        "pope",
        "the",
        "lord",
        "duke",
        "prince",
        "princess",
        "emperor",
        "black",
        "great",
        "old",
        "big",
        "little",
        "captain",
        "x",
        "baron",
        "count",
        "general",
        "earl",
        "buffalo",
        "calamity",
        "wild",
        "crazy",
        "sitting",
        "red",
        "y",
        "z",
        "don",
        "dame",
        "st",
        "first",
    ]
)
ALSO_GIVEN = frozenset(["will", "mark", "grant", "frank"])
LEAST_VERB_USES = 3


@dataclass
class WordNet:
    """What is needed of WordNet's files."""

    senses: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """Part of speech -> lemma -> offsets of its senses, the most frequent first."""
    lemmas: dict[str, list[str]] = field(default_factory=dict)
    below: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    instances: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    uses: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(lemma, part of speech) -> how often it is tagged in a corpus."""

    def descendants(self, root: str) -> set[str]:
        """The synsets below one, and itself."""
        reached, waiting = set[str](), [root]
        while waiting:
            offset = waiting.pop()
            if offset not in reached:
                reached.add(offset)
                waiting += self.below[offset]
        return reached


def main(dictionary: Path, folder: Path, out: Path) -> None:
    lines = [line.strip() for line in dictionary.read_text(encoding="utf-8").splitlines()]
    plain = [line for line in lines if re.fullmatch("[A-Za-z]+", line)]
    english = sorted({line.lower() for line in plain})
    common = {line for line in lines if line[:1].islower()}
    capital = {line.lower() for line in plain if line[0].isupper()} - common
    write(out / "english.txt.gz", "\n".join(english))
    lists = word_lists(read_wordnet(folder), set(english), common, capital)
    write(out / "wordnet.json.gz", json.dumps(lists))


def read_wordnet(folder: Path) -> WordNet:
    net = WordNet()
    for part in ("noun", "verb", "adj"):
        senses: dict[str, list[str]] = {}
        for line in (folder / f"index.{part}").read_text(encoding="ascii").splitlines():
            if not line.startswith(" "):
                cells = line.split()
                senses[cells[0]] = cells[6 + int(cells[3]) :]
        net.senses[part] = senses
    for line in (folder / "data.noun").read_text(encoding="ascii").splitlines():
        if line.startswith(" "):
            continue
        cells = line.split("|")[0].split()
        offset, words = cells[0], int(cells[3], 16)
        net.lemmas[offset] = [cells[4 + 2 * number] for number in range(words)]
        first = 5 + 2 * words
        for number in range(int(cells[first - 1])):
            symbol, target, part, _ = cells[first + 4 * number : first + 4 * number + 4]
            if part == "n" and symbol in ("~", "~i"):
                (net.below if symbol == "~" else net.instances)[offset].append(target)
    for line in (folder / "cntlist.rev").read_text(encoding="ascii").splitlines():
        key, _, count = line.split()
        word, _, rest = key.partition("%")
        net.uses[word, rest[0]] += int(count)
    return net


def word_lists(net: WordNet, english: set[str], common: set[str], capital: set[str]) -> dict[str, list[str]]:
    nouns, verbs = net.senses["noun"], net.senses["verb"]
    attributes = {word for name in ATTRIBUTES for word in own_lists()[name]}
    persons, artifacts = net.descendants(PERSON), net.descendants(ARTIFACT)

    def uses(word: str, part: int) -> int:
        return net.uses[word, str(part)]

    def is_noun(word: str) -> bool:
        return uses(word, 2) <= uses(word, 1)

    def in_list(word: str) -> bool:
        return word.isalpha() and word in english

    def plain(word: str) -> bool:
        return in_list(word) and word not in attributes and len(word) > 2 and is_noun(word)

    animal_senses = net.descendants(ANIMAL)
    animals = sorted(
        word
        for word, offsets in nouns.items()
        if plain(word)
        and uses(word, 3) <= uses(word, 1)
        and any(offset in animal_senses for offset in offsets[:2])
        and not (offsets[0] in artifacts and uses(word, 1) > 3)
        and word not in NOT_ANIMALS
    )
    of_persons = [offset for above in persons for offset in net.instances[above]]
    names = [lemma for offset in of_persons for lemma in net.lemmas[offset]]
    others = {
        lemma.lower()
        for offsets in net.instances.values()
        for offset in offsets
        if offset not in set(of_persons)
        for lemma in net.lemmas[offset]
    }
    first_names = {
        name.split("_")[0].lower()
        for name in names
        if "_" in name and name[0].isupper() and name.split("_")[0].isalpha() and len(name.split("_")[0]) > 2
    } - TITLES
    person_set = set(of_persons)
    dictionary_names = {
        word
        for word in capital
        if word not in others
        and len(word) > 2
        and not word.endswith("s")
        and (word not in nouns or all(offset in person_set for offset in nouns[word]))
    }
    family_names = {
        name.lower()
        for name in names
        if "_" not in name
        and name[0].isupper()
        and name.isalpha()
        and len(name) > 3
        and name.lower() not in common
    }
    body_parts = net.descendants(BODY_PART)
    return {
        "persons": sorted(
            word
            for word, offsets in nouns.items()
            if plain(word)
            and offsets[0] in persons
            and uses(word, 3) <= uses(word, 1)
            and word not in set(animals)
        ),
        "animals": animals,
        "body_parts": [
            word
            for word in sorted(nouns)
            if in_list(word)
            and nouns[word][0] in body_parts
            and is_noun(word)
            and word not in attributes
            and word not in NOT_BODY_PARTS
        ],
        "verbs": sorted(
            word
            for word in verbs
            if in_list(word)
            and uses(word, 2) > max(uses(word, 1), uses(word, 3))
            and uses(word, 2) >= LEAST_VERB_USES
        ),
        "verbs_any": sorted(word for word in verbs if in_list(word) and len(word) > 2),
        "given_names": sorted(
            {word for word in first_names if word not in common or word in ALSO_GIVEN} | dictionary_names
        ),
        "famous_names": sorted({name.replace("_", " ").lower() for name in names if "_" in name} | family_names),
    }


def own_lists() -> dict[str, list[str]]:
    text = (ROOT / "src" / "beholder" / "prompts" / "words" / "tags.toml").read_text(encoding="utf-8")
    lists: dict[str, list[str]] = tomllib.loads(text)
    return lists


def write(path: Path, text: str) -> None:
    with path.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        packed.write(text.encode())


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
