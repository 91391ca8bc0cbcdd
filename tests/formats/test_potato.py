"""Potato: projects by hand in the layouts of both versions, and every fault of them."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from beholder.cli.main import main
from beholder.errors import TableError
from beholder.formats import potato
from beholder.study.kinds.rating import RatingQuestion

Json = dict[str, object]

PAIRWISE: Json = {
    "annotation_type": "pairwise",
    "name": "preference",
    "description": "Which image is better?",
    "items_key": "images",
    "allow_tie": True,
}
LIKERT: Json = {
    "annotation_type": "likert",
    "name": "Image Quality",
    "description": "How good is it?",
    "size": 7,
    "min_label": "bad",
    "max_label": "good",
}
ITEMS = [
    {"id": "1", "images": ["img/a.png", "img/b.png"], "prompt": "a cat", "models": ["sdxl", "flux"]},
    {"id": "2", "images": ["img/c.png", "img/d.png"], "prompt": "a dog", "models": ["sdxl", "flux"]},
]


def write_project(folder: Path, schemes: list[Json], items: Sequence[object], **other: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "items.jsonl").write_text("\n".join(json.dumps(item) for item in items) + "\n")
    settings: Json = {
        "annotation_task_name": "Cats and dogs",
        "task_dir": ".",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "output_annotation_dir": "annotation_output/",
        "annotation_schemes": schemes,
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(settings | other))
    return folder


def write_state(folder: Path, user: str, labels: Json, **other: object) -> None:
    place = folder / "annotation_output" / user
    place.mkdir(parents=True, exist_ok=True)
    state: Json = {
        "user_id": user,
        "instance_id_ordering": ["2", "1"],
        "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": {},
        "instance_id_to_behavioral_data": {},
    }
    (place / "user_state.json").write_text(json.dumps(state | other))


def write_lines(folder: Path, user: str, *lines: Json) -> None:
    place = folder / "annotation_output" / user
    place.mkdir(parents=True, exist_ok=True)
    (place / "annotated_instances.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n")


def set_to(scheme: str, name: str, value: object) -> list[object]:
    return [{"schema": scheme, "name": name}, value]


def test_pairs_of_version_2(tmp_path: Path, sound: Callable[..., None]) -> None:
    write_project(tmp_path, [PAIRWISE], ITEMS)
    behaviour = {"1": {"session_start": 1767225600.0, "session_end": 1767225612.0, "total_time_ms": 12000}}
    write_state(
        tmp_path,
        "anna@example.org",
        {"1": [set_to("preference", "selection", "A")], "2": [set_to("preference", "selection", "tie")]},
        instance_id_to_behavioral_data=behaviour,
    )
    write_state(
        tmp_path, "ben", {"1": {"preference": {"selection": "B"}}, "consent.html": {"agree": {"yes": "true"}}}
    )
    imported = potato.read_study(tmp_path)
    sound(dict(imported.tables))
    answers = imported.tables["answers"]
    assert answers.select("rater", "question", "choice", "seconds").rows() == [
        ("rater-001", "preference", "tie", 0.0),  # assigned before the other item
        ("rater-001", "preference", "left", 12.0),
        ("rater-002", "preference", "right", 0.0),
    ]
    assert answers["answered"][1] == datetime(2026, 1, 1, 0, 0, 12, tzinfo=UTC)
    assert imported.tables["images"].filter(image="img/b.png").select("generator").item() == "flux"
    assert imported.study.title == "Cats and dogs"
    assert imported.differences == ("1 items have answers, but are in no data file: consent.html",)
    assert "anna" not in str(imported)


def test_scales_dimensions_and_radio_buttons_are_pairs_too(tmp_path: Path) -> None:
    schemes: list[Json] = [
        PAIRWISE | {"name": "degree", "mode": "scale"},
        PAIRWISE
        | {"name": "by", "mode": "multi_dimension", "dimensions": [{"name": "fidelity"}, {"name": "beauty"}]},
        {"annotation_type": "radio", "name": "old", "labels": [{"name": "Image A"}, {"name": "Image B"}, "Tie"]},
    ]
    write_project(tmp_path, schemes, ITEMS)
    labels = [
        set_to("degree", "scale_value", 0),
        set_to("by", "fidelity", "B"),
        set_to("by", "beauty", "tie"),
        set_to("by", "justification", '{"reasons": []}'),
        set_to("old", "Image B", "2"),
    ]
    write_state(tmp_path, "ben", {"1": labels})
    answers = potato.read_study(tmp_path / "config.yaml").tables["answers"]
    assert sorted(answers.select("question", "choice").rows()) == [
        ("by-beauty", "tie"),
        ("by-fidelity", "right"),
        ("degree", "tie"),
        ("old", "right"),
    ]


def test_ratings_of_both_versions(tmp_path: Path, sound: Callable[..., None]) -> None:
    slider: Json = {
        "annotation_type": "slider",
        "name": "realism",
        "min_value": 0,
        "max_value": 10,
        "description": "?",
    }
    words: Json = {
        "annotation_type": "likert",
        "name": "fit",
        "labels": ["no", "partly", "yes"],
        "description": "Fits?",
    }
    items = [{"id": "x", "text": '<img src="img/x.png">', "generator": "sdxl"}]
    write_project(tmp_path, [LIKERT, slider, words, {"annotation_type": "span", "name": "where"}], items)
    write_lines(
        tmp_path,
        "anna",
        {
            "id": "x",
            "displayed_text": '<img src="img/x.png">',
            "label_annotations": {"Image Quality": {"scale_6": "6"}, "fit": {"partly": "2"}},
            "span_annotations": {},
            "behavioral_data": {"time_string": "Time spent: 0d 0h 1m 12s "},
        },
    )
    labels = [
        set_to("Image Quality", "7", "7"),
        set_to("Image Quality", "5", "5"),
        set_to("realism", "slider", "2.5"),
    ]
    changes = [
        {"timestamp": 300.0, "schema_name": "Image Quality", "label_name": "7", "action": "select"},
        {"timestamp": 200.0, "schema_name": "Image Quality", "label_name": "5", "action": "select"},
    ]
    write_state(
        tmp_path, "ben", {"x": labels}, instance_id_to_behavioral_data={"x": {"annotation_changes": changes}}
    )
    imported = potato.read_study(tmp_path)
    sound(dict(imported.tables))
    answers = imported.tables["answers"]
    assert sorted(answers.select("question", "aspect", "rater", "value", "seconds").rows()) == [
        ("rating-3", "fit", "rater-001", 2.0, 72.0),
        ("rating-7", "image-quality", "rater-001", 6.0, 72.0),
        ("rating-7", "image-quality", "rater-002", 7.0, 0.0),
        ("rating-slider", "realism", "rater-002", 25.0, 0.0),
    ]
    question = imported.study.question("rating-7")
    assert isinstance(question, RatingQuestion)
    assert question.points == 7
    assert "Schemes that are neither pairs nor ratings are left out: where (span)." in imported.notes
    assert "realism: the slider from 0 to 10 is rescaled to 0 to 100." in imported.notes
    assert "1 answers have several values of which one was asked for; the last counts" in imported.differences


def test_data_as_a_list_and_as_csv(tmp_path: Path) -> None:
    folder = write_project(
        tmp_path,
        [LIKERT],
        [],
        data_files=["data/a.json", {"path": "data/b.csv"}],
        instance_display={"fields": [{"key": "picture", "type": "image"}]},
    )
    (folder / "data" / "a.json").write_text(json.dumps([{"id": 1, "picture": "a.png", "mask": "m.png"}], indent=1))
    (folder / "data" / "b.csv").write_text("id,picture\n2,b.png\n")
    write_state(
        folder, "ben", {"1": [set_to("Image Quality", "3", "3")], "2": [set_to("Image Quality", "4", "4")]}
    )
    assert potato.read_study(folder).tables["images"]["image"].to_list() == ["b.png", "a.png"]


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    write_project(tmp_path, [PAIRWISE, LIKERT], [*ITEMS, {"id": "3", "text": "no image"}, {"images": []}])
    write_state(tmp_path, "anna", {"1": [["selection", "A"]]})
    write_lines(tmp_path, "ben", {"id": "1"})
    (tmp_path / "annotation_output" / "carl").mkdir()
    (tmp_path / "annotation_output" / "carl" / "user_state.json").write_text("{")
    with pytest.raises(TableError) as caught:
        potato.read_study(tmp_path)
    message = str(caught.value)
    for part in (
        "items.jsonl: entry 3: an object with 'id' was expected",
        "1: [{schema, name}, value] was expected; found ['selection', 'A']",
        "line 1: an object with id and label_annotations was expected",
        "carl/user_state.json: not valid JSON",
    ):
        assert part in message, part


def test_answers_that_do_not_fit_are_all_named(tmp_path: Path) -> None:
    items = [*ITEMS, {"id": "3", "text": "no image"}, {"id": "4", "text": "../../up.png"}]
    write_project(tmp_path, [PAIRWISE, LIKERT], items)
    write_state(
        tmp_path,
        "ben",
        {
            "1": [set_to("preference", "selection", "C")],
            "2": [set_to("Image Quality", "9", "9")],
            "3": [set_to("Image Quality", "3", "3")],
            "4": [set_to("Image Quality", "3", "3")],
        },
    )
    with pytest.raises(TableError) as caught:
        potato.read_study(tmp_path)
    assert set(caught.value.faults) == {
        "ben, item 1: preference: A, B or tie was expected; found 'C'",
        "ben, item 2: Image Quality: a point from 1 to 7 was expected; found '9'",
        "ben, item 3: one image was expected; found none",
        "the path ../../up.png leaves the folder",
    }


@pytest.mark.parametrize(
    ("schemes", "message"),
    [
        ([{"annotation_type": "span", "name": "where"}], r"schemes: where \(span\); expected pairwise"),
        ([PAIRWISE], "no user_state.json or annotated_instances.jsonl"),
    ],
)
def test_projects_without_pairs_or_answers(tmp_path: Path, schemes: list[Json], message: str) -> None:
    write_project(tmp_path, schemes, ITEMS)
    if schemes != [PAIRWISE]:
        write_state(tmp_path, "ben", {"1": []})
    with pytest.raises(TableError, match=message):
        potato.read_study(tmp_path)


def test_a_project_runs_to_labels(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", [PAIRWISE, LIKERT | {"name": "q"}], ITEMS)
    for user in ("a", "b", "c"):
        write_state(project, user, {"1": [set_to("preference", "selection", "A")]})
    assert main(["import", "potato", str(project), str(tmp_path / "study")]) == 0
    assert main(["consolidate", str(tmp_path / "study")]) == 0
