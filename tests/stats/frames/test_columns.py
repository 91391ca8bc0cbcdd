"""Columns of data frames of any library, and all that can be wrong with them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.errors import FrameError, StatisticsError
from beholder.stats.frames.columns import Columns, code_labels, read_columns

VOTES = {"rater": ["b", "a", "b"], "score": [1, 2, 3], "tie": [True, False, True]}
FRAMES = {
    "polars": pl.DataFrame(VOTES),
    "pandas": pd.DataFrame(VOTES),
    "pyarrow": pa.table(VOTES),
    "polars lazy": pl.LazyFrame(VOTES),
    "dictionary": VOTES,
    "pandas categories": pd.DataFrame(VOTES).astype({"rater": "category", "score": "Int64", "tie": "boolean"}),
    "pandas objects": pd.DataFrame(VOTES).astype(object),
    "polars enum": pl.DataFrame(VOTES).cast({"rater": pl.Categorical, "score": pl.Int8}),
    "arrow dictionary": pa.table(VOTES | {"rater": pa.array(VOTES["rater"]).dictionary_encode()}),
}


def read(frame: object, **names: str | None) -> Columns:
    return read_columns(
        frame,
        labels={"rater": names.get("rater", "rater")},
        numbers={"score": names.get("score", "score")},
        flags={"tie": names.get("tie", "tie")},
    )


@pytest.mark.parametrize("frame", FRAMES.values(), ids=list(FRAMES))
def test_every_library_gives_the_same_columns(frame: object) -> None:
    columns = read(frame)
    assert columns.labels["rater"] == ["b", "a", "b"]
    assert columns.numbers["score"].tolist() == [1.0, 2.0, 3.0]
    assert columns.flags["tie"].tolist() == [True, False, True]
    assert columns.rows == 3


@pytest.mark.parametrize(
    ("frame", "library"),
    [
        ("polars", "polars"),
        ("pandas", "pandas"),
        ("pyarrow", "pyarrow"),
        ("polars lazy", "polars"),
        ("dictionary", "polars"),
    ],
)
def test_the_library_is_remembered(frame: str, library: str) -> None:
    assert read(FRAMES[frame]).backend == library


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_all_faults_are_listed_at_once(library: type) -> None:
    frame = library({"rater": ["a", None, None], "score": ["good", "bad", "good"], "Ties": [0, 2, 1]})
    with pytest.raises(FrameError) as caught:
        read(frame, tie="tie")
    assert str(caught.value).splitlines() == [
        "data frame: 3 faults",
        "  - column 'rater' (rater=) has 2 nulls, the first in row 1; drop or fill them",
        "  - column 'score' (score=) holds text such as 'good', not numbers",
        "  - no column 'tie' (tie=); did you mean 'Ties'?",
        "its columns: rater, score, Ties",
    ]
    with pytest.raises(FrameError, match=r"column 'Ties' \(tie=\) holds 2, not only true and false"):
        read(frame, tie="Ties")


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame, pa.table])
def test_nulls_and_infinities_of_numbers_are_faults(library: type) -> None:
    frame = library({"x": [1.0, None, float("inf")]})
    with pytest.raises(FrameError) as caught:
        read_columns(frame, numbers={"score": "x"})
    assert "has 1 null, the first in row 1" in str(caught.value)
    assert "has 1 infinite numbers" in str(caught.value)
    nullable = read_columns(library({"x": [1, None]}), numbers={"score": "x"}, nullable=frozenset({"score"}))
    assert np.array_equal(nullable.numbers["score"], [1.0, np.nan], equal_nan=True)


def test_an_empty_frame_is_a_fault() -> None:
    with pytest.raises(FrameError, match="no rows"):
        read_columns({"x": []}, labels={"rater": "x"})


def test_a_hint_says_what_else_can_be_done() -> None:
    with pytest.raises(FrameError, match=r"no column 'rater' \(rater=\); or rater=None"):
        read_columns({"x": [1]}, labels={"rater": "rater"}, hints={"rater": "or rater=None"})


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(StatisticsError, match=r"expected a data frame .* found list"):
        read_columns([1, 2], labels={"rater": "rater"})


def test_labels_of_several_types_are_refused() -> None:
    with pytest.raises(StatisticsError, match="found int, str; cast them to text"):
        code_labels([1, "a"])


@given(st.lists(st.text(max_size=3), min_size=1), st.lists(st.text(max_size=3), min_size=1))
def test_codes_lead_back_to_the_labels(first: list[str], second: list[str]) -> None:
    names, (codes, others) = code_labels(first, second)
    assert [names[code] for code in codes] == first
    assert [names[code] for code in others] == second
    assert names == sorted(set(first + second))
