"""The README answers what a newcomer asks first; its commands are run by ``test_page_outputs.py``."""

import re
import tomllib
from collections.abc import Collection
from pathlib import Path

import pytest

from beholder.distances.catalogue import DISTANCES
from beholder.formats.catalogue import WRITABLE
from beholder.models.encoders.catalogue import ENCODERS
from beholder.prompts.sets.catalogue import PROMPT_SETS
from beholder.study.kinds.catalogue import KINDS
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.question import Screening

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = 320
COUNTED = {
    "fifteen": 15,
    "24": 24,
    "eleven": 11,
    "11": 11,
    "twelve": 12,
    "ten": 10,
    "10": 10,
    "nine": 9,
    "eight": 8,
}


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


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        ("fifteen [distances]", DISTANCES),
        ("24 [encoders]", ENCODERS),
        ("eleven export formats", WRITABLE),
        ("| exports | 11 formats |", WRITABLE),
        ("| kinds of questions | 10, for images |", KINDS),
        ("Prompts from twelve published sets", PROMPT_SETS),
        ("ten rules, from response time to ITU-R BT.500", Screening.model_fields),
        ("Pages for all ten kinds of questions", KINDS),
        ("Eight protocols with their published defaults", PROTOCOLS),
    ],
)
def test_what_the_readme_counts_is_there(words: str, listed: Collection[str]) -> None:
    assert words in README
    (number,) = (COUNTED[word] for word in re.findall(r"\w+", words.lower()) if word in COUNTED)
    assert len(listed) == number


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/install.md"])
def test_every_extra_is_explained(page: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].keys() - {"dev", "docs", "bench"}  # for who works on beholder itself
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {extra for extra in extras if not re.search(rf"^\|.*[`\[]{extra}[`\]].*MB.*\|$", text, re.M)} == set()


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= LINES
