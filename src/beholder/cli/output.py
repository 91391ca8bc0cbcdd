"""What commands print: aligned tables for readers, JSON for programs; both to stdout."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

WIDE = 160
"""Columns where stdout is no terminal: a pipe has no width of its own."""


def show_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table without lines; long cells are folded to the width of the terminal.

    A long one is printed in parts with columns of equal widths, so that rows may be built as they are looked at.
    """
    width = None if sys.stdout.isatty() else WIDE
    console = Console(width=width, markup=False, highlight=False, emoji=False)
    if len(rows) <= A_PART:
        console.print(_table(heads, rows))
        return
    widths = [max(map(cell_len, head.splitlines())) for head in heads]
    for row in rows:
        widths = list(map(max, widths, map(cell_len, row)))
    for start in range(0, len(rows), A_PART):
        part = _table(heads, rows[start : start + A_PART])
        part.show_header = start == 0
        if sum(widths) + GAP * len(widths) <= console.width:
            for column, cells in zip(part.columns, widths, strict=True):
                column.min_width = cells
        console.print(part)


A_PART = 1_000
"""Rows that are laid out at a time."""
GAP = 2


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for head in heads:
        table.add_column(head, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def show_json(content: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))


def show_json_with_rows(content: Mapping[str, object], key: str, rows: Iterable[Mapping[str, object]]) -> None:
    """Print one JSON document as :func:`show_json` does, whose rows are never held all at once.

    Args:
        content: The document, with an empty list in place of the rows.
        key: Of that list.
        rows: What is in it.
    """
    before, after = json.dumps({**content, key: ROWS}, ensure_ascii=False, indent=2).split(json.dumps(ROWS))
    texts = (json.dumps(row, ensure_ascii=False, indent=2).replace("\n", INSIDE) for row in rows)
    click.echo(f"{before}[", nl=False)
    separator = INSIDE
    while part := list(islice(texts, AT_A_TIME)):
        click.echo(separator + f",{INSIDE}".join(part), nl=False)
        separator = f",{INSIDE}"
    click.echo(f"{'' if separator == INSIDE else OUTSIDE}]{after}")


INSIDE, OUTSIDE = "\n    ", "\n  "
"""Between rows, and after the last."""
AT_A_TIME = 1_000
ROWS = "\x00 rows \x00"
"""Where the rows go; no text that a user gives has such characters."""
