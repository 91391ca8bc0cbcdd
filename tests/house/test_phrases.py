"""Prose that an expert can search: no phrase of the committed list in docs, help texts, report and pages."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PHRASES = Path(__file__).with_name("phrases.toml")
PLACES = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile"),
    *("docs/**/*.md", "examples/**/*"),
    *("src/beholder/**/*.py", "src/beholder/**/*.j2", "src/beholder/**/*.js", "src/beholder/**/*.html"),
    *("src/beholder/**/*.json", "src/beholder/**/*.toml", "src/beholder/**/*.css"),
)


@dataclass(frozen=True, slots=True)
class Phrase:
    pattern: re.Pattern[str]
    instead: str
    permitted: re.Pattern[str] | None

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        allowed = [] if self.permitted is None else [match.span() for match in self.permitted.finditer(text)]
        for match in self.pattern.finditer(text):
            if not any(start <= match.start() and match.end() <= end for start, end in allowed):
                yield match


def phrases() -> list[Phrase]:
    listed = tomllib.loads(PHRASES.read_text(encoding="utf-8"))["phrase"]
    return [
        Phrase(
            re.compile(entry["pattern"].replace(" ", r"\s+"), re.IGNORECASE),
            entry["instead"],
            re.compile("|".join(entry["permitted"]).replace(" ", r"\s+"), re.IGNORECASE)
            if "permitted" in entry
            else None,
        )
        for entry in listed
    ]


def files() -> list[Path]:
    return sorted(
        {path for pattern in PLACES for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".pyc"}
    )


def matches_in(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [
        f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} "
        f"{' '.join(match.group().split())!r}: write {phrase.instead}"
        for phrase in phrases()
        for match in phrase.matches(text)
    ]


def test_no_phrase_of_the_list_is_left() -> None:
    faults = [fault for path in files() for fault in matches_in(path)]
    assert not faults, f"{len(faults)} phrases:\n" + "\n".join(faults[:40])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a made-up world", 1),
        ("one row per image", 0),
        ("a row an image", 1),
        ("30 answers a second", 0),
        ("they could be told\napart", 1),
        ("standard deviation", 0),
        ("the deviation", 1),
        ("mean absolute deviation", 0),
    ],
)
def test_the_list_matches_what_it_should(text: str, expected: int) -> None:
    assert sum(1 for phrase in phrases() for _ in phrase.matches(text)) == expected
