"""Texts in other people's formats that a spreadsheet would run: written as they are, and named in a note.

The programs of a format's owners compare names and prompts letter by letter, so nothing is put before them.
In our own CSV files such texts are escaped.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

from beholder.tables.csv_text import is_formula


def formula_notes(files: Iterable[Path]) -> tuple[str, ...]:
    """A note for each CSV file with such texts."""
    notes = []
    for path in (file for file in files if file.suffix == ".csv"):
        with path.open(encoding="utf-8", newline="") as file:
            count = sum(is_formula(cell) for row in csv.reader(file) for cell in row)
        if count:
            notes.append(
                f"{path.name}: a spreadsheet would take {count:,} text{'s' if count > 1 else ''} for formulas, "
                "since this format has them as they are; open the format csv there instead"
            )
    return tuple(notes)
