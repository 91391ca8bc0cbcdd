"""Likely label errors by a model's predictions of held-out images."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.learn.label_errors import find_label_errors, label_errors
from beholder.study.kinds.realism import RealismQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store


def labels(*rows: Mapping[str, object]) -> pl.DataFrame:
    common = {"question": "q", "aspect": "realism", "method": "share", "value": 0.5, "answers": 9, "raters": 9}
    return TABLES["labels"].frame([{**common, **row} for row in rows])


def predictions(values: dict[str, float], *, aspect: str = "realism", held_out: bool = True) -> pl.DataFrame:
    common = {"model": "tower", "fold": 0, "aspect": aspect, "better": "lower", "held_out": held_out}
    return TABLES["predictions"].frame([{**common, "image": image, "score": s} for image, s in values.items()])


def soft_labels() -> pl.DataFrame:
    """Three images called real, three called generated."""
    choices = {"a": "real", "b": "real", "c": "real", "d": "generated", "e": "generated", "f": "generated"}
    return labels(*({"image": image, "choice": choice} for image, choice in choices.items()))


def doubts_by_image(frame: pl.DataFrame) -> dict[str, tuple[object, object]]:
    return {image: (doubt, other) for image, doubt, other in frame.select("image", "doubt", "suggested").rows()}


def test_by_hand() -> None:
    # thresholds: real (.9 + .8 + .1)/3 = .6, generated (.9 + .8 + .7)/3 = .8. c has .9 for generated: reached.
    # f has .7 for generated, below .8, and .3 for real: no class is reached, and nothing is said of it
    errors = label_errors(soft_labels(), predictions({"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8, "f": 0.7}))
    assert errors["model"].unique().to_list() == ["tower"]
    doubts = doubts_by_image(errors)
    assert doubts["c"] == (pytest.approx(0.9), "generated")
    assert doubts["f"] == (pytest.approx(0.3), None)
    assert [doubts[image][1] for image in "abdef"] == [None] * 5


def test_only_held_out_predictions_of_the_same_aspect_count() -> None:
    scores = {"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8, "f": 0.7}
    for others in (predictions(scores, held_out=False), predictions(scores, aspect="beauty"), predictions({})):
        assert label_errors(soft_labels(), others).is_empty()


def test_images_without_a_prediction_are_not_listed() -> None:
    errors = label_errors(soft_labels(), predictions({"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8}))  # not f
    assert errors["image"].to_list() == list("abcde")


def test_preferences_by_differences() -> None:
    rows = [{"image": f"i{n}", "other": f"j{n}", "choice": "image" if n % 2 else "other"} for n in range(6)]
    votes = labels(*({"method": "preference", "aspect": "preference"} | row for row in rows))
    lead = [-2.0, 2.0, -1.5, 1.5, 3.0, -3.0]  # the last two go against the labels
    scores = {f"i{n}": lead[n] + 10 for n in range(6)} | {f"j{n}": 10.0 for n in range(6)}
    errors = label_errors(votes, predictions(scores, aspect="preference")).sort("image")
    assert errors["other"].to_list() == [f"j{n}" for n in range(6)]
    assert errors["suggested"].to_list() == [None, None, None, None, "image", "other"]
    assert errors["doubt"].to_list() == pytest.approx([1 / (1 + np.exp(x)) for x in (2, 2, 1.5, 1.5, -3, -3)])


def test_scores_that_are_no_probabilities_are_ignored() -> None:
    assert label_errors(soft_labels(), predictions({"a": 1.5, "b": -3.0, "c": 4.0, "d": 9.0})).is_empty()
    # a little beyond 0 and 1 is a prediction that went too far
    near = label_errors(soft_labels(), predictions({"a": -0.05, "b": 0.1, "c": 1.1, "d": 0.9, "e": 0.8}))
    assert near["doubt"].to_list() == pytest.approx([0, 0.1, 1, 0.1, 0.2])
    assert near["suggested"].to_list() == [None, None, "generated", None, None]


def test_ties_and_images_without_a_label_are_not_listed() -> None:
    rows = labels(
        {"image": "a", "choice": None}, {"image": "b", "choice": "real"}, {"image": "c", "choice": "real"}
    )
    errors = label_errors(rows, predictions({"a": 0.9, "b": 0.1, "c": 0.2}))
    assert doubts_by_image(errors) == {"b": (pytest.approx(0.1), None), "c": (pytest.approx(0.2), None)}


def test_the_table_is_written_again_when_labels_or_predictions_changed(
    bare_study: Callable[..., Path],
) -> None:
    folder = bare_study(RealismQuestion(name="q"))
    store, images = Store(folder), Store(folder).read("images")["image"].to_list()[:6]
    named = dict(zip("abcdef", images, strict=True))

    def write(scores: list[float], seed: int = 0) -> None:
        rows = soft_labels().with_columns(pl.col("image").replace_strict(named))
        store.write({"labels": rows}, Provenance("consolidate", {}, seed, {}))
        held_out = predictions(dict(zip(images, scores, strict=True)))
        store.write({"predictions": held_out}, Provenance("learn", {}, 0, {}))

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
