"""Command lines in the pages can be typed: the command is there, and so is each of its options."""

import re
import shlex
from pathlib import Path

import click
import pytest

from beholder.cli.main import COMMANDS, load_command

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
INLINE = re.compile(r"`beholder\s+(?P<name>[a-z]+)\b(?P<rest>[^`]*)`")
BLOCK = re.compile(r"^```.*?^```", re.M | re.S)
OPTION = re.compile(r"(?<!\S)--?[a-z][a-z-]*")
NOT_THERE = {("docs/how-to/extend.md", "raters")}
"""A command that the page adds as an example."""
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_within_sentences_and_tables_are_there(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    faults = []
    for match in INLINE.finditer(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        if match["name"] not in COMMANDS:
            faults += [] if (name, match["name"]) in NOT_THERE else [match[0]]
            continue
        known = options_of(load_command(COMMANDS[match["name"]][0]))
        faults += [f"{match[0]}: {option}" for option in OPTION.findall(match["rest"]) if option not in known]
    assert not faults


def options_of(command: click.Command) -> set[str]:
    """All options of a command, and of those below it."""
    below: list[click.Command | None] = []
    if isinstance(command, click.Group):
        context = click.Context(command)
        below = [command.get_command(context, name) for name in command.list_commands(context)]
    own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return {"--help", *own, *(option for each in below if each is not None for option in options_of(each))}


@pytest.mark.parametrize(("page", "line"), [(p, x) for p, x in LINES if x.startswith("make ")])
def test_the_target_can_be_made(page: str, line: str) -> None:
    targets = TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(shlex.split(line)[1:]) <= set(targets), page
