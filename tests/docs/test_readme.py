"""The README answers what a newcomer asks first; its commands are run by ``test_page_outputs.py``."""

import re
from pathlib import Path

import pytest

from beholder.study.protocols.catalogue import PROTOCOLS

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


def test_every_protocol_has_its_first_command() -> None:
    commands = re.findall(r"^\|.*\| `beholder new (\S+) FOLDER (--generated [^`]+)`", README, re.M)
    assert {name: "--real DIR" in options for name, options in commands} == {
        name: protocol.needs_real for name, protocol in PROTOCOLS.items()
    }


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= LINES
