"""Console and Python blocks of a page, run as a reader would: in order, in one folder; and their output compared.

``python tests/docs/consoles.py README.md`` writes the output that the commands give now into the page.
"""

import csv
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from beholder.simulate.grammar import draw_requests
from beholder.simulate.painter import paint
from beholder.simulate.world import GENERATORS

ROOT = Path(__file__).parents[2]
PROMPTS = 20
ELIDED = "…"
BLOCK = re.compile(
    r"(?P<note><!-- not run: [^\n]+ -->\n)?^```(?P<language>console|python)\n(?P<body>.*?)^```\n", re.M | re.S
)
MEASURED = (
    (re.compile(r"\b\d[\d,]*(\.\d+)? (s|ms|min|MB)\b"), r"# \2"),
    (re.compile(r"\(\d[\d,]* a second\)"), "(# a second)"),
)
"""What differs from run to run: durations, rates and sizes."""
TRAINING = frozenset({"learn", "score", "measure", "evaluate", "explain"})
"""Commands of networks, whose figures differ between processors."""
PROGRESS = re.compile(r"^\S.*: ([\d,]+ of [\d,]+(, about .* left)?|[\d,]+ s so far)$")
"""What is printed every ten seconds off a terminal."""
FIGURE = re.compile(r"-?\d*\.\d+")


@dataclass(frozen=True, slots=True)
class Step:
    """A command or a piece of Python, and the lines that the page shows below it."""

    command: list[str]
    typed: str
    page_output: list[str]


def prepare(folder: Path) -> None:
    """Put there what the pages assume: ``pictures/``, with images and prompts of four generators."""
    requests = draw_requests(PROMPTS, np.random.default_rng(0))
    policies = {policy.name: policy for policy in GENERATORS}
    for which, name in enumerate(("aurora", "cirrus", "ember", "real")):
        target = folder / "pictures" / name
        target.mkdir(parents=True)
        with (target / "prompts.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["file", "prompt", "style"])
            for number, request in enumerate(requests):
                policy = policies.get(name, GENERATORS[0])
                picture = paint(request, policy, size=128, rng=np.random.default_rng([1, which, number]))
                Image.fromarray(picture.pixels).save(target / f"{number:03d}.png")
                rows.writerow([f"{number:03d}.png", picture.prompt, request.style])


def steps(page: str) -> Iterator[Step]:
    """The steps of a page in order; blocks that are marked as not run are left out."""
    for block in BLOCK.finditer(page):
        if not block["note"]:
            yield from _steps_of(block["language"], block["body"])


def _steps_of(language: str, body: str) -> Iterator[Step]:
    if language == "python":
        yield Step([sys.executable, "-c", body], body, [])
        return
    for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
        typed, _, output = part.replace("\\\n", " ").partition("\n")
        program, *arguments = shlex.split(typed)
        if program != "beholder":
            message = f"only beholder is run: mark the block with '<!-- not run: reason -->': {typed}"
            raise ValueError(message)
        yield Step([sys.executable, "-m", "beholder", *arguments], typed, output.rstrip("\n").splitlines())


def run(step: Step, folder: Path) -> list[str]:
    """Run a step in the folder and return what it prints; a failure is an error."""
    environment = {**os.environ, "COLUMNS": "120", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        step.command,
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode:
        message = f"exit code {done.returncode} of: {step.typed}\n{done.stdout}"
        raise AssertionError(message)
    lines = [line.rstrip() for line in done.stdout.strip("\n").splitlines()]
    return [line for line in lines if not PROGRESS.match(line)]


def agrees(step: Step, printed: list[str]) -> bool:
    """Whether the page shows what was printed.

    Durations may differ, figures of trained networks too, and lines that the page elides with an ellipsis.
    """
    by_network = step.typed.split()[1] in TRAINING
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line.strip() == ELIDED else re.escape(_masked(line, by_network=by_network)) + "\n"
        for line in step.page_output
    )
    return (
        re.fullmatch(pattern, "".join(f"{_masked(line, by_network=by_network)}\n" for line in printed)) is not None
    )


def _masked(line: str, *, by_network: bool) -> str:
    for pattern, replacement in MEASURED:
        line = pattern.sub(replacement, line)
    if by_network:
        line = FIGURE.sub("#", line)
    return re.sub(r"\s+", " ", line.rstrip())


def rewrite(path: Path) -> None:
    """Write into a page what its commands print now, where it differs."""
    page = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        for block in list(BLOCK.finditer(page)):
            if block["note"] or block["language"] == "python":
                continue
            written = []
            for step in _steps_of("console", block["body"]):
                printed = run(step, Path(name))
                lines = step.page_output if step.page_output and agrees(step, printed) else printed
                written.append("\n".join([f"$ {step.typed}", *lines]) + "\n")
            page = page.replace(block["body"], "\n".join(written), 1)
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        rewrite(Path(argument))
