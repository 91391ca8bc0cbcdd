"""The commands that run one stage: the stage is imported when called, and its outcome is printed."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from beholder.api.stages import VERBS
from beholder.cli.main import COMMANDS
from beholder.cli.stages import stage_command
from beholder.tables.work import Outcome

Calls = list[tuple[Path, bool]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The calls of a stage ``beholder.pretend.stage``, which has a command ``pretend``."""
    noted: Calls = []

    def stage_run(folder: Path, *, force: bool = False) -> Outcome:
        noted.append((folder, force))
        return Outcome("pretend", skipped=not force, rows={"labels": 1200} if force else {}, seconds=0.25)

    module = ModuleType("beholder.pretend.stage")
    module.run = stage_run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "beholder.pretend", ModuleType("beholder.pretend"))
    monkeypatch.setitem(sys.modules, "beholder.pretend.stage", module)
    monkeypatch.setitem(VERBS, "pretend", "beholder.pretend.stage")
    monkeypatch.setitem(COMMANDS, "pretend", ("beholder.cli.stages:pretend", "Pretend."))
    monkeypatch.setattr("beholder.cli.stages.pretend", stage_command("pretend", "Pretend."), raising=False)
    return noted


def test_the_stage_runs_in_the_folder(run: Callable[..., Any], calls: Calls, tmp_path: Path) -> None:
    ran = run("pretend", tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, "pretend: unchanged\n", "")
    ran = run("pretend", tmp_path, "--force")
    assert ran.out == "pretend: 1,200 labels in 0.2 s\n"
    assert calls == [(tmp_path, False), (tmp_path, True)]


@pytest.mark.usefixtures("calls")
def test_the_outcome_as_json(run: Callable[..., Any], tmp_path: Path) -> None:
    ran = run("pretend", tmp_path, "--force", "--json")
    assert json.loads(ran.out) == {
        "stage": "pretend",
        "skipped": False,
        "rows": {"labels": 1200},
        "seconds": 0.25,
        "note": "",
    }


def test_a_file_is_no_folder(run: Callable[..., Any], calls: Calls, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = run("pretend", tmp_path / "file")
    assert ran.code == 2
    assert "is a file" in ran.err
    assert calls == []


def test_verbose_tells_on_stderr(tmp_path: Path) -> None:
    """In a process of its own: logging is set up once a process."""
    script = (
        "import sys, types; stage = types.ModuleType('beholder.pretend.stage');"
        "stage.run = lambda folder, force: 'done';"
        "sys.modules |= {'beholder.pretend': types.ModuleType('beholder.pretend'), stage.__name__: stage};"
        "from beholder.api.stages import VERBS; VERBS['pretend'] = 'beholder.pretend.stage';"
        "from beholder.cli import main, stages; stages.pretend = stages.stage_command('pretend', 'Pretend.');"
        "main.COMMANDS['pretend'] = ('beholder.cli.stages:pretend', ''); sys.exit(main.main(sys.argv[1:]))"
    )
    line = [sys.executable, "-c", script, "-v", "pretend", str(tmp_path)]
    ended = subprocess.run(line, capture_output=True, text=True, check=True)
    assert ended.stdout == "done\n"
    assert ended.stderr == f"beholder.cli.stages: pretend: starting in {tmp_path}\n"
