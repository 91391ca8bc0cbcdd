"""Prompts from files of every form, and from the table of a study."""

import json
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import FaultsError, StageError
from beholder.generate.plan import SEEDS, image_seed
from beholder.generate.prompts import PromptEntry, load_prompts, read_prompts
from beholder.tables.prompt_id import prompt_id

CAT, DOG = PromptEntry(prompt_id("a cat"), "a cat"), PromptEntry(prompt_id("a dog, “big”"), "a dog, “big”")


def test_every_form_gives_the_same_prompts(tmp_path: Path) -> None:
    texts = [CAT.text, DOG.text]
    (tmp_path / "a.txt").write_text("\ufeffa cat\n\n  a dog, “big”  \n")
    (tmp_path / "b.csv").write_text('id,prompt\n1,a cat\n2,"a dog, “big”"\n')
    (tmp_path / "c.jsonl").write_text("".join(json.dumps({"caption": text}) + "\n" for text in texts))
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    pl.DataFrame({"prompt": ["x", "y"], "text": texts}).write_parquet(tmp_path / "e.parquet")  # a study's table
    for file in sorted(tmp_path.iterdir()):
        assert read_prompts(file) == [CAT, DOG], file


def test_styles_come_with_them_and_each_text_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("prompt,category\na cat,photo\na dog,\na cat,photo\n")
    assert [(entry.text, entry.style) for entry in load_prompts(file, tmp_path)] == [
        ("a cat", "photo"),
        ("a dog", None),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "\n", "no prompts"),
        ("a.csv", "prompt\na cat\n \n", "row 1: the prompt is blank"),
        ("a.csv", "words\na cat\n", r"a column 'prompt' \(or 'text', 'caption'\) is expected; found: words"),
        ("a.csv", "prompt,style\na cat,photo\na cat,sketch\n", "'a cat' has several styles"),
        ("a.jsonl", "{", "cannot be read"),
        ("a.jsonl", "[1]\n", "every line must be a text or an object"),
        ("a.yaml", "", "'.yaml' is not read; expected one of .txt, .csv, .jsonl, .parquet"),
    ],
)
def test_faults(tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(FaultsError, match=message):
        read_prompts(tmp_path / name)


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"has no prompts\. Name a file of them: --prompts FILE"):
        load_prompts(None, tmp_path)
    with pytest.raises(FaultsError, match="cannot be read"):
        read_prompts(tmp_path / "none.txt")


def test_seeds_differ_between_images_and_do_not_depend_on_the_others() -> None:
    seeds = [image_seed(seed, prompt, sample) for seed in (0, 1) for prompt in "ab" for sample in (0, 1)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < SEEDS for seed in seeds)
    # by hand: int(hashlib.sha256(b"0 a 0").hexdigest()[:16], 16) % 2**31
    assert seeds[0] == 65025104
