"""``beholder curate`` writes its settings once, and says what became of the prompts."""

import json
from pathlib import Path

import pytest

from beholder.cli.main import main

PROMPTS = "a red car\nA red car.\na blue car\ntwo cats on a table\n"


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text(PROMPTS, encoding="utf-8")
    return path


def test_from_a_file_to_a_file(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "study", tmp_path / "chosen.jsonl"
    assert main(["curate", str(folder), "--prompts", str(prompts), "--write", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "3 chosen, 1 dropped" in printed
    assert "dropped: 1 duplicate" in printed
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["prompt"] for row in rows] == ["a red car", "a blue car", "two cats on a table"]
    assert main(["curate", str(folder), "--write", str(tmp_path / "chosen.txt")]) == 0
    assert (tmp_path / "chosen.txt").read_text(encoding="utf-8").count("\n") == 3
    assert main(["curate", str(folder), "--write", str(tmp_path / "chosen.csv"), "--json"]) == 0
    assert (tmp_path / "chosen.csv").read_text(encoding="utf-8").startswith("prompt,category,id,held_out\n")


def test_as_json(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--choose",
        "2",
        "--held-out",
        "0.5",
        "--balance",
        "none",
        "--swap",
        "colour",
        "--clean",
        "--seed",
        "3",
    ]
    assert main(["curate", str(tmp_path / "s"), "--prompts", str(prompts), *options, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["stage"] == "curate"
    assert document["rows"]["curated_prompts"] == 2
    assert document["dropped"]["duplicate"] >= 1


def test_settings_are_written_once(prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "study"
    assert main(["curate", str(folder), "--prompts", str(prompts)]) == 0
    assert main(["curate", str(folder), "--prompts", str(prompts)]) == 2
    assert "it is there already" in capsys.readouterr().err
    assert main(["curate", str(folder), "--choose", "2"]) == 2
    assert "edit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["curate"], "name a FOLDER"),
        (["curate", "STUDY"], "no curate.toml here"),
        (["curate", "STUDY", "--set", "geneval"], "not of the form NAME=PATH"),
        (["curate", "STUDY", "--prompts", "OWN", "--drop", "langage"], "Did you mean 'language'"),
        (["curate", "STUDY", "--set", "genevall=OWN"], "suffix ''"),
        (["curate", "STUDY", "--prompts", "OWN", "--write", "out.pdf"], "suffix '.pdf'"),
    ],
)
def test_faults(
    prompts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    places = {"STUDY": str(tmp_path / "study"), "OWN": str(prompts)}
    (tmp_path / "empty").write_text("a cat\n", encoding="utf-8")
    filled = [places.get(argument, argument.replace("=OWN", f"={tmp_path / 'empty'}")) for argument in arguments]
    assert main(filled) == 2
    assert message in capsys.readouterr().err


def test_the_list_of_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate", "--list"]) == 0
    printed = capsys.readouterr().out
    assert "partiprompts" in printed
    assert "CC-BY-4.0" in printed
    assert main(["curate", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["set"] for row in rows} >= {"geneval", "t2i-compbench:all", "drawbench"}
