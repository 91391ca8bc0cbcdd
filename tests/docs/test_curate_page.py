"""The page on curating is true: its commands run one after the other, and print what it shows."""

from pathlib import Path

from tests.docs.consoles import ROOT, agrees, prepare, run, steps


def test_the_commands_of_the_page_print_what_it_shows(tmp_path: Path) -> None:
    prepare(tmp_path)
    for step in steps((ROOT / "docs" / "curate.md").read_text(encoding="utf-8")):
        printed = run(step, tmp_path)
        assert agrees(step, printed), "\n".join([step.typed, *printed, "", "run: consoles.py docs/curate.md"])
