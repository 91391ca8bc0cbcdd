"""Near-duplicates are found, minimal pairs are kept apart from them, overlaps of sets are exact."""

import csv
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from beholder.prompts.duplicates.compare import compare
from beholder.prompts.duplicates.find import PromptPair, find_pairs
from beholder.prompts.duplicates.overlaps import overlaps
from beholder.prompts.duplicates.paraphrases import find_paraphrases
from beholder.prompts.duplicates.spelling import Spelling
from beholder.prompts.normalise import normal_text, normalise
from beholder.prompts.prompt import PromptSet
from beholder.prompts.words.english import english_words
from beholder.tables.prompt_id import prompt_id

SPELLING = Spelling(english_words())
WORDS = st.lists(
    st.sampled_from(["a", "the", "red", "blue", "cat", "dog", "on", "under", "two", "sits", "in", "park", "car"]),
    min_size=1,
    max_size=8,
)


def relation(first: str, second: str) -> str | None:
    verdict = compare(normalise(first), normalise(second), SPELLING)
    return None if verdict is None else verdict.relation


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a photo of a cat", "Photo of the cat!"),
        ("two grey cats", "2 gray cats."),
        ("a bicycle leans on a wall", "a bicylce leans on a wall"),
        ("a red rose and a yellow sunflower", "a yellow sunflower and a red rose"),
        ("a dog runs in the park", "In the park, a dog runs"),
        ("a castle, fog, moonlight, ravens", "moonlight, a castle, ravens, fog"),
        ("a man with a tophat", "a man with a top hat"),
        ("A group of people is standing on the road", "A group of people standing on the road."),
    ],
)
def test_near_duplicates(first: str, second: str) -> None:
    assert relation(first, second) == relation(second, first) == "near-duplicate"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a photo of a red car", "a photo of a blue car"),
        ("a red bench and a green car", "a green bench and a red car"),
        ("a cat on a dog", "a dog on a cat"),
        ("a photo of a dog", "a photo of two dogs"),
        ("a cat under a table", "a cat on a table"),
        ("a photo of a boat", "a photo of a goat"),
        ("a bowl with fruit", "a bowl without fruit"),
        ("a man on a motorcycle is waving at two men", "two men on a motorcycle are waving at a man"),
    ],
)
def test_minimal_pairs(first: str, second: str) -> None:
    assert relation(first, second) == relation(second, first) == "minimal-pair"


def test_prompts_without_much_in_common_are_no_pair() -> None:
    assert relation("a photo of a red car", "an astronaut rides a horse on the moon") is None


def test_a_word_far_outnumbered_by_a_similar_one_is_a_typo_in_the_same_context() -> None:
    many = [f"a man sitting near house {number}" for number in range(100, 136)]
    texts = [*many, "an old man sitting at home with friends", "an old man siting at home with friends"]
    pairs = [pair for pair in find_pairs(texts) if pair.relation == "near-duplicate"]
    assert [(pair.first, pair.second, pair.evidence) for pair in pairs] == [(36, 37, "typo: sitting / siting")]


def test_near_duplicates_of_known_origin_are_found_among_all_prompts(
    all_texts: list[str], variants: ModuleType
) -> None:
    drawn = variants.draw_variants(all_texts, 500, np.random.default_rng(0))
    began = time.process_time()
    pairs = find_pairs([*all_texts, *(variant.text for variant in drawn)])
    seconds = time.process_time() - began
    same = groups_of(pairs, len(all_texts) + len(drawn))
    hits = [same[len(all_texts) + n] == same[variant.origin] for n, variant in enumerate(drawn)]
    assert np.mean(hits) >= 0.98
    assert seconds < 30
    assert sum(pair.relation == "minimal-pair" for pair in pairs) > 10_000


def groups_of(pairs: list[PromptPair], count: int) -> list[int]:
    """Connected components of duplicates and near-duplicates."""
    roots = list(range(count))

    def root(position: int) -> int:
        while roots[position] != position:
            position = roots[position]
        return position

    for pair in pairs:
        if pair.relation in ("duplicate", "near-duplicate"):
            roots[root(pair.second)] = root(pair.first)
    return [root(position) for position in range(count)]


