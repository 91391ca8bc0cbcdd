"""Prompts from a file, from what was curated, and from the table of a study."""

import json
from pathlib import Path

import pytest

from beholder.errors import PromptsError, StageError, TableError
from beholder.generate.plan import SEEDS, image_seed
from beholder.generate.prompts import PromptEntry, load_prompts
from beholder.tables.catalogue import TABLES
from beholder.tables.prompt_id import prompt_id
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

CAT, DOG = PromptEntry(prompt_id("a cat"), "a cat"), PromptEntry(prompt_id("a dog, “big”"), "a dog, “big”")


def test_every_form_gives_the_same_prompts(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("\ufeffa cat\n\n  a dog, “big”  \n")
    (tmp_path / "b.csv").write_text('id,prompt\n1,a cat\n2,"a dog, “big”"\n')
    (tmp_path / "c.jsonl").write_text(
        "".join(json.dumps({"prompt": text}) + "\n" for text in (CAT.text, DOG.text))
    )
    for file in sorted(tmp_path.iterdir()):
        assert load_prompts(file, tmp_path) == [CAT, DOG], file


def test_styles_come_with_them_and_each_text_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("prompt,category\na cat,photo\na dog,\na cat,photo\n")
    entries = [(entry.text, entry.style) for entry in load_prompts(file, tmp_path)]
    assert entries == [("a cat", "photo"), ("a dog", None)]
    file.write_text("prompt,style\na cat,photo\na cat,sketch\n")
    with pytest.raises(PromptsError, match="'a cat' has several categories"):
        load_prompts(file, tmp_path)


def test_a_file_comes_before_what_was_curated_and_that_before_the_study(tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"has no prompts\. Name a file of them, --prompts FILE"):
        load_prompts(None, tmp_path)
    store, record = Store(tmp_path), Provenance("test", {}, 0, {})
    image = {
        "image": "i",
        "path": "i.png",
        "generator": "g",
        "real": False,
        "gold": False,
        "width": 1,
        "height": 1,
    }
    studied = {
        "prompts": TABLES["prompts"].frame([{"prompt": "p", "text": "of the study"}]),
        "images": TABLES["images"].frame([image | {"prompt": "p", "style": "photo", "sha256": "aa"}]),
    }
    store.write(studied, record)
    assert load_prompts(None, tmp_path) == [PromptEntry("p", "of the study", "photo")]
    curated = {"prompt": "q", "text": "curated", "category": "animals", "candidate": "c", "held_out": False}
    frame = TABLES["curated_prompts"].frame([curated])
    frame.write_parquet(store.path("curated_prompts"))  # without the candidate that it refers to
    with pytest.raises(TableError, match="candidate refers to table"):
        load_prompts(None, tmp_path)
    (tmp_path / "a.txt").write_text("a cat\n")
    assert load_prompts(tmp_path / "a.txt", tmp_path) == [CAT]


def test_seeds_differ_between_images_and_do_not_depend_on_the_others() -> None:
    seeds = [image_seed(seed, prompt, sample) for seed in (0, 1) for prompt in "ab" for sample in (0, 1)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < SEEDS for seed in seeds)
    # by hand: int(hashlib.sha256(b"0 a 0").hexdigest()[:16], 16) % 2**31
    assert seeds[0] == 65025104
