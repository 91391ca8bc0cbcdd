"""The README answers what a newcomer asks first; its commands are run by ``test_page_outputs.py``."""

from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
LINES = 320


@pytest.mark.parametrize(
    "answer",
    [
        "human-grounded evaluation system for generated images",
        "It is for researchers and teams",
        "## Install",
        "## A study of your own images",
        "## A ranking with confidence intervals",
        "## Compare two folders",
        "## Train a scorer",
        "## What it does not do",
        "## How it compares",
        "## Where to go next",
    ],
)
def test_the_readme_answers(answer: str) -> None:
    assert answer in README


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= LINES
