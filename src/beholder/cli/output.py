"""What commands print: aligned tables for readers, JSON for programs; both to stdout."""

import json
import sys
from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

WIDE = 160
"""Columns where stdout is no terminal: a pipe has no width of its own."""


def show_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table without lines; long cells are folded to the width of the terminal."""
    table = Table(*heads, box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else WIDE
    Console(width=width, markup=False, highlight=False, emoji=False).print(table)


def show_json(content: object) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, ensure_ascii=False, indent=2))
