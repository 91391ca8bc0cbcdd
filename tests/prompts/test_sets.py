"""Every published set reads with the number of prompts that its paper or files have; so do the user's files."""

import json
import shutil
import time
from pathlib import Path

import pytest

from beholder.errors import PromptsError
from beholder.prompts.prompt import Prompt
from beholder.prompts.sets.catalogue import PROMPT_SETS, read_set
from beholder.prompts.sets.own_file import read_own_file

PARTS = [
    (name, part)
    for name, entry in PROMPT_SETS.items()
    for part in entry.parts
    if entry.parts[part].count is not None
]

FACTS = {
    ("hpsv2-benchmark", "main"): 3200,
    ("hpsv2-benchmark", "pickapic-test"): 487,
    ("partiprompts", "main"): 1632,
    ("geneval", "main"): 553,
    ("t2i-compbench", "all"): 7860,
    ("t2i-compbench", "main"): 8 * 300,
    ("dsg-1k", "main"): 1060,
    ("tifa", "main"): 4081,
    ("gecko", "main"): 1546,
    ("dpg-bench", "main"): 1065,
    ("heim-inline", "main"): 484,
    ("sugar-crepe", "main"): 2 * 7511,
    ("dalleval-bias", "main"): 84 * 3,
}
"""Counts that were checked independently of the readers."""


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_a_set_has_its_prompts_with_distinct_keys(shared_prompts: Path, name: str, part: str) -> None:
    began = time.process_time()
    prompts = read_set(name, shared_prompts / name, part).prompts
    seconds = time.process_time() - began
    assert len(prompts) == PROMPT_SETS[name].parts[part].count
    assert len(prompts) == FACTS.get((name, part), len(prompts))
    assert len({prompt.key for prompt in prompts}) == len(prompts)
    assert all(prompt.text.strip() for prompt in prompts)
    assert seconds < 1


def test_the_version_is_recognised_by_the_files_and_a_changed_file_is_named(
    shared_prompts: Path, tmp_path: Path
) -> None:
    assert read_set("geneval", shared_prompts / "geneval").version == "2025-03-03 (af4902f)"
    changed = tmp_path / "evaluation_metadata.jsonl"
    changed.write_text('{"tag": "colors", "include": [], "prompt": "a red cat"}\n', encoding="utf-8")
    assert read_set("geneval", tmp_path).version == "differs from 2025-03-03 (af4902f) (evaluation_metadata.jsonl)"


def test_a_clone_of_the_repository_reads_as_well_as_a_flat_folder(shared_prompts: Path, tmp_path: Path) -> None:
    inside = tmp_path / "clone" / "tifa_v1.0"
    inside.mkdir(parents=True)
    shutil.copy(shared_prompts / "tifa" / "tifa_v1.0_text_inputs.json", inside)
    assert read_set("tifa", tmp_path / "clone") == read_set("tifa", shared_prompts / "tifa")


def test_hps_v2_and_dpg_bench_read_in_the_form_of_their_own_repositories(tmp_path: Path) -> None:
    for style in ("anime", "concept-art", "paintings", "photo"):
        (tmp_path / f"{style}.json").write_text(json.dumps([f"{style} one", f"{style} two"]), encoding="utf-8")
    prompts = read_set("hpsv2-benchmark", tmp_path).prompts
    assert prompts[2] == Prompt("concept-art/00000", "concept-art one", "concept-art")
    folder = tmp_path / "dpg_bench" / "prompts"
    folder.mkdir(parents=True)
    (folder / "0.txt").write_text("A dense prompt.\n", encoding="utf-8")
    assert read_set("dpg-bench", tmp_path).prompts == (Prompt("0", "A dense prompt."),)


def test_what_sets_say_about_their_prompts(shared_prompts: Path) -> None:
    parti = read_set("partiprompts", shared_prompts / "partiprompts").prompts
    assert len({prompt.category for prompt in parti}) == 12
    assert len({prompt.labels["challenge"] for prompt in parti}) == 11
    bias = read_set("dalleval-bias", shared_prompts / "dalleval-bias").prompts
    assert len({prompt.group for prompt in bias}) == 84
    crepe = read_set("sugar-crepe", shared_prompts / "sugar-crepe").prompts
    assert len({prompt.group for prompt in crepe}) == 7511


def test_drawbench_reads_from_the_users_file(tmp_path: Path) -> None:
    path = tmp_path / "drawbench.csv"
    path.write_text("Prompts,Category\nA red colored car.,Colors\n", encoding="utf-8")
    assert read_set("drawbench", path).prompts == (Prompt("0", "A red colored car.", "Colors"),)
    assert read_set("drawbench", tmp_path).prompts == read_set("drawbench", path).prompts


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.csv", "id,prompt,category,source\na,a red cat,cats,web\nb,a dog,,\n"),
        ("own.tsv", "id\tprompt\tcategory\tsource\na\ta red cat\tcats\tweb\nb\ta dog\t\t\n"),
        (
            "own.jsonl",
            '{"id": "a", "prompt": "a red cat", "category": "cats", "source": "web"}\n{"id": "b", "text": ""}\n',
        ),
        (
            "own.json",
            '[{"id": "a", "prompt": "a red cat", "category": "cats", "source": "web"},'
            ' {"id": "b", "prompt": "a dog"}]',
        ),
    ],
)
def test_own_files_of_every_form(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    if name == "own.jsonl":
        with pytest.raises(PromptsError, match="prompt b: no text"):
            read_own_file(path)
        return
    prompts = read_own_file(path, "mine").prompts
    assert prompts == (Prompt("a", "a red cat", "cats", labels={"source": "web"}), Prompt("b", "a dog"))


def test_a_text_file_has_one_prompt_per_line(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text("\ufeffa cat\n\n  a dog  \n", encoding="utf-8")
    assert [(prompt.key, prompt.text) for prompt in read_own_file(path).prompts] == [
        ("1", "a cat"),
        ("3", "a dog"),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("own.csv", "words\na cat\n", "no column 'prompt'"),
        ("own.csv", "id,prompt\na,x\na,y\n", "used more than once: a"),
        ("own.txt", "\n", "no prompts"),
        ("own.json", '{"prompt": "a cat"}', "a list of texts"),
        ("own.json", "[3]", "entry 0: a text or an object"),
        ("own.jsonl", "[1]\n{\n", "line 2: not valid JSON"),
        ("own.docx", "", "suffix '.docx'"),
    ],
)
def test_a_faulty_file_says_what_is_wrong(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(PromptsError, match=message):
        read_own_file(path)


def test_names_that_are_not_known(tmp_path: Path) -> None:
    with pytest.raises(PromptsError, match="Did you mean 'geneval'"):
        read_set("genevall", tmp_path)
    with pytest.raises(PromptsError, match="part 'train' is not known; known: main"):
        read_set("geneval", tmp_path, "train")
    with pytest.raises(PromptsError, match=r"is published at https://github.com/djghosh13/geneval"):
        read_set("geneval", tmp_path / "nowhere")
    with pytest.raises(PromptsError, match=r"evaluation_metadata.jsonl"):
        read_set("geneval", tmp_path)


@pytest.mark.parametrize("name", PROMPT_SETS)
def test_every_set_has_licence_source_and_version(name: str) -> None:
    entry = PROMPT_SETS[name]
    assert entry.licence
    assert entry.source.startswith("https://")
    assert entry.version
    assert "main" in entry.parts
