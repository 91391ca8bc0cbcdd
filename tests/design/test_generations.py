"""Generations become the images of a study: a new one, one in the same folder, and one that exists already."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.design.add import add_generations
from beholder.design.new import make_study
from beholder.design.stage import run as design
from beholder.errors import StageError, StudyError
from beholder.generate.settings import GenerateSettings
from beholder.generate.stage import run
from beholder.study.generating import WorkerGenerator
from beholder.tables.catalogue import TABLES
from beholder.tables.prompt_id import prompt_id
from beholder.tables.stages import COLLECT
from beholder.tables.store import Store

LIAR = Path(__file__).parents[1] / "generate" / "liar.py"
NUMBERS = {"raters": 4, "trials": 6, "attention_every": None, "repeats": 0}


def generate(folder: Path, *names: str, extra: tuple[str, ...] = ()) -> None:
    path = folder.parent / "prompts.csv"
    texts = [f"a cat number {number}" for number in range(6)]
    path.write_text("prompt,style\n" + "".join(f"{text},photo\n" for text in (*texts, *extra)))
    generators = tuple(
        WorkerGenerator(name=name, command=(sys.executable, "-S", str(LIAR)), template=f"{{prompt}} by {name}")
        for name in names
    )
    run(folder, generating=GenerateSettings(generators=generators, prompts=path, width=8, height=8))


def test_a_study_elsewhere(tmp_path: Path) -> None:
    generate(tmp_path / "made", "a", "b", extra=("refuse it",))
    study = make_study(["hpd-pairs"], tmp_path / "study", generations=[tmp_path / "made"], numbers=NUMBERS)
    assert study.images == {"a": 6, "b": 6}
    assert study.notes == ("a: no image of 1 refused prompts", "b: no image of 1 refused prompts")
    images = Store(tmp_path / "study").read("images")
    first = images.row(0, named=True)
    assert first["image"] == f"a/{first['prompt']}-0"
    assert (first["style"], first["generator"], first["real"], first["gold"]) == ("photo", "a", False, False)
    assert (tmp_path / "study" / first["path"]).resolve().is_file()
    texts = Store(tmp_path / "study").read("prompts")
    assert prompt_id("a cat number 0") in texts["prompt"].to_list()
    record = Store(tmp_path / "study").provenance("images")
    assert record is not None
    assert record.inputs == {"generations of made": Store(tmp_path / "made").hash("generations")}


def test_a_study_in_the_same_folder_and_an_added_generator(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    generate(folder, "a", "b")
    make_study(["hpd-pairs"], folder, generations=[folder], numbers=NUMBERS)
    before = Store(folder).read("images")
    assert add_generations(folder).images == {}
    assert Store(folder).read("images").equals(before)
    generate(folder, "c")
    assert add_generations(folder).images == {"c": 6}
    after = Store(folder).read("images")
    assert after.head(before.height).equals(before)
    assert after.height == 18
    record = Store(folder).provenance("images")
    assert record is not None
    assert record.inputs["generations"] == Store(folder).hash("generations")


def test_answers_forbid_more_images(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    generate(folder, "a", "b")
    make_study(["hpd-pairs"], folder, generations=[folder], numbers=NUMBERS)
    design(folder)
    tables = {name: Store(folder).read_or_empty(name) for name in COLLECT.outputs}
    session = {"session": "s", "rater": "r", "question": "preference", "status": "complete", "simulated": False}
    tables["sessions"] = TABLES["sessions"].frame([session | {"started": datetime(2025, 5, 1, tzinfo=UTC)}])
    record = Store(folder).provenance("trials")
    assert record is not None
    Store(folder).write(tables, record)
    generate(folder, "c")
    with pytest.raises(StageError, match=r"raters have answered.*the 6 new images were generated, but not added"):
        add_generations(folder)
    assert Store(folder).read("images").height == 12


def test_a_file_that_is_not_the_generated_one_is_refused(tmp_path: Path) -> None:
    made = tmp_path / "made"
    generate(made, "a", "b")
    first, second, *_ = sorted((made / "generations").rglob("*.png"))
    first.unlink()
    second.write_bytes(b"something else")
    with pytest.raises(StudyError) as caught:
        make_study(["hpd-pairs"], tmp_path / "study", generations=[made], numbers=NUMBERS)
    assert [fault.partition(": ")[2] for fault in caught.value.faults[:2]] == [
        "cannot be read (No such file or directory); beholder generate makes it again",
        "not the file that was generated; beholder generate makes it again",
    ]


def test_a_folder_that_holds_other_things_or_no_generations(tmp_path: Path) -> None:
    generate(tmp_path / "made", "a", "b")
    (tmp_path / "made" / "notes.txt").write_text("mine")
    with pytest.raises(StudyError, match="not empty"):
        make_study(["hpd-pairs"], tmp_path / "made", generations=[tmp_path / "made"])
    with pytest.raises(StudyError, match="no generations here; they are written by: beholder generate"):
        make_study(["hpd-pairs"], tmp_path / "study", generations=[tmp_path / "none"])
    folders = [("a", next((tmp_path / "made" / "generations").iterdir()))]
    with pytest.raises(StudyError, match="generator 'a' is named 2 times"):
        make_study(["hpd-pairs"], tmp_path / "study", generated=folders, generations=[tmp_path / "made"])
