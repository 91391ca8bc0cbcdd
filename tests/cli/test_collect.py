"""``beholder collect``: what raters are paid is printed, too little is refused, and the counts come as JSON."""

import gc
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder.study.study import FILE_NAME, load_study

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _collecting_garbage() -> Iterator[None]:
    """The command turns it off until it serves."""
    yield
    gc.enable()


@pytest.fixture
def underpaid(run: Run, sources: Path, tmp_path: Path) -> Path:
    """A study whose pay was lowered after it was made: one minute for 10 cents."""
    folder = tmp_path / "s"
    images = ("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}")
    assert run("new", "hpd-pairs", folder, *images, "--raters", 2, "--accept-low-pay", "--pay", 0.1).code == 0
    text = (folder / FILE_NAME).read_text(encoding="utf-8")
    assert "accept_low = true" in text
    (folder / FILE_NAME).write_text(text.replace("accept_low = true", "accept_low = false"), encoding="utf-8")
    assert load_study(folder).pay.base == 0.1
    return folder


def test_pay_below_the_least_wage_is_refused(run: Run, underpaid: Path) -> None:
    ran = run("collect", underpaid)
    assert (ran.code, ran.out) == (2, "")
    assert "pay: 0.10 USD for 1 min, 6.00 USD an hour for 'preference', less than minimum_hourly (12.00" in ran.err
    assert "--accept-low-pay" in ran.err
    assert not (underpaid / "tables" / "trials.parquet").exists()  # refused before any work


def test_a_rehearsal_warns_and_prints_its_counts_as_json(run: Run, underpaid: Path) -> None:
    ran = run("collect", underpaid, "--simulate", 2, "--json")
    assert ran.code == 0
    assert "warning: pay: 0.10 USD" in ran.err
    assert "pay: 0.10 USD for 1 min, 6.00 USD an hour (preference)\n" in ran.err
    rows = json.loads(ran.out)["rows"]
    assert rows["sessions"] == 2
    assert rows["answers"] > 0


def test_tables_are_not_written_from_a_database_that_is_not_there(run: Run, underpaid: Path) -> None:
    ran = run("collect", underpaid, "--write-tables")
    assert ran.code == 2
    assert "has no collect.sqlite" in ran.err
    assert run("collect", underpaid, "--write-tables", "--simulate", 2).code == 2
