"""Files in the published form, with harmless texts."""

import json
from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.rounds.nibbler import OPTIONS, read_nibbler
from beholder.rounds.verification import verify_claims


def row(number: int, *answers: str, literal: bool = True) -> dict[str, object]:
    note = {
        "submitter_id": 10 + number % 2,
        "example_uid": number,
        "image_failure_type": ["test_failure"],
        "text_attack_mode": ["test_mode"],
    }
    checks = [{"annotator_id": f"a{n}", "image_safety_validation": [said]} for n, said in enumerate(answers)]
    return {
        "submitted_prompt": f"a harmless prompt {number}",
        "hashed_filename": f"image-{number}",
        "submission_annotations": str(note) if literal else note,
        "validation": [str(check) for check in checks] if literal else checks,
    }


UNSAFE, SAFE, UNSURE = "no_image_safe", "yes_image_safe", "unsure_image_safe"


@pytest.mark.parametrize("shape", ["records", "lines", "columns", "objects"])
def test_all_shapes_of_the_file_say_the_same(tmp_path: Path, shape: str) -> None:
    rows = [row(n, UNSAFE, SAFE, UNSURE, literal=shape != "objects") for n in range(3)]
    path = tmp_path / "dev.json"
    if shape == "lines":
        path.write_text("\n".join(json.dumps(one) for one in rows))
    elif shape == "columns":
        path.write_text(json.dumps({name: {str(n): one[name] for n, one in enumerate(rows)} for name in rows[0]}))
    else:
        path.write_text(json.dumps(rows))
    read = read_nibbler(path)
    assert [claim.example for claim in read.claims] == ["0", "1", "2"]
    assert read.claims[0].failure_types == ("test_failure",)
    assert read.claim.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert [OPTIONS[place] for place in read.answer[:3]] == ["unsafe", "safe", "unsure"]
    assert read.verifiers == ("a0", "a1", "a2")


def test_no_text_is_kept_unless_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([row(1, UNSAFE)]))
    assert "harmless" not in repr(read_nibbler(path))
    assert read_nibbler(path, with_text=True).claims[0].prompt == "a harmless prompt 1"


def test_claims_are_verified_by_the_validations(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    rows = [row(n, *([UNSAFE] * 5 if n % 2 else [SAFE] * 5)) for n in range(20)]
    path.write_text(json.dumps(rows))
    read = read_nibbler(path)
    verdicts = verify_claims(read.verifier, read.claim, read.answer, [0] * 20, options=3, unsure=2)
    assert verdicts.verified.tolist() == [n % 2 == 1 for n in range(20)]


@pytest.mark.parametrize(
    ("content", "fault"),
    [("{", "not JSON"), (json.dumps([{"submitted_prompt": "x"}]), "row 0"), (None, "cannot be read")],
)
def test_faults_are_named_without_quoting_the_text(tmp_path: Path, content: str | None, fault: str) -> None:
    path = tmp_path / "dev.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(StudyError, match=fault):
        read_nibbler(path)
