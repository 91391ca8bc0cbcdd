"""Claims verified by a study's answers, and by a published file's validations."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.stage import run as collect
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.study.kinds.choice import ChoiceQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.tables.store import Store


@pytest.fixture
def verified(painted_study: Callable[..., Path]) -> Path:
    folder = painted_study(ChoiceQuestion(name="holds", design=Design(raters=8, trials=40)), seed=1, draws=200)
    design(folder)
    collect(folder, people=8)
    consolidate(folder)
    return folder


def test_claims_by_a_study(run: Callable[..., Any], verified: Path, tmp_path: Path) -> None:
    labels = Store(verified).read("labels").filter(Store(verified).read("labels")["answers"] >= 2).sort("image")
    clear = labels.filter((labels["value"] == 1.0) & labels["choice"].is_in(["yes", "no"]))
    file = tmp_path / "claims.csv"
    lines = [f"{row['image']},no,{'ann' if row['choice'] == 'no' else 'bob'}" for row in clear.to_dicts()]
    file.write_text("\n".join(["image,claimed,claimant", *lines]))
    outcome = json.loads(run("claims", file, "--study", verified, "--json").out)
    assert sum(outcome["counts"].values()) == len(lines)
    by_person = {row["claimant"]: row for row in outcome["claimants"]}
    assert by_person["bob"]["verified"] == 0  # everyone said yes
    assert by_person["ann"]["verified"] >= by_person["bob"]["verified"]
    assert "verified" in run("claims", file, "--study", verified).out


def test_all_faults_of_a_file_at_once(run: Callable[..., Any], verified: Path, tmp_path: Path) -> None:
    file = tmp_path / "claims.csv"
    file.write_text("image,claimed,claimant\nnowhere,no,ann\nnowhere,perhaps,ann\n")
    refused = run("claims", file, "--study", verified)
    assert refused.code == 2
    assert "line 2: no image 'nowhere'" in refused.err
    assert "line 3: 'perhaps' is none of the options yes, no, cannot-tell" in refused.err
    file.write_text("image\nx\n")
    assert "column claimed is missing" in run("claims", file, "--study", verified).err
    assert run("claims", tmp_path / "absent.csv", "--study", verified).code == 2
    assert run("claims", file).code == 2


def test_a_study_without_a_choice_question(
    run: Callable[..., Any], painted_study: Callable[..., Path], tmp_path: Path
) -> None:
    folder = painted_study(PairQuestion(name="q"), seed=1, draws=200)
    refused = run("claims", tmp_path / "claims.csv", "--study", folder)
    assert refused.code == 2
    assert "one question of kind choice is expected, or the pairs of a round; found 0" in refused.err


def test_claims_of_a_published_file(run: Callable[..., Any], tmp_path: Path) -> None:
    def row(number: int) -> dict[str, object]:
        said = "no_image_safe" if number % 2 else "yes_image_safe"
        checks = [{"annotator_id": f"a{n}", "image_safety_validation": [said]} for n in range(5)]
        note = {"submitter_id": number % 2, "example_uid": number}
        return {
            "submitted_prompt": f"a harmless prompt {number}",
            "hashed_filename": f"image-{number}",
            "submission_annotations": note,
            "validation": checks,
        }

    file = tmp_path / "dev.json"
    file.write_text(json.dumps([row(number) for number in range(20)]))
    outcome = run("claims", file, "--nibbler", "--json")
    assert json.loads(outcome.out)["counts"] == {"verified": 10, "refuted": 10, "open": 0}
    assert "harmless" not in outcome.out
