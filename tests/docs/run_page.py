"""Run the steps of a page as a reader would, in one folder and one session, and compare what they print.

``make pages`` (``test_page_outputs.py`` with ``WRITE_PAGES=1``) writes what the steps print now into the pages.
"""

import ast
import contextlib
import io
import os
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

from tests.docs.blocks import RUN, Block, Step, blocks, python_output, steps, steps_of
from tests.docs.workspace import SHARED

from beholder.cli.main import main as beholder

ELIDED = "…"
MASKED = (
    (re.compile(r"\b\d[\d,]*(\.\d+)? (s|ms|min|MB)\b"), r"# \2"),
    (re.compile(r"\(\d[\d,]* a second\)"), "(# a second)"),
    (re.compile(r"\b20\d\d-\d\d-\d\d( \d\d:\d\d:\d\d UTC)?"), "DATE"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"^(password: ).*"), r"\1#"),
    (re.compile(r"\btoken=[\w-]+"), "token=#"),
)
"""What differs from run to run: durations, rates, sizes, dates, receipts, passwords."""
NETWORKS = frozenset({"learn", "score", "measure", "evaluate", "explain", "distance"})
"""Commands of networks, whose figures differ between processors."""
PROGRESS = re.compile(r"^\S.*: ([\d,]+ of [\d,]+(, about .* left)?|\d+ s so far)$")
"""What is printed every ten seconds off a terminal."""
FIGURE = re.compile(r"[-−]?\d*\.\d+")
FAULT = 2


class Session:
    """A reader's terminal and notebook: commands and Python blocks, one after the other, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "page"}

    def run(self, step: Step) -> list[str]:
        """Run a step and return the lines that it prints; a failure that the page does not show is an error."""
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
            patch.dict(os.environ, COLUMNS="120"),
        ):
            warnings.simplefilter("default")
            code = self._python(step.typed) if step.language == "python" else beholder(step.arguments)
        text = printed.buffer.getvalue().decode()
        text = text.replace(f"{self.folder}/", "")
        expected = FAULT if any(line.startswith("error:") for line in step.page_output) else 0
        if code != expected:
            message = f"exit code {code} of: {step.typed}\n{text}"
            raise AssertionError(message)
        lines = [line.rstrip() for line in text.strip("\n").splitlines()]
        return [line for line in lines if not PROGRESS.match(line)]

    def _python(self, source: str) -> int:
        """Run a block as a notebook runs a cell: the value of a last expression is shown."""
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "page", "exec"), self.names)
        if isinstance(last, ast.Expr):
            displayed = eval(compile(ast.Expression(last.value), "page", "eval"), self.names)
            if displayed is not None:
                print(displayed)
        return 0


def agrees(step: Step, printed: Sequence[str]) -> bool:
    """Whether the page shows what was printed.

    Durations may differ, figures of networks too, and lines that the page elides with an ellipsis. The output of a
    Python block may be left out of the page.
    """
    if step.language == "python" and not step.page_output:
        return True
    by_network = step.language == "console" and bool(NETWORKS & set(step.typed.split()))
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == ELIDED else re.escape(_masked(line, by_network=by_network)) + "\n"
        for line in step.page_output
    )
    text = "".join(f"{_masked(line, by_network=by_network)}\n" for line in printed)
    return re.fullmatch(pattern, text) is not None


def _masked(line: str, *, by_network: bool) -> str:
    for pattern, replacement in MASKED:
        line = pattern.sub(replacement, line)
    if by_network:
        line = FIGURE.sub("#", line)
    return re.sub(r"[\s─]+", " ", line.rstrip())


def differences(page: str, folder: Path) -> list[str]:
    """Run a page in a folder, and describe every step that prints something other than what the page shows."""
    session, different = Session(folder), []
    for step in steps(page):
        if step.needs and not (SHARED / step.needs).is_dir():
            continue
        printed = session.run(step)
        if not agrees(step, printed):
            different.append("\n".join([step.typed, *printed]))
    return different


def rewritten(page: str, folder: Path) -> str:
    """Run a page in a folder, and return it with what its steps print now, where that differs."""
    session = Session(folder)
    changes: list[tuple[tuple[int, int], str]] = []
    for block in blocks(page):
        if block.language not in RUN or block.mark not in ("", "needs"):
            continue
        if block.mark and not (SHARED / block.reason).is_dir():
            continue
        changes += _changes(block, page, session)
    for (start, end), text in reversed(changes):
        page = page[:start] + text + page[end:]
    return page


def _changes(block: Block, page: str, session: Session) -> list[tuple[tuple[int, int], str]]:
    ran = [(step, session.run(step)) for step in steps_of(block, page)]
    if all(agrees(step, printed) and bool(step.page_output) == bool(printed) for step, printed in ran):
        return []
    if block.language == "console":
        parts = [
            "\n".join([f"$ {step.typed}", *(step.page_output if agrees(step, printed) else printed)]) + "\n"
            for step, printed in ran
        ]
        return [(block.span, "\n".join(parts))]
    output = python_output(block, page)
    return [(output.span("body"), "\n".join(ran[0][1]) + "\n")] if output else []
