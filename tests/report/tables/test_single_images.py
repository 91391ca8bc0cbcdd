"""All that is known of each image."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from beholder.report.tables.single_images import Bounds, ImageRecord, SingleImages, build_single_images
from beholder.study.study import load_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

MakeStudy = Callable[..., Path]
RECORD = Provenance("test", {}, 0, {})


def judgement(question: str, kind: str, rater: str, image: str, value: float, **more: object) -> dict[str, object]:
    aspect = "quality" if question == "opinion" else question
    return {"question": question, "aspect": aspect, "rater": rater, "session": f"{question}-{rater}"} | {
        "trial": f"t-{question}-{rater}-{image}",
        "attempt": 1,
        "place": 0,
        "image": image,
        "value": value,
        "value_kind": kind,
        "used": True,
        **more,
    }


@pytest.fixture
def images(make_study: MakeStudy) -> SingleImages:
    folder = make_study(["alpha", "beta"])
    rows = [judgement("realism", "detection", f"rater-{n}", "0-0", float(n % 2)) for n in range(4)]
    rows += [judgement("opinion", "rating", f"rater-{n}", "0-0", 3.0) for n in range(4)]
    rows += [
        judgement("preference", "vote", f"rater-{n}", "0-0", 1.0 if n < 3 else -1.0, other="1-0") for n in range(4)
    ]
    rows.append(judgement("realism", "detection", "rater-5", "0-1", 1.0, used=False, reason="fast: 0.1 s"))
    scores = [{"scorer": "sharp", "aspect": "quality", "image": "0-0", "score": 0.123456}]
    trials = [
        {"trial": row["trial"], "question": row["question"], "kind": "pair", "position": place, "block": 0}
        | {"slot": 0, "role": "test", "images": [row["image"]], "propensity": 1.0}
        for place, row in enumerate(rows)
    ]
    frames = {"judgements": TABLES["judgements"].frame(rows), "scores": TABLES["scores"].frame(scores)}
    frames["trials"] = TABLES["trials"].frame(trials)
    Store(folder).write(frames, RECORD)
    return build_single_images(load_study(folder), folder, ["beta", "alpha"])


def record(images: SingleImages, name: str) -> ImageRecord:
    return next(image for image in images.images if image.id == name)


def test_generators_keep_the_order_of_the_leaderboard(images: SingleImages) -> None:
    assert images.generators == ["beta", "alpha", "real"]
    assert images.generators[record(images, "0-0").generator] == "alpha"
    assert images.prompts == ["a cat <i>& a dog</i>"]


def test_a_vote_on_a_pair_is_on_both_images(images: SingleImages) -> None:
    aspect = next(n for n, row in enumerate(images.aspects) if row[0] == "preference")
    place = {image.id: number for number, image in enumerate(images.images)}
    votes = [vote for vote in record(images, "0-0").votes if vote[0] == aspect]
    assert [vote[2] for vote in votes] == [1, 1, 1, -1]
    assert {vote[3] for vote in votes} == {place["1-0"]}
    assert [vote[2] for vote in record(images, "1-0").votes] == [-1, -1, -1, 1]


def test_disagreement_by_hand(images: SingleImages) -> None:
    # realism: two of four say generated: 1. opinion: all say 3: 0. preference: 3 of 4, 2 √(3/4 × 1/4) = .866.
    assert record(images, "0-0").disagreement == pytest.approx((1 + 0 + 0.866) / 3, abs=1e-3)
    assert record(images, "1-0").disagreement == pytest.approx(0.866, abs=1e-3)


def test_answers_of_excluded_raters_are_listed_but_do_not_count(images: SingleImages) -> None:
    excluded = record(images, "0-1")
    assert [vote[4] for vote in excluded.votes] == [0]
    assert excluded.disagreement is None


def test_labels_and_scores(images: SingleImages) -> None:
    image = record(images, "0-0")
    names = {(images.aspects[int(str(label[0]))][1], label[1]): label[2:] for label in image.labels}
    assert names["realism", "called generated"] == [0.25, 0.1, 0.4, 8]
    assert names["quality", "mean"] == [2.0, 1.5, 5.0, 8]  # up to 5.5 in the table, beyond the scale
    assert images.scorers == ["sharp: quality"]
    assert image.scores == [[0, 0.1235]]


def test_marks_of_points_and_words_and_addresses(every_kind: Path) -> None:
    images = build_single_images(load_study(every_kind), every_kind, [])
    marks = [mark for image in images.images for mark in image.marks]
    assert {len(mark) for mark in marks} == {3, 4}
    assert all(str(image.file).startswith("file:///") for image in images.images)  # they lie outside the study


def test_comments_stand_beside_the_skip_they_belong_to(make_study: MakeStudy) -> None:
    folder = make_study(["alpha"])
    trial: dict[str, object] = {
        "trial": "t",
        "question": "opinion",
        "kind": "rating",
        "position": 0,
        "block": 0,
        "slot": 0,
    }
    trial |= {"role": "test", "images": ["0-0"], "propensity": 1.0}
    skip: dict[str, object] = {
        "trial": "t",
        "session": "s",
        "rater": "rater-1",
        "question": "opinion",
        "reason": "disturbing",
    }
    skip |= {"skipped": datetime(2026, 11, 17, tzinfo=UTC)}
    session: dict[str, object] = {
        "session": "s",
        "rater": "rater-1",
        "question": "opinion",
        "slot": 0,
        "status": "complete",
    }
    session |= {"started": datetime(2026, 11, 17, tzinfo=UTC), "simulated": False, "platform": "web"}
    rows = {"trials": trial, "sessions": session, "skips": skip}
    Store(folder).write({name: TABLES[name].frame([row]) for name, row in rows.items()}, RECORD)
    study = load_study(folder)

    plain = record(build_single_images(study, folder, ["alpha"]), "0-0")
    assert plain.skips == [[0, "disturbing"]]
    comments = {("rater-1", "t"): "blood", ("rater-2", "t"): "another rater's"}
    commented = record(build_single_images(study, folder, ["alpha"], comments), "0-0")
    assert commented.skips == [[0, "disturbing", "blood"]]
    assert record(build_single_images(study, folder, ["alpha"], {}), "0-0").skips == [[0, "disturbing", ""]]


def test_a_large_study_has_the_most_divided_images_and_an_even_sample(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"])
    every = Store(folder).read("images").filter(~pl.col("gold"))["image"].to_list()
    rows = [judgement("opinion", "rating", f"rater-{n}", every[-1], 1.0 + 4 * n) for n in range(2)]
    rows += [judgement("opinion", "rating", f"rater-{n}", image, 3.0) for n in range(2) for image in every[:-1]]
    trials = [
        {"trial": row["trial"], "question": "opinion", "kind": "rating", "position": place, "block": 0}
        | {"slot": 0, "role": "test", "images": [row["image"]], "propensity": 1.0}
        for place, row in enumerate(rows)
    ]
    frames = {"judgements": TABLES["judgements"].frame(rows), "trials": TABLES["trials"].frame(trials)}
    Store(folder).write(frames, RECORD)
    study = load_study(folder)
    single = build_single_images(study, folder, ["alpha"], bounds=Bounds(images=3, judgements=1_000))
    assert single.total == len(every) > 3
    assert len(single.images) == 3
    assert single.images[-1].id == every[-1]  # the only one on which raters differ
    assert single.images[-1].disagreement == 1.0
    assert all(len(image.votes) == 2 for image in single.images)
    fewer = build_single_images(study, folder, ["alpha"], bounds=Bounds(judgements=len(rows) // 2))
    assert len(fewer.images) == len(every) // 2
    everything = build_single_images(study, folder, ["alpha"])
    by_id = {image.id: image for image in everything.images}
    assert len(by_id) == len(every)
    assert [image.votes for image in single.images] == [by_id[image.id].votes for image in single.images]
