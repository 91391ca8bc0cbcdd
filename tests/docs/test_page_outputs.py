"""The pages are true: their commands and Python blocks run one after the other, and print what the pages show.

``make pages`` runs this file with ``WRITE_PAGES=1``, which writes what is printed now into the pages.
"""

import doctest
import os
import re
import tomllib
from pathlib import Path

import pytest
from tests.conftest import MakeOnce
from tests.docs.blocks import ROOT, RUN, Step, blocks, page_files, starts_with, steps
from tests.docs.run_page import agrees, differences, rewritten
from tests.docs.workspace import open_workspace, prepare_all

WRITE = os.environ.get("WRITE_PAGES") == "1"
BENCHMARK = re.compile(r"(?:[A-Z_]+=\S+ )?python (benchmarks/\w+\.py)\b.*")
PLACE = re.compile(r"\b(?:tests|benchmarks|examples|\.ci)/[\w./-]+")
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in page_files()}
PAGES_WITH_STEPS = [name for name, page in PAGES.items() if steps(page)]


@pytest.fixture(scope="session")
def prepared(make_once: MakeOnce) -> Path:
    return make_once("prepared", prepare_all)


@pytest.mark.parametrize("name", PAGES_WITH_STEPS)
def test_the_page_shows_what_is_printed(name: str, prepared: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    page = PAGES[name]
    open_workspace(prepared, starts_with(page), tmp_path)
    if WRITE:
        (ROOT / name).write_text(rewritten(page, tmp_path), encoding="utf-8")
    else:
        assert "\n\n".join(differences(page, tmp_path)) == "", "run: make pages"


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if "```pycon\n" in page])
def test_examples_print_what_the_page_shows(name: str) -> None:
    examples = "\n".join(block.body for block in blocks(PAGES[name]) if block.language == "pycon")
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(examples, {}, name, name, 0))
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if blocks(page)])
def test_every_block_is_run_or_says_why_not(name: str) -> None:
    for block in blocks(PAGES[name]):
        if block.language.startswith(("{", "pycon")) or (block.language in RUN and block.mark in ("", "needs")):
            continue
        if block.language == "toml":
            tomllib.loads(block.body)
        elif not block.language and (commands := [BENCHMARK.fullmatch(line) for line in block.body.splitlines()]):
            assert all(command and (ROOT / command[1]).is_file() for command in commands), block.body
        elif block.language == "text" and f"```\n\n```text\n{block.body}" in PAGES[name]:
            continue  # what the Python block before it prints
        else:
            assert block.mark in ("not run", "output of"), f"a block is neither run nor marked: {block.body}"
            if block.mark == "output of":
                assert PLACE.search(block.reason), f"no test or benchmark is named: {block.reason}"
        for place in PLACE.findall(block.reason):
            assert (ROOT / place).exists(), f"there is no {place}"


@pytest.mark.parametrize(
    ("typed", "page_output", "printed", "expected"),
    [
        ("beholder rank", ["rank: 3 ratings in 0.1 s"], ["rank: 3 ratings in 12.5 s"], True),
        ("beholder rank", ["rank: 3 ratings in 0.1 s"], ["rank: 4 ratings in 0.1 s"], False),
        ("beholder rank", ["+0.12"], ["+0.13"], False),
        ("beholder learn", ["+0.12"], ["+0.13"], True),
        ("beholder rank", ["first", "…", "last"], ["first", "second", "third", "last"], True),
        ("beholder rank", ["first", "…"], ["second"], False),
        ("beholder rank", [], ["something"], False),
    ],
)
def test_only_durations_and_elided_lines_may_differ(
    typed: str, page_output: list[str], printed: list[str], expected: bool
) -> None:
    assert agrees(Step("console", typed, tuple(page_output)), printed) is expected
