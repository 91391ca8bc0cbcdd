"""From files of prompts to the tables of a curation; nothing is dropped without a row that says why."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from beholder.curate.settings import FILE_NAME, Curation, dump_curation, load_curation
from beholder.curate.stage import run
from beholder.errors import PromptsError, StageError
from beholder.tables.stages import CURATE
from beholder.tables.store import Store

PROMPTS = """id,prompt,category,group
1,a red car,cars,
2,A red car.,cars,
3,a blue car,cars,
4,"a castle, 8k, by Greg Rutkowski",places,
5,a castle in the fog with two ravens,places,
6,a castle in the fog wiht two ravens,places,
7,ein schwarzer Hund im Garten mit einem Ball,dogs,
8,a tiny huge dog,dogs,
9,Albert Einstein with a dog,dogs,
10,a dog and a red ball,dogs,walk
11,a dog and a sleeping cat,dogs,walk
"""
Folder = Callable[..., Path]


@pytest.fixture
def curation(tmp_path: Path) -> Folder:
    """A folder with prompts and a ``curate.toml`` of these settings."""

    def make(**settings: object) -> Path:
        (tmp_path / "own.csv").write_text(PROMPTS, encoding="utf-8")
        plain = Curation.model_validate({"sets": [{"name": "own", "path": "own.csv"}], **settings})
        (tmp_path / FILE_NAME).write_text(dump_curation(plain), encoding="utf-8")
        return tmp_path

    return make


def fates(folder: Path) -> dict[str, tuple[str, str]]:
    rows = Store(folder).read("prompt_candidates").select("candidate", "status", "reason").iter_rows()
    return {name.removeprefix("own/"): (status, reason) for name, status, reason in rows}


def test_every_candidate_has_a_status_and_a_reason(curation: Folder) -> None:
    folder = curation(
        clean={"rules": ["quality", "artist"]},
        checks={"drop": ["contradiction", "language"]},
        choose={"prompts": 5},
    )
    outcome = run(folder)
    by_key = fates(folder)
    assert by_key["2"] == ("dropped", "duplicate of own/1 (case, punctuation or spacing)")
    assert by_key["6"] == ("dropped", "near-duplicate of own/5 (typo: with / wiht)")
    assert by_key["7"] == ("dropped", "language: de")
    assert by_key["8"] == ("dropped", "contradiction: tiny / huge")
    assert all(reason for _, reason in by_key.values())
    assert outcome.rows["curated_prompts"] == 5
    assert sorted(by_key, key=int) == [str(number) for number in range(1, 12)]


def test_cleaning_keeps_the_original_and_every_cut(curation: Folder) -> None:
    folder = curation(clean={"rules": ["quality", "artist"]})
    run(folder)
    store = Store(folder)
    (row,) = store.read("prompt_candidates").filter(pl.col("key") == "4").to_dicts()
    assert (row["original"], row["text"]) == ("a castle, 8k, by Greg Rutkowski", "a castle")
    edits = store.read("prompt_edits")
    assert edits.select("rule", "evidence").rows() == [("quality", "8k"), ("artist", "Greg Rutkowski")]
    for cut in edits.iter_rows(named=True):
        assert row["original"][cut["start"] : cut["end"]] == cut["removed"]


def test_without_settings_prompts_stay_as_they_are_and_minimal_pairs_are_kept(curation: Folder) -> None:
    folder = curation()
    run(folder)
    store = Store(folder)
    candidates = store.read("prompt_candidates")
    assert (candidates["text"] == candidates["original"]).all()
    pairs = store.read("prompt_pairs")
    minimal = pairs.filter(pl.col("relation") == "minimal-pair").select("first", "second", "evidence").rows()
    assert ("own/1", "own/3", "content: red / blue") in minimal
    assert fates(folder)["3"][0] == "chosen"
    findings = store.read("prompt_findings").select("candidate", "check").rows()
    assert ("own/9", "named-person") in findings
    assert ("own/7", "language") in findings


def test_identical_texts_are_one_prompt_even_where_nothing_is_dropped(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("a cat\na cat\nA CAT\n", encoding="utf-8")
    settings = Curation.model_validate(
        {"sets": [{"name": "own", "path": "own.txt"}], "duplicates": {"drop": []}, "checks": {"languages": []}}
    )
    (tmp_path / FILE_NAME).write_text(dump_curation(settings), encoding="utf-8")
    run(tmp_path)
    assert Store(tmp_path).read("curated_prompts")["text"].to_list() == ["a cat", "A CAT"]


def test_a_balanced_choice_with_a_part_held_out(curation: Folder) -> None:
    folder = curation(choose={"prompts": 6, "held_out": 0.4}, checks={"drop": ["language"]})
    run(folder)
    store = Store(folder)
    chosen = store.read("curated_prompts")
    counts = dict(chosen.group_by("category").len().iter_rows())
    assert counts == {"cars": 2, "dogs": 2, "places": 2}
    coverage = store.read("prompt_coverage").filter(pl.col("family") == "category")
    assert dict(coverage.select("label", "chosen").iter_rows()) == counts
    held = store.read("prompt_candidates").filter(pl.col("status") == "held-out")["prompt"]
    assert set(held) == set(chosen.filter("held_out")["prompt"])


def test_a_group_is_held_out_together(curation: Folder) -> None:
    for salt in "abcdefgh":
        folder = curation(choose={"held_out": 0.5, "salt": salt})
        run(folder)
        by_key = fates(folder)
        assert by_key["10"][0] == by_key["11"][0]


def test_new_prompts_have_their_parent(curation: Folder, tmp_path: Path) -> None:
    writer = tmp_path / "writer.py"
    writer.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    row = json.loads(line)\n"
        "    if row['id'] == 'own/1':\n"
        "        print(json.dumps({'id': row['id'], 'prompt': 'a red car at night'}))\n",
        encoding="utf-8",
    )
    folder = curation(
        write={
            "swaps": ["colour"],
            "templates": ["a {man|woman} with an umbrella"],
            "variations": 2,
            "command": f"{sys.executable} {writer}",
        }
    )
    run(folder)
    store = Store(folder)
    written = store.read("prompt_candidates").filter(pl.col("origin") != "set")
    assert set(written["origin"]) == {"swap", "template", "variation", "command"}
    swapped = written.filter(pl.col("origin") == "swap").select("parent", "text").rows()
    assert ("own/10", "a dog and a blue ball") in swapped
    templates = written.filter(pl.col("origin") == "template")
    assert templates["parent"].null_count() == templates.height == 2
    assert templates["group"].n_unique() == 1
    pairs = store.read("prompt_pairs").filter(pl.col("relation") == "counterfactual")
    assert set(pairs["second"]) == set(written.filter(pl.col("origin") == "swap")["candidate"])


class Alike:
    """An encoder to which the castles are the same and all others at right angles."""

    identity = "alike@1"

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.eye(len(sentences), dtype=np.float32)
        castles = [place for place, text in enumerate(sentences) if "castle" in text]
        vectors[castles] = vectors[castles[0]]
        return vectors


def test_paraphrases_are_reported_and_kept(curation: Folder) -> None:
    folder = curation(duplicates={"paraphrases": True})
    run(folder, encoder=Alike())
    pairs = Store(folder).read("prompt_pairs").filter(pl.col("relation") == "paraphrase")
    assert pairs["evidence"].unique().to_list() == ["cosine of alike@1"]
    assert fates(folder)["5"][0] == "chosen"


def test_it_is_skipped_until_a_setting_or_a_prompt_changes(curation: Folder) -> None:
    folder = curation()
    assert not run(folder).skipped
    again = run(folder)
    assert again.skipped
    assert "chosen" in str(again)
    (folder / "own.csv").write_text(PROMPTS + "12,a green car,cars,\n", encoding="utf-8")
    assert not run(folder).skipped
    curation(seed=1)
    assert not run(folder).skipped


def test_the_same_settings_give_the_same_tables(curation: Folder) -> None:
    folder = curation(write={"variations": 3}, choose={"prompts": 6, "held_out": 0.3})
    run(folder)
    before = {name: Store(folder).read(name) for name in CURATE.outputs}
    run(folder, force=True)
    for name, frame in before.items():
        assert frame.equals(Store(folder).read(name)), name


def test_word_lists_of_the_users(curation: Folder) -> None:
    folder = curation(checks={"word_lists": {"people": "people.txt"}, "drop": ["word-list:people"]})
    (folder / "people.txt").write_text("albert einstein\n", encoding="utf-8")
    run(folder)
    assert fates(folder)["9"] == ("dropped", "word-list:people: Albert Einstein")


def test_nothing_is_written_where_all_prompts_are_dropped(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("a tiny huge cat\n", encoding="utf-8")
    settings = Curation.model_validate(
        {"sets": [{"name": "own", "path": "own.txt"}], "checks": {"drop": ["contradiction"]}}
    )
    (tmp_path / FILE_NAME).write_text(dump_curation(settings), encoding="utf-8")
    with pytest.raises(StageError, match="1 × contradiction"):
        run(tmp_path)
    assert not Store(tmp_path).has("curated_prompts")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["sets: missing"]),
        ("sets = []", ["sets:"]),
        ('seed = "1"\n[[sets]]\nname = "a"\npath = "b"', ["seed:"]),
        ('[[sets]]\nname = "a"\npath = "b"\n[clean]\nrules = ["qualitty"]', ["Did you mean 'quality'"]),
        ('[[sets]]\nname = "a"\npath = "b"\n[checks]\ndrop = ["word-list:x"]', ["no word list for 'word-list:x'"]),
        ('[[sets]]\nname = "a"\npath = "b"\n[write]\nswaps = ["hue"]', ["swap 'hue' is not known"]),
        ('[[sets]]\nname = "a"\npath = "b"\n[choose]\nheldout = 1', ["did you mean 'held_out'?"]),
        ("[[sets", ["not valid TOML"]),
    ],
)
def test_faults_of_the_settings(tmp_path: Path, text: str, messages: list[str]) -> None:
    (tmp_path / FILE_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(PromptsError) as error:
        load_curation(tmp_path)
    for message in messages:
        assert message in str(error.value)


def test_faults_of_all_sets_at_once(curation: Folder) -> None:
    folder = curation(sets=[{"name": "geneval", "path": "nowhere"}, {"name": "own", "path": "none.csv"}])
    with pytest.raises(PromptsError, match="2 faults"):
        run(folder)


def test_settings_survive_a_round_trip(curation: Folder) -> None:
    folder = curation(
        checks={"word_lists": {"a": "b.txt"}}, write={"templates": ["a {b|c}"]}, choose={"prompts": 3}
    )
    curated = load_curation(folder)
    assert Curation.model_validate(curated.model_dump()) == curated
    assert curated.choose.prompts == 3
