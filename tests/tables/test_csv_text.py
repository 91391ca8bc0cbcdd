"""Texts that a spreadsheet would run: escaped, and read back as they were."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.tables.csv_text import escape, escape_texts, is_formula, unescape, unescape_texts

TEXTS = st.text(st.sampled_from("=+-@\t\r'a1 é\n\","), max_size=6)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ('=HYPERLINK("http://evil.example")', '\'=HYPERLINK("http://evil.example")'),
        ("+1", "'+1"),
        ("-40 degrees", "'-40 degrees"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("'=1", "''=1"),  # or it would be read back as =1
        ("'tis a cat", "'tis a cat"),
        ("a=b", "a=b"),
        ("", ""),
    ],
)
def test_by_hand(text: str, cell: str) -> None:
    assert escape(text) == cell
    assert unescape(cell) == text


@given(TEXTS)
def test_reading_back_gives_the_same(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not escape(text).startswith(tuple("=+-@\t\r"))


@given(st.lists(st.none() | TEXTS, min_size=1, max_size=5))
def test_a_frame_is_treated_like_its_texts(texts: list[str | None]) -> None:
    frame = pl.DataFrame(
        {"text": texts, "value": [-1.5] * len(texts)}, schema={"text": pl.String, "value": pl.Float64}
    )
    escaped = escape_texts(frame)
    assert escaped["text"].to_list() == [None if text is None else escape(text) for text in texts]
    assert escaped["value"].to_list() == frame["value"].to_list()
    assert unescape_texts(escaped).equals(frame)


@pytest.mark.parametrize("cell", ["=1", "-", "-a", "-1+1", "@x", "+cmd|' /C calc'!A0", "-1\n=2", "\t1"])
def test_formulas(cell: str) -> None:
    assert is_formula(cell)


@pytest.mark.parametrize("cell", ["", "a", "1", "-1", "-0.25", "+.5e-3", "-inf", "'=1"])
def test_no_formulas(cell: str) -> None:
    assert not is_formula(cell)
