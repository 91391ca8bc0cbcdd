"""The page on statistics: its examples print what it shows, and it names every function on frames."""

import doctest
import re
from pathlib import Path

import pytest

from beholder.stats import frames

PAGES = ("statistics.md", "agreement.md", "inference.md")
DOCS = Path(__file__).parents[2] / "docs"
FUNCTIONS = sorted(name for name in vars(frames)["__all__"] if name.islower())


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_is_shown(page: str) -> None:
    blocks = re.findall(r"```pycon\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    runner.run(parser.get_doctest("\n".join(blocks), {}, page, page, 0))
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_page_names_every_function(name: str) -> None:
    assert f"`{name}`" in (DOCS / "statistics.md").read_text(encoding="utf-8")
