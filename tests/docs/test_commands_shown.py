"""Command lines in the pages can be typed: the command is there, and so is each of its options."""

import re
import shlex
from pathlib import Path

import click
import pytest

from beholder.cli.main import COMMANDS, load_command

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
TARGET = re.compile(r"^([a-z]+):", re.M)


def shown_lines() -> list[tuple[str, str]]:
    """Page and line of every ``$ …`` in a console block, lines that end in a backslash joined."""
    lines: list[tuple[str, str]] = []
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            joined = block.replace("\\\n", " ")
            lines += [
                (page.relative_to(ROOT).as_posix(), line[2:])
                for line in joined.splitlines()
                if line.startswith("$ ")
            ]
    return lines


LINES = shown_lines()
OURS = [(page, line) for page, line in LINES if line.startswith("beholder ")]


def test_there_are_lines_to_check() -> None:
    assert len(OURS) > 10


@pytest.mark.parametrize(("page", "line"), OURS)
def test_the_line_can_be_typed(page: str, line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    assert name in COMMANDS, f"{page}: no command '{name}'"
    command = load_command(COMMANDS[name][0])
    try:
        command.make_context(name, list(arguments))
    except click.ClickException as error:
        pytest.fail(f"{page}: {line}: {error.format_message()}")


@pytest.mark.parametrize(("page", "line"), [(p, x) for p, x in LINES if x.startswith("make ")])
def test_the_target_can_be_made(page: str, line: str) -> None:
    targets = TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(shlex.split(line)[1:]) <= set(targets), page
