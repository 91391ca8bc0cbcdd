"""Which stages ``beholder run`` calls, and in which order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.consolidate import stage as consolidate
from beholder.design import stage as design
from beholder.measure import stage as measure
from beholder.rank import stage as rank
from beholder.report import stage as report
from beholder.tables.work import Outcome

Run = Callable[..., Any]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages, replaced by ones that only say their names."""
    noted: list[str] = []

    def pretend(verb: str) -> Callable[..., Outcome]:
        def stage(*_: object, **__: object) -> Outcome:
            noted.append(verb)
            return Outcome(verb, skipped=True)

        return stage

    stages = {"design": design, "consolidate": consolidate, "rank": rank, "measure": measure, "report": report}
    for verb, module in stages.items():
        monkeypatch.setattr(module, "run", pretend(verb))
    monkeypatch.setattr("beholder.cli.run.run_simulated", pretend("collect"))
    return noted


def test_metrics_are_computed_before_the_report_if_asked_for(run: Run, called: list[str], tmp_path: Path) -> None:
    assert run("run", tmp_path, "--simulate", 3).code == 0
    assert called == ["design", "collect", "consolidate", "rank", "report"]
    called.clear()
    ran = run("run", tmp_path, "--simulate", 3, "--measure")
    assert called == ["design", "collect", "consolidate", "rank", "measure", "report"]
    assert "measure: unchanged\n" in ran.out


def test_without_answers_nothing_is_consolidated(run: Run, called: list[str], tmp_path: Path) -> None:
    ran = run("run", tmp_path)
    assert ran.code == 2
    assert "has no answers yet" in ran.err
    assert called == ["design"]
