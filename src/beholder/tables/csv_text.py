"""Texts in CSV files that a spreadsheet would take for formulas: written behind an apostrophe, and read back.

A spreadsheet runs a cell that begins with ``= + - @``, a tab or a carriage return. Such a text is written with an
apostrophe before it; so is one that begins with apostrophes and then one of these, since it could not be
recognised when it is read back. Numbers are left as they are: a column of numbers holds no text.
"""

import re

import polars as pl

STARTS = "=+-@\t\r"
RISKY = r"^'*[=+\-@\t\r]"
ESCAPED = r"^'+[=+\-@\t\r]"
NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-](inf|nan)"


def escape(text: str) -> str:
    """The text as it may stand in a cell."""
    return f"'{text}" if text.lstrip("'").startswith(tuple(STARTS)) else text


def unescape(text: str) -> str:
    """The text that ``escape`` was given."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(tuple(STARTS)) else text


def escape_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with all columns of text escaped."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(text.str.contains(RISKY)).then("'" + text).otherwise(text).name.keep())


def unescape_texts(frame: pl.DataFrame) -> pl.DataFrame:
    """What ``escape_texts`` was given."""
    text = pl.col(pl.String)
    return frame.with_columns(
        pl.when(text.str.contains(ESCAPED)).then(text.str.slice(1)).otherwise(text).name.keep()
    )


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet would take the cell for a formula; a number with a sign is none."""
    return cell.startswith(tuple(STARTS)) and re.fullmatch(NUMBER, cell) is None
