"""The blocks of a page that can be run, as steps in the order of the page.

``console`` blocks hold lines ``$ beholder …`` and below each what it prints; a ``python`` block may have a
``text`` block directly after it with what it prints. A comment before a block says why it is not run, or
what it needs::

    <!-- not run: serves until Ctrl-C; tests/collect/server/test_serve.py -->
    <!-- needs: agiqa-3k -->
    <!-- output of: benchmarks/verdicts.py -->

A comment anywhere on the page, ``<!-- starts with: my-study -->``, says which prepared folders the page assumes
(``workspace.py``).
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]

FENCE = re.compile(
    r"(?:^<!-- (?P<mark>not run|needs|output of): (?P<reason>[^\n]+) -->\n+)?"
    r"^```(?P<language>[^\n]*)\n(?P<body>.*?)^```[ ]*$\n?",
    re.M | re.S,
)
OUTPUT = re.compile(r"\n*^```text\n(?P<body>.*?)^```[ ]*$\n?", re.M | re.S)
STARTS = re.compile(r"^<!-- starts with: (?P<names>[^\n]+) -->$", re.M)
RUN = ("console", "python")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, and the comment before it."""

    language: str
    body: str
    mark: str
    """``not run``, ``needs``, ``output of``, or empty."""
    reason: str
    span: tuple[int, int]
    """Of the body, within the page."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command or a Python block, and the lines that the page shows below it."""

    language: Literal["console", "python"]
    typed: str
    page_output: tuple[str, ...]
    needs: str = ""
    """A set of the shared data, without which the step is left out."""

    @property
    def arguments(self) -> list[str]:
        """What follows ``beholder`` on the command line."""
        return shlex.split(self.typed.replace("\\\n", " "))[1:]


def page_files() -> list[Path]:
    """All pages of the project: the README, its neighbours, and those of the site."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: str) -> list[Block]:
    """All fenced blocks of a page."""
    return [
        Block(match["language"], match["body"], match["mark"] or "", match["reason"] or "", match.span("body"))
        for match in FENCE.finditer(page)
    ]


def starts_with(page: str) -> list[str]:
    """The prepared folders that a page assumes."""
    match = STARTS.search(page)
    return [name.strip() for name in match["names"].split(",")] if match else []


def steps(page: str) -> list[Step]:
    """What is run of a page, in order; blocks that are marked as not run are left out."""
    return [
        step
        for block in blocks(page)
        if block.language in RUN and block.mark in ("", "needs")
        for step in steps_of(block, page)
    ]


def steps_of(block: Block, page: str) -> Iterator[Step]:
    """The steps of one block."""
    if block.language == "python":
        output = python_output(block, page)
        lines = tuple(output["body"].splitlines()) if output else ()
        yield Step("python", block.body, lines, block.reason)
        return
    for part in re.split(r"^\$ ", block.body, flags=re.M)[1:]:
        match = re.match(r"(?P<typed>(?:[^\n]*\\\n)*[^\n]*)\n?(?P<output>.*)", part, re.S)
        if match is None or not match["typed"].startswith("beholder "):
            message = f"only beholder is run: mark the block with '<!-- not run: reason -->': {part}"
            raise ValueError(message)
        yield Step("console", match["typed"], tuple(match["output"].rstrip("\n").splitlines()), block.reason)


def python_output(block: Block, page: str) -> re.Match[str] | None:
    """The ``text`` block directly after a ``python`` block."""
    end = page.index("```", block.span[1]) + len("```\n")
    return OUTPUT.match(page, end)
