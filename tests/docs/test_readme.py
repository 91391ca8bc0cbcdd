"""The README is true: its commands run one after the other, and print what it shows."""

from pathlib import Path

import pytest
from tests.docs.consoles import ROOT, agrees, prepare, run, steps


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    prepare(tmp_path)
    for step in steps((ROOT / "README.md").read_text(encoding="utf-8")):
        printed = run(step, tmp_path)
        assert agrees(step.shown, printed) or step.command[1] == "-c", "\n".join(
            [step.typed, *printed, "", "run: make docs"]
        )


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        (["rank: 3 ratings in 0.1 s"], ["rank: 3 ratings in 12.5 s"], True),
        (["rank: 3 ratings in 0.1 s"], ["rank: 4 ratings in 0.1 s"], False),
        (["first", "…", "last"], ["first", "second", "third", "last"], True),
        (["first", "…"], ["second"], False),
        ([], ["something"], False),
    ],
)
def test_only_durations_and_elided_lines_may_differ(shown: list[str], printed: list[str], expected: bool) -> None:
    assert agrees(shown, printed) is expected
