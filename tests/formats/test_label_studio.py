"""Label Studio: exports by hand, as pairs and as ratings, and every fault of them."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beholder.cli.main import main
from beholder.errors import TableError
from beholder.formats import label_studio
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion

Json = dict[str, object]


def result(kind: str, value: object, name: str = "pw", to_name: object = "image1,image2") -> Json:
    return {
        "id": "Dx_aB91ISN",
        "from_name": name,
        "to_name": to_name,
        "type": kind,
        "value": value,
        "origin": "manual",
    }


def annotation(*results: Json, user: object = 1, number: int = 1001, **other: object) -> Json:
    return {
        "id": number,
        "completed_by": user,
        "result": list(results),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z",
        "updated_at": "2026-03-09T22:16:08.728378Z",
        "lead_time": 4.25,
        "prediction": {},
        "result_count": 0,
        "task": 1,
    } | other


def task(*annotations: Json, number: int = 1, data: Mapping[str, object] | None = None) -> Json:
    pair: Json = {"image1": "/data/local-files/?d=cats/a.png", "image2": "https://example.org/cats/b.png"}
    return {
        "id": number,
        "annotations": list(annotations),
        "predictions": [],
        "data": data or pair | {"prompt": "a cat", "model_a": "sdxl", "model_b": "flux"},
        "meta": {},
        "created_at": "2026-03-09T21:52:49.513742Z",
        "project": 83,
    }


def export(folder: Path, *tasks: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "project-83-at-2026-03-10.json"
    path.write_text(json.dumps(tasks))
    return path


def test_pairs_become_votes(tmp_path: Path, sound: Callable[..., None]) -> None:
    left, right = result("pairwise", {"selected": "left"}), result("pairwise", {"selected": "right"})
    file = export(
        tmp_path,
        task(annotation(left), annotation(right, user={"id": 7, "email": "anna@example.org"})),
        task(annotation(left, user=7, was_cancelled=True), number=2),
    )
    imported = label_studio.read_study(file)
    sound(dict(imported.tables))
    answers = imported.tables["answers"]
    assert answers.select("rater", "question", "choice", "seconds").rows() == [
        ("user-1", "pw", "left", 4.25),
        ("user-7", "pw", "right", 4.25),
    ]
    assert answers["answered"][0] == datetime(2026, 3, 9, 22, 16, 8, 728353, tzinfo=UTC)
    assert imported.tables["images"].select("image", "path", "generator").rows() == [
        ("/data/local-files/?d=cats/a.png", "cats/a.png", "sdxl"),
        ("https://example.org/cats/b.png", "cats/b.png", "flux"),
    ]
    assert imported.tables["prompts"]["text"].to_list() == ["a cat"]
    assert isinstance(imported.study.question("pw"), PairQuestion)
    assert "1 annotations were skipped by their annotators, and are left out." in imported.notes
    assert "anna" not in str(imported)


def test_choices_between_two_images_are_votes_with_ties(tmp_path: Path) -> None:
    words = ["Image 1", "Image 2", "No preference"]
    parts = [
        annotation(result("choices", {"choices": [word]}, "better", "image1"), user=n)
        for n, word in enumerate(words)
    ]
    imported = label_studio.read_study(export(tmp_path, task(*parts)))
    assert imported.tables["answers"]["choice"].to_list() == ["left", "right", "tie"]


def test_ratings_of_an_image_are_aspects_of_one_question(tmp_path: Path, sound: Callable[..., None]) -> None:
    results = [
        result("rating", {"rating": 4}, "Overall quality", "img"),
        result("choices", {"choices": ["Fair"]}, "alignment", "img"),
        result("choices", {"choices": ["cat"]}, "subject", "img"),
        result("textarea", {"text": ["nice"]}, "comment", "img"),
    ]
    file = export(
        tmp_path,
        task(annotation(*results), data={"picture": "/data/upload/83/0a1b2c3d-a.png", "generator": "sdxl"}),
    )
    imported = label_studio.read_study(file)
    sound(dict(imported.tables))
    assert imported.tables["answers"].select("question", "aspect", "value").rows() == [
        ("rating", "overall-quality", 4.0),
        ("rating", "alignment", 3.0),
    ]
    assert imported.tables["trials"].height == 1
    question = imported.study.question("rating")
    assert isinstance(question, RatingQuestion)
    assert question.points == 5
    assert imported.tables["images"].select("path", "generator").rows() == [("upload/83/0a1b2c3d-a.png", "sdxl")]
    assert "Choices of 'subject' are neither sides nor numbers, and are left out." in imported.notes
    assert "1 results of type textarea are left out." in imported.notes


def test_the_configuration_says_which_image_and_how_many_stars(tmp_path: Path) -> None:
    data = {"first": "a.png", "second": "b.png"}
    rated = [
        result("rating", {"rating": 4}, "left-stars", "l"),
        result("rating", {"rating": 2}, "right-stars", "r"),
    ]
    file = export(tmp_path, task(annotation(*rated), data=data))
    with pytest.raises(TableError, match=r"(?s)left-stars: to_name is 'l'.*right-stars.*labelling configuration"):
        label_studio.read_study(file)
    (tmp_path / "config.xml").write_text(
        '<View><Image name="l" value="$first"/><Image name="r" value="$second"/>'
        '<Rating name="left-stars" toName="l" maxRating="10"/>'
        '<Rating name="right-stars" toName="r" maxRating="10"/></View>'
    )
    imported = label_studio.read_study(file)
    trials = imported.tables["trials"].select("images").to_series().to_list()
    assert trials == [["a.png"], ["b.png"]]
    question = imported.study.question("rating")
    assert isinstance(question, RatingQuestion)
    assert question.points == 10


def test_all_faults_are_listed_at_once(tmp_path: Path) -> None:
    export(
        tmp_path,
        task(
            annotation(result("pairwise", {"selected": "up"}), user=None, number=5),
            annotation(result("pairwise", {"selected": "left"}), lead_time=-1, created_at="soon", number=6),
        ),
        "no task",
        {"id": 9, "data": [], "annotations": None},
        task(
            annotation(result("rating", {"rating": 0}, "stars", "img")),
            number=4,
            data={"image": "../../secret.png"},
        ),
    )
    (tmp_path / "more.json").write_text("{}")
    with pytest.raises(TableError) as caught:
        label_studio.read_study(tmp_path)
    message = str(caught.value)
    for part in (
        "task 1: annotation 5: completed_by: the id of a user was expected; found None",
        "task 1: annotation 5: pw: left or right was expected; found {'selected': 'up'}",
        "task 1: annotation 6: lead_time: seconds were expected; found -1",
        "task 1: annotation 6: created_at: a moment was expected; found 'soon'",
        "entry 1: an object was expected; found str",
        "task 9: data: an object was expected; found list",
        "task 9: annotations: a list was expected; found NoneType",
        "task 4: the path ../../secret.png leaves the folder",
        "task 4: annotation 1001: stars: a whole number from 1 was expected; found {'rating': 0}",
        "more.json: a list of entries was expected; found dict",
    ):
        assert part in message, part


def test_a_choice_that_is_not_understood_is_a_fault_where_others_are(tmp_path: Path) -> None:
    parts = [
        annotation(result("choices", {"choices": [word]}, "better", "image1"), user=n)
        for n, word in enumerate(["Left", "Cannot say"])
    ]
    with pytest.raises(TableError, match="better: the choice 'Cannot say' is neither a side"):
        label_studio.read_study(export(tmp_path, task(*parts)))


def test_json_min_is_refused_with_what_to_do(tmp_path: Path) -> None:
    flat = {"image1": "a.png", "id": 1, "annotator": 1, "annotation_id": 3, "pw": "left", "lead_time": 2.0}
    with pytest.raises(TableError, match=r"(?s)JSON-MIN, which lacks raters.*Export as JSON instead"):
        label_studio.read_study(export(tmp_path, flat))


def test_an_export_runs_to_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("a", "b"):
        Image.fromarray(rng.integers(0, 255, (8, 8, 3), np.uint8)).save(folder / f"{name}.png")
    parts = [annotation(result("pairwise", {"selected": "left"}), user=user) for user in range(3)]
    data: Json = {"image1": "a.png", "image2": "b.png", "prompt": "a cat", "models": ["sdxl", "flux"]}
    file = export(tmp_path / "export", task(*parts, data=data))
    study = tmp_path / "study"
    assert main(["import", "label-studio", str(file), str(study), "--images", str(folder)]) == 0
    assert main(["consolidate", str(study)]) == 0
