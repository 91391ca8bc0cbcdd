"""Likely label errors from raters' answers and from trained models, combined."""

import polars as pl
import pytest

from beholder.report.tables.label_errors import with_model_doubts
from beholder.tables.catalogue import TABLES

COMMON = {"question": "q", "aspect": "realism", "method": "share"}


def labels(**doubts: tuple[float | None, str | None]) -> pl.DataFrame:
    return TABLES["labels"].frame(
        [
            COMMON | {"image": image, "value": 0.5, "answers": 9, "raters": 9, "doubt": doubt, "suggested": other}
            for image, (doubt, other) in doubts.items()
        ]
    )


def errors(model: str, **doubts: tuple[float, str | None]) -> pl.DataFrame:
    return TABLES["label_errors"].frame(
        [
            COMMON | {"model": model, "image": image, "doubt": doubt, "suggested": other}
            for image, (doubt, other) in doubts.items()
        ]
    )


def test_raters_come_before_models_and_everyone_who_suggests_is_named() -> None:
    before = labels(
        a=(0.05, None), b=(0.9, "generated"), c=(0.7, "generated"), d=(None, None), e=(None, None), f=(None, None)
    )
    both = pl.concat(
        [
            errors("tower", a=(0.1, None), b=(0.2, None), c=(0.9, "generated"), d=(0.6, "generated")),
            errors("arch", d=(0.8, "generated"), e=(0.3, None)),
        ]
    )
    rows = {row["image"]: row for row in with_model_doubts(before.lazy(), both).collect().to_dicts()}
    assert (rows["a"]["doubt"], rows["a"]["doubted_by"]) == (0.05, None)
    assert (rows["b"]["doubt"], rows["b"]["doubted_by"]) == (0.9, "raters")  # the model believes it
    assert (rows["c"]["doubt"], rows["c"]["doubted_by"]) == (0.7, "raters, tower/out-of-fold")
    assert (rows["d"]["doubt"], rows["d"]["suggested"]) == (pytest.approx(0.8), "generated")
    assert rows["d"]["doubted_by"] == "arch/out-of-fold, tower/out-of-fold"
    assert (rows["e"]["doubt"], rows["e"]["suggested"], rows["e"]["doubted_by"]) == (None, None, None)
    assert rows["f"]["doubt"] is None


def test_a_pair_is_found_by_both_images() -> None:
    votes = labels(a=(None, None)).with_columns(other=pl.lit("b"), method=pl.lit("preference"))
    of_another = errors("tower", a=(0.9, "other")).with_columns(other=pl.lit("c"), method=pl.lit("preference"))
    assert with_model_doubts(votes.lazy(), of_another).collect()["doubt"].to_list() == [None]
    of_it = of_another.with_columns(other=pl.lit("b"))
    assert with_model_doubts(votes.lazy(), of_it).collect()["doubted_by"].to_list() == ["tower/out-of-fold"]


def test_without_models_the_labels_stay_as_they_are() -> None:
    before = labels(a=(0.9, "generated"), b=(0.1, None))
    after = with_model_doubts(before.lazy(), TABLES["label_errors"].empty()).collect()
    assert after["doubted_by"].to_list() == ["raters", None]
    assert after.drop("doubted_by").equals(before)
