"""The first start of a study: one process draws the trials and fills the database, and only when it is told to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.database.address import FILE_NAME, default_url
from beholder.collect.server import child_process
from beholder.collect.server.child_process import WaitingChild
from beholder.errors import StageError
from beholder.tables.store import Store

Run = Callable[..., Any]
MODULE = "beholder.api.first_start"


@pytest.fixture
def study(run: Run, sources: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    images = ("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}")
    assert run("new", "hpd-pairs", folder, *images, "--raters", 2).code == 0
    return folder


def test_it_draws_the_trials_and_fills_the_database(study: Path) -> None:
    printed = WaitingChild(MODULE, study, url=default_url(study)).work()
    assert printed.startswith("design: ")
    assert Store(study).read("trials").height > 0
    assert (study / FILE_NAME).is_file()


def test_dismissed_it_has_done_nothing(study: Path) -> None:
    child = WaitingChild(MODULE, study, url=default_url(study))
    child.dismiss()
    child.dismiss()
    assert not (study / FILE_NAME).exists()
    assert not (study / "tables" / "trials.parquet").exists()


def test_a_fault_of_the_user_is_told(study: Path) -> None:
    (study / "study.toml").write_text("name = 3", encoding="utf-8")
    with pytest.raises(StageError, match=r"study\.toml"):
        WaitingChild(MODULE, study, url=default_url(study)).work()


def test_too_little_pay_is_refused_before_the_waiting_process_works(
    run: Run, sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[WaitingChild] = []

    class Noted(WaitingChild):
        def __init__(self, *arguments: str | Path, **settings: str) -> None:
            super().__init__(*map(str, arguments), **settings)
            started.append(self)

    monkeypatch.setattr(child_process, "WaitingChild", Noted)
    study = tmp_path / "s"
    images = ("--generated", f"a={sources / 'a'}", "--generated", f"b={sources / 'b'}")
    assert run("new", "hpd-pairs", study, *images, "--raters", 2, "--accept-low-pay", "--pay", 0.1).code == 0
    text = (study / "study.toml").read_text(encoding="utf-8")
    assert "accept_low = true" in text
    (study / "study.toml").write_text(text.replace("accept_low = true", "accept_low = false"), encoding="utf-8")
    ran = run("collect", study)
    assert ran.code == 2
    assert "minimum_hourly" in ran.err
    (child,) = started
    assert child._process.returncode is not None  # ended, not left behind
    assert not (study / "tables" / "trials.parquet").exists()
