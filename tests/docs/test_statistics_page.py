"""The page on statistics names every function on frames; its examples are run by ``test_page_outputs.py``."""

from pathlib import Path

import pytest

from beholder.stats import frames

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "statistics.md"
FUNCTIONS = sorted(name for name in vars(frames)["__all__"] if name.islower())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_page_names_every_function(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")
