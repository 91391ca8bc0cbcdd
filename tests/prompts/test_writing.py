"""New prompts have a parent, and differ from it in what was to be changed alone."""

import sys
from pathlib import Path

import numpy as np
import pytest

from beholder.errors import PromptsError
from beholder.prompts.duplicates.find import find_pairs
from beholder.prompts.prompt import PromptSet
from beholder.prompts.writing.by_command import write_by_command
from beholder.prompts.writing.swaps import SWAPS, swap
from beholder.prompts.writing.templates import expand
from beholder.prompts.writing.variations import vary


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("a red car and a red bus", "colour", "a blue car and a red bus"),
        ("a cat left of a dog", "spatial", "a cat right of a dog"),
        ("The King and his dog", "person", "The Queen and her dog"),
        ("an actor on a stage", "person", "an actress on a stage"),
        ("a purple cat", "colour", "an orange cat"),
        ("an orange cat", "colour", "a purple cat"),
        ("three cats", "count", "two cats"),
        ("a tiny house", "size", "a huge house"),
    ],
)
def test_swaps(text: str, kind: str, expected: str) -> None:
    (new,) = swap(text, "p", [kind])
    assert (new.text, new.parent, new.method, new.group) == (expected, "p", "swap", "p")


def test_quoted_text_is_left_alone_and_nothing_comes_of_nothing() -> None:
    assert list(swap('a sign that says "red man"', "p")) == []


@pytest.mark.parametrize("kind", [kind for kind in SWAPS if kind != "person"])
def test_a_swap_back_gives_the_prompt_again(kind: str) -> None:
    for word, other in SWAPS[kind].items():
        if SWAPS[kind].get(other) == word:
            text = {"count": f"{word} cats", "spatial": f"a cat {word} a box"}.get(kind, f"the {word} cat")
            (there,) = swap(text, "p", [kind])
            (back,) = swap(there.text, "p", [kind])
            assert back.text == text


def test_swapped_prompts_are_minimal_pairs(all_sets: dict[str, PromptSet]) -> None:
    texts = [prompt.text for prompt in all_sets["geneval"].prompts if prompt.category == "colors"][:30]
    for text in texts:
        for new in swap(text, "p", ["colour"]):
            assert [pair.relation for pair in find_pairs([text, new.text])] == ["minimal-pair"]


def test_the_triples_of_dalleval_come_from_one_template(all_sets: dict[str, PromptSet]) -> None:
    published = {prompt.text for prompt in all_sets["dalleval-bias"].prompts if "works" in prompt.text}
    professions = "|".join(sorted({text.partition(" works as ")[2] for text in published}))
    written = list(expand(f"A {{man|woman|person}} who works as {{{professions}}}"))
    assert {new.text for new in written} == published
    assert len({new.group for new in written}) == 83


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("a cat", "no choices"),
        ("a {cat}", "choice 1"),
        ("a {cat|}", "choice 1"),
        ("a {cat|dog", "a brace without"),
    ],
)
def test_faulty_templates(template: str, message: str) -> None:
    with pytest.raises(PromptsError, match=message):
        list(expand(template))


def test_variations_are_new_and_stay_within_the_words_of_the_seeds(all_sets: dict[str, PromptSet]) -> None:
    seeds = {prompt.key: prompt.text for prompt in all_sets["geneval"].prompts}
    written = vary(seeds, 200, np.random.default_rng(0))
    assert len(written) == 200
    assert len({new.text for new in written} | set(seeds.values())) == 200 + len(seeds)
    for new in written:
        assert new.parent is not None
        old, word = new.change.partition(": ")[2].split(" -> ")
        assert old in seeds[new.parent]
        assert any(word in text.lower() for text in seeds.values())
    assert vary(seeds, 200, np.random.default_rng(0)) == written
    assert vary({"a": "a thought"}, 5, np.random.default_rng(0)) == []


def test_a_command_writes_from_seeds(tmp_path: Path) -> None:
    path = tmp_path / "writer.py"
    path.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    for text in (row['prompt'] + ' at night', row['prompt'].upper(), row['prompt'] + ' at night'):\n"
        "        print(json.dumps({'id': row['id'], 'prompt': text}))\n",
        encoding="utf-8",
    )
    written = write_by_command(f"{sys.executable} {path}", {"x": "a cat", "y": "a dog"})
    assert [(new.parent, new.text) for new in written] == [("x", "a cat at night"), ("y", "a dog at night")]
