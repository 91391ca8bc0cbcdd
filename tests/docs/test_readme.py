"""The README is true: its commands run one after the other, and print what it shows."""

from pathlib import Path

import pytest
from tests.docs.consoles import ROOT, Step, agrees, prepare, run, steps


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    prepare(tmp_path)
    for step in steps((ROOT / "README.md").read_text(encoding="utf-8")):
        printed = run(step, tmp_path)
        if step.command[1] != "-c":
            assert agrees(step, printed), "\n".join([step.typed, *printed, "", "run: make docs"])


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
    assert agrees(Step([], typed, page_output), printed) is expected
