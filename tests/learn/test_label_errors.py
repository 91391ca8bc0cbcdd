"""Labels that a model's predictions of images held out speak against."""

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest
from scipy.special import logit

from beholder.learn.label_errors import find_label_errors, label_errors
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store


def labels(*rows: Mapping[str, object]) -> pl.DataFrame:
    common = {
        "question": "q",
        "aspect": "preference",
        "method": "preference",
        "value": 0.5,
        "answers": 9,
        "raters": 9,
    }
    return TABLES["labels"].frame([{**common, **row} for row in rows])


def predictions(values: dict[str, float], *, aspect: str = "preference", held_out: bool = True) -> pl.DataFrame:
    common = {"model": "tower", "fold": 0, "aspect": aspect, "better": "higher", "held_out": held_out}
    return TABLES["predictions"].frame([{**common, "image": image, "score": s} for image, s in values.items()])


def preferences() -> pl.DataFrame:
    """Pairs of the images a to f with z, three of which prefer z."""
    choices = {"a": "other", "b": "other", "c": "other", "d": "image", "e": "image", "f": "image"}
    return labels(*({"image": image, "other": "z", "choice": choice} for image, choice in choices.items()))


def scores(**chances: float) -> dict[str, float]:
    """Scores by which each image is preferred to z with these chances."""
    return {"z": 10.0} | {image: 10.0 + float(logit(chance)) for image, chance in chances.items()}


def doubts_by_image(frame: pl.DataFrame) -> dict[str, tuple[object, object]]:
    return {image: (doubt, other) for image, doubt, other in frame.select("image", "doubt", "suggested").rows()}


def test_by_hand() -> None:
    # thresholds: other (.9 + .8 + .1)/3 = .6, image (.9 + .8 + .7)/3 = .8. c has .9 for image: reached.
    # f has .7 for image, below .8, and .3 for other: no class is reached, and nothing is said of it
    errors = label_errors(preferences(), predictions(scores(a=0.1, b=0.2, c=0.9, d=0.9, e=0.8, f=0.7)))
    assert errors["model"].unique().to_list() == ["tower"]
    doubts = doubts_by_image(errors)
    assert doubts["c"] == (pytest.approx(0.9), "image")
    assert doubts["f"] == (pytest.approx(0.3), None)
    assert [doubts[image][1] for image in "abdef"] == [None] * 5


def test_only_predictions_held_out_of_the_same_aspect_count() -> None:
    scored = scores(a=0.1, b=0.2, c=0.9, d=0.9, e=0.8, f=0.7)
    for others in (predictions(scored, held_out=False), predictions(scored, aspect="beauty"), predictions({})):
        assert label_errors(preferences(), others).is_empty()


def test_images_without_a_prediction_are_not_listed() -> None:
    errors = label_errors(preferences(), predictions(scores(a=0.1, b=0.2, c=0.9, d=0.9, e=0.8)))  # not f
    assert errors["image"].to_list() == list("abcde")


def test_real_and_generated_are_known_and_not_doubted() -> None:
    rows = ({"image": image, "aspect": "realism", "method": "share", "choice": "real"} for image in "ab")
    assert label_errors(labels(*rows), predictions({"a": 0.9, "b": 0.1}, aspect="realism")).is_empty()


def test_ties_and_pairs_without_a_label_are_not_listed() -> None:
    rows = labels(
        *(
            {"image": image, "other": "z", "choice": choice}
            for image, choice in zip("abc", ("tie", "other", "other"), strict=True)
        )
    )
    errors = label_errors(rows, predictions(scores(a=0.9, b=0.1, c=0.2)))
    assert doubts_by_image(errors) == {"b": (pytest.approx(0.1), None), "c": (pytest.approx(0.2), None)}


def test_the_table_is_written_again_when_labels_or_predictions_changed(
    bare_study: Callable[..., Path],
) -> None:
    folder = bare_study(PairQuestion(name="q"))
    store, images = Store(folder), Store(folder).read("images")["image"].to_list()[:7]
    named = dict(zip("abcdefz", images, strict=True))

    def write(chances: list[float], seed: int = 0) -> None:
        rows = preferences().with_columns(pl.col("image", "other").replace_strict(named))
        store.write({"labels": rows}, Provenance("consolidate", {}, seed, {}))
        by_letter = scores(**dict(zip("abcdef", chances, strict=True)))
        predicted = predictions({named[letter]: score for letter, score in by_letter.items()})
        store.write({"predictions": predicted}, Provenance("learn", {}, 0, {}))

    write([0.1, 0.2, 0.9, 0.9, 0.8, 0.7])
    assert find_label_errors(folder).rows == {"label_errors": 6}
    suggested = store.read("label_errors").filter(pl.col("suggested").is_not_null())
    assert suggested["image"].to_list() == [named["c"]]
    assert find_label_errors(folder).skipped
    write([0.1, 0.2, 0.3, 0.9, 0.8, 0.7])
    assert not find_label_errors(folder).skipped
    assert store.read("label_errors")["suggested"].null_count() == 6
    write([0.1, 0.2, 0.3, 0.9, 0.8, 0.7], seed=1)
    assert not find_label_errors(folder).skipped
