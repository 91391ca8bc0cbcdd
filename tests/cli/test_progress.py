"""Progress where stderr is no terminal: lines with the time left."""

import time

import pytest

from beholder.cli import progress
from beholder.cli.progress import progress_bar, progress_report


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.05)


def test_a_line_at_intervals_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("images") as report:
        report(1, 4)
        time.sleep(0.15)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert lines[0].startswith("images: 1 of 4, about ")
    assert lines[0].endswith(" s left")


def test_work_without_counts_is_not_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_report("consolidate"):
        time.sleep(0.12)
    assert capsys.readouterr().err.splitlines()[0] == "consolidate: 0 s so far"


def test_quick_work_prints_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 10.0)
    with progress_report("measure") as report:
        report("images", 1, 2)
    assert capsys.readouterr().err == ""
