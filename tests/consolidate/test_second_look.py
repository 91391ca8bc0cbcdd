"""Labels that a scorer's out-of-fold predictions speak against."""

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

from beholder.consolidate.second_look import with_second_looks
from beholder.tables.catalogue import TABLES

SCORER = "tower/out-of-fold"


def labels(*rows: Mapping[str, object]) -> pl.DataFrame:
    common = {"question": "q", "aspect": "realism", "method": "share", "value": 0.5, "answers": 9, "raters": 9}
    return TABLES["labels"].frame([{**common, **row} for row in rows])


def scores(values: dict[str, float], scorer: str = SCORER, aspect: str = "realism") -> pl.DataFrame:
    rows = [{"scorer": scorer, "aspect": aspect, "image": image, "score": s} for image, s in values.items()]
    return TABLES["scores"].frame(rows)


def shares() -> pl.DataFrame:
    """Three images called real, three called generated."""
    choices = {"a": "real", "b": "real", "c": "real", "d": "generated", "e": "generated", "f": "generated"}
    return labels(*({"image": image, "choice": choice} for image, choice in choices.items()))


def test_by_hand() -> None:
    # thresholds: real (.9 + .8 + .1)/3 = .6, generated (.9 + .8 + .7)/3 = .8. c has .9 for generated: reached.
    # f has .7 for generated, below .8, and .3 for real: no class is reached, and nothing is said of it
    said = scores({"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8, "f": 0.7})
    found = {row["image"]: row for row in with_second_looks(shares(), said).to_dicts()}
    assert (found["c"]["suggested"], found["c"]["doubted_by"]) == ("generated", SCORER)
    assert found["c"]["doubt"] == pytest.approx(0.9)
    assert found["f"]["doubt"] == pytest.approx(0.3)
    assert [found[image]["suggested"] for image in "abdef"] == [None] * 5


def test_only_out_of_fold_predictions_of_the_same_aspect_count() -> None:
    said = {"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8, "f": 0.7}
    for others in (scores(said, scorer="tower"), scores(said, aspect="beauty"), scores({})):
        found = with_second_looks(shares(), others)
        assert (
            found["doubt"].null_count() == found["suggested"].null_count() == found["doubted_by"].null_count() == 6
        )


def test_beside_what_people_say() -> None:
    before = shares().with_columns(
        doubt=pl.Series([0.05, 0.9, 0.7, None, None, None], dtype=pl.Float64),
        suggested=pl.Series([None, "generated", "generated", None, None, None], dtype=pl.String),
    )
    said = scores({"a": 0.1, "b": 0.2, "c": 0.9, "d": 0.9, "e": 0.8})  # nothing of f
    found = {row["image"]: row for row in with_second_looks(before, said).to_dicts()}
    assert (found["b"]["doubt"], found["b"]["doubted_by"]) == (0.9, "people")  # the scorer believes it
    assert (found["c"]["doubt"], found["c"]["doubted_by"]) == (0.9, f"people, {SCORER}")
    assert found["a"]["doubt"] == pytest.approx(0.1)
    assert found["f"]["doubt"] is None


def test_preferences_by_differences() -> None:
    rows = [{"image": f"i{n}", "other": f"j{n}", "choice": "image" if n % 2 else "other"} for n in range(6)]
    votes = labels(*({"method": "preference", "aspect": "preference"} | row for row in rows))
    lead = [-2.0, 2.0, -1.5, 1.5, 3.0, -3.0]  # the last two go against the labels
    said = scores(
        {f"i{n}": lead[n] + 10 for n in range(6)} | {f"j{n}": 10.0 for n in range(6)}, aspect="preference"
    )
    found = with_second_looks(votes, said).sort("image")
    assert found["suggested"].to_list() == [None, None, None, None, "image", "other"]
    assert found["doubt"].to_list() == pytest.approx([1 / (1 + np.exp(x)) for x in (2, 2, 1.5, 1.5, -3, -3)])


def test_scores_that_are_no_chances_are_left_alone() -> None:
    said = scores({"a": 1.5, "b": -3.0, "c": 4.0, "d": 9.0})
    assert with_second_looks(shares(), said)["doubt"].null_count() == 6
    # a little beyond 0 and 1 is a prediction that went too far
    near = scores({"a": -0.05, "b": 0.1, "c": 1.1, "d": 0.9, "e": 0.8})
    found = with_second_looks(shares(), near)
    assert found["doubt"].to_list() == pytest.approx([0, 0.1, 1, 0.1, 0.2, None])
    assert found["suggested"].to_list() == [None, None, "generated", None, None, None]


def test_ties_and_images_without_a_label_are_not_listed() -> None:
    rows = labels(
        {"image": "a", "choice": None}, {"image": "b", "choice": "real"}, {"image": "c", "choice": "real"}
    )
    found = with_second_looks(rows, scores({"a": 0.9, "b": 0.1, "c": 0.2}))
    assert found["doubt"].to_list() == [None, pytest.approx(0.1), pytest.approx(0.2)]
