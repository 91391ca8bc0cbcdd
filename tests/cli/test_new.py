"""``beholder new``, as a user calls it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.study.study import load_study
from beholder.study.wages import hourly_pay
from beholder.tables.store import Store


def tree(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_a_study_is_made_and_the_next_step_named(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    folder = tmp_path / "s"
    ran = run(
        *("new", "hype-infinity, hpd-pairs", folder, "--real", sources / "real"),
        *("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}"),
        *("--name", "my-study", "--title", "Which is real?", "--seed", "3", "--copy"),
    )
    assert (ran.code, ran.err) == (0, "")
    assert "study 'my-study' with 6 images (2 real, 2 a, 2 b)" in ran.out
    assert "realism: realism, 60 raters × 4 trials\n    pay: 0.20 USD for 1 min, 12.00 USD an hour\n" in ran.out
    assert "changed to fit: trials 4 (published: 100); qualification none (published: 100)\n" in ran.out
    assert f"rehearse with simulated raters: beholder run {folder} --simulate 20\n" in ran.out
    assert f"ask people: beholder collect {folder}\n" in ran.out
    study = load_study(folder)
    assert (study.name, study.title, study.seed) == ("my-study", "Which is real?", 3)
    assert (folder / "images/a/0.png").is_file()


def test_numbers_and_manifest(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    (sources / "list.csv").write_text("path,generator,prompt\na/0.png,a,x\nb/0.png,b,x\n")
    ran = run("new", "mos", tmp_path / "s", "--manifest", sources / "list.csv", "--raters", "15", "--trials", "2")
    assert ran.code == 0
    assert "15 raters × 2 trials" in ran.out
    assert Store(tmp_path / "s").read("images")["path"].to_list() == ["../in/a/0.png", "../in/b/0.png"]


def test_faults_are_listed_and_nothing_is_written(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    (sources / "a/0.png").write_text("text")
    before = tree(tmp_path)
    ran = run("new", "hpd-pairs,nope", tmp_path / "s", "--generated", f"a={sources / 'a'}")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {tmp_path}/s: the study was not made: 3 faults\n")
    for expected in (
        "protocol 'nope' is not known",
        "0.png: not an image that can be read",
        "at least 2 are needed",
    ):
        assert expected in ran.err
    assert tree(tmp_path) == before


@pytest.mark.parametrize("value", ["folder", "=folder", "name="])
def test_a_generator_needs_name_and_folder(run: Callable[..., Any], tmp_path: Path, value: str) -> None:
    ran = run("new", "mos", tmp_path / "s", "--generated", value)
    assert ran.code == 2
    assert "not of the form NAME=DIR" in ran.err


def test_no_bar_where_no_one_looks(tmp_path: Path, sources: Path) -> None:
    line = [sys.executable, "-m", "beholder", "new", "mos", "s", "--generated", f"a={sources / 'a'}"]
    plain = {**os.environ, "TERM": "xterm"}
    ended = subprocess.run(line, cwd=tmp_path, env=plain, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert ended.stdout.startswith("s: study 's' with 2 images (2 a)\n")


def test_every_number_can_be_chosen(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    ran = run(
        *("new", "hype-infinity", tmp_path / "s", "--real", sources / "real", "--gold", f"b={sources / 'b'}"),
        *("--generated", f"a={sources / 'a'}", "--raters", 3, "--trials", 2, "--training", 0, "--repeats", 1),
        *("--qualification", 0, "--gold-every", 2, "--attention-every", 2, "--blocks", 2),
    )
    assert ran.code == 0
    assert "changed to fit" not in ran.out
    design = load_study(tmp_path / "s").questions[0].design
    assert (design.raters, design.trials, design.training, design.repeats) == (3, 2, 0, 1)
    assert (design.qualification, design.gold_every, design.attention_every, design.blocks) == (0, 2, 2, 2)
    assert run("design", tmp_path / "s").code == 0


def test_zero_leaves_a_setting_out(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    images = ("--generated", f"a={sources / 'a'}")
    ran = run(
        "new", "mos", tmp_path / "s", *images, "--raters-per-item", 0, "--attention-every", 0, "--repeats", 0
    )
    assert ran.code == 0
    design = load_study(tmp_path / "s").questions[0].design
    assert (design.raters_per_item, design.attention_every, design.repeats) == (None, None, 0)


def test_images_per_trial(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    rows = [f"{generator}/{number}.png,{generator},one" for generator in ("a", "b") for number in range(2)]
    (sources / "list.csv").write_text("\n".join(["path,generator,prompt", *rows]) + "\n")
    options = ("--manifest", sources / "list.csv", "--raters", 10, "--trials", 1)
    ran = run("new", "hpd-ranking", tmp_path / "s", *options)
    assert "changed to fit: images 4 (published: 9)" in ran.out
    ran = run("new", "hpd-ranking", tmp_path / "t", *options, "--images-per-trial", 3)
    assert ran.code == 0
    assert load_study(tmp_path / "t").questions[0].model_dump()["images"] == 3


def test_what_was_made_as_json(run: Callable[..., Any], tmp_path: Path, sources: Path) -> None:
    ran = run("new", "mos", tmp_path / "s", "--generated", f"a={sources / 'a'}", "--wage", 15, "--json")
    content = json.loads(ran.out)
    assert content["images"] == {"a": 2}
    (question,) = content["questions"]
    assert question["design"]["trials"] == load_study(tmp_path / "s").questions[0].design.trials
    assert {"setting": "blocks", "published": 2, "fitted": 1} in question["changes"]
    assert question["hourly_pay"] >= 15


def test_pay_below_the_wage_is_refused_unless_accepted(
    run: Callable[..., Any], tmp_path: Path, sources: Path
) -> None:
    call = ("new", "mos", tmp_path / "s", "--generated", f"a={sources / 'a'}", "--pay", "0.01")
    ran = run(*call)
    assert (ran.code, ran.out) == (2, "")
    assert "less than minimum_hourly (12.00 USD)" in ran.err
    assert "--accept-low-pay" in ran.err
    assert not (tmp_path / "s").exists()
    ran = run(*call, "--accept-low-pay")
    assert ran.code == 0
    study = load_study(tmp_path / "s")
    assert (study.pay.base, study.pay.accept_low) == (0.01, True)
    assert f"{hourly_pay(study, study.questions[0]):.2f} USD an hour" in ran.out