def test_precision_on_pairs_labelled_by_hand(all_texts: list[str]) -> None:
    """``labelled_pairs.csv``: ids of texts, and whether a reader found that both ask for the same image."""
    texts = {prompt_id(text): text for text in all_texts}
    with Path(__file__).with_name("labelled_pairs.csv").open(encoding="utf-8") as file:
        rows = [(texts[row["first"]], texts[row["second"]], row["same"] == "yes") for row in csv.DictReader(file)]
    called_same = [relation(first, second) in ("duplicate", "near-duplicate") for first, second, _ in rows]
    labels = np.array([same for _, _, same in rows])
    assert len(rows) == 300
    assert labels[called_same].mean() >= 0.95
    assert np.array(called_same)[labels].mean() >= 0.95


def test_the_overlaps_of_published_sets(all_sets: dict[str, PromptSet]) -> None:
    shared = {frozenset((pair.first, pair.second)): pair.shared for pair in overlaps(list(all_sets.values()))}
    assert shared[frozenset(("partiprompts", "tifa"))] == 1419
    assert shared[frozenset(("tifa", "gecko"))] == 190
    assert shared[frozenset(("dsg-1k", "gecko"))] == 163
    assert shared[frozenset(("dsg-1k", "tifa"))] == 160


def test_distinct_prompts_of_hps_v2(all_sets: dict[str, PromptSet]) -> None:
    texts = [prompt.text for prompt in all_sets["hpsv2-benchmark"].prompts]
    assert (len(set(texts)), len(set(map(normal_text, texts)))) == (3172, 3167)


@given(WORDS, WORDS)
def test_the_relation_is_symmetric(first: list[str], second: list[str]) -> None:
    assert relation(" ".join(first), " ".join(second)) == relation(" ".join(second), " ".join(first))


@given(WORDS)
def test_a_prompt_is_a_duplicate_of_itself_in_capitals(words: list[str]) -> None:
    assert relation(" ".join(words), " ".join(words).upper() + ".") == "duplicate"


@given(
    st.lists(st.lists(st.sampled_from(["red", "blue", "cat", "dog", "car"]), min_size=2, max_size=4), max_size=8)
)
def test_no_pair_that_differs_in_one_word_is_missed(prompts: list[list[str]]) -> None:
    """Against all pairs, compared one by one."""
    texts = list(dict.fromkeys(" ".join(words) for words in prompts))
    pairs = {(pair.first, pair.second) for pair in find_pairs(texts, SPELLING)}
    for first in range(len(texts)):
        for second in range(first + 1, len(texts)):
            one, other = texts[first].split(), texts[second].split()
            one_word = len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1
            if one_word and relation(texts[first], texts[second]) is not None:
                assert (first, second) in pairs


def test_texts_without_words_are_only_duplicates_of_themselves() -> None:
    assert normal_text("!?") != normal_text(":)")
    assert [pair.relation for pair in find_pairs(["!?", ":)", "!?"])] == ["duplicate"]


class HandMade:
    """Embeddings by hand: the first two point nearly the same way (cosine 0.6 · 0.8 + 0.8 · 0.6 = 0.96)."""

    identity = "hand@0"

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[0.6, 0.8], [1.6, 1.2], [-1.0, 0.0]], dtype=np.float32)[: len(sentences)]


def test_paraphrases_by_the_cosine_of_embeddings() -> None:
    pairs = find_paraphrases(["a", "b", "c"], HandMade(), least_cosine=0.95)
    assert [(pair.first, pair.second, pair.relation) for pair in pairs] == [(0, 1, "paraphrase")]
    assert pairs[0].similarity == pytest.approx(0.96)
    assert find_paraphrases(["a", "b", "c"], HandMade(), except_pairs={(0, 1)}) == []
