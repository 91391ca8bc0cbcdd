"""Which stages ``beholder run`` calls, and in which order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.api.stages import load_stage
from beholder.collect import stage as collect
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store
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

    for verb in ("design", "consolidate", "rank", "measure", "report"):
        monkeypatch.setattr(load_stage(verb), "run", pretend(verb))
    monkeypatch.setattr(collect, "run", pretend("collect"))
    monkeypatch.setattr("beholder.api.run.find_label_errors", pretend("learn"))
    return noted


def test_metrics_are_computed_before_the_report_if_asked_for(run: Run, called: list[str], tmp_path: Path) -> None:
    assert run("run", tmp_path, "--simulate", 3, "--quiet").code == 0
    assert called == ["design", "collect", "consolidate", "rank", "report"]
    called.clear()
    ran = run("run", tmp_path, "--simulate", 3, "--measure", "--quiet")
    assert called == ["design", "collect", "consolidate", "rank", "measure", "report"]
    assert "measure: unchanged\n" in ran.out


def test_labels_are_looked_at_again_where_a_model_was_trained(run: Run, called: list[str], tmp_path: Path) -> None:
    record = Provenance("learn", {}, 0, {})
    Store(tmp_path).write({"predictions": TABLES["predictions"].empty()}, record)
    assert run("run", tmp_path, "--simulate", 3, "--quiet").code == 0
    assert called == ["design", "collect", "consolidate", "rank", "learn", "report"]


def test_answers_that_are_there_are_not_collected_again(run: Run, called: list[str], tmp_path: Path) -> None:
    Store(tmp_path).write({"answers": TABLES["answers"].empty()}, Provenance("collect", {}, 0, {}))
    assert run("run", tmp_path, "--quiet").code == 0
    assert called == ["design", "consolidate", "rank", "report"]


def test_without_answers_nothing_is_consolidated(
    run: Run, monkeypatch: pytest.MonkeyPatch, bare_study: Callable[..., Path]
) -> None:
    noted: list[str] = []
    monkeypatch.setattr(load_stage("consolidate"), "run", lambda *_, **__: noted.append("consolidate"))
    folder = bare_study(PairQuestion(name="q", design=Design(raters=2, trials=2)))
    ran = run("run", folder)
    assert ran.code == 2
    assert ran.out.startswith("design: ")
    assert f"has no answers yet. To rehearse with simulated raters: beholder run {folder}" in ran.err
    assert ran.err.endswith(f"to ask people: beholder collect {folder}\n")
    assert noted == []
