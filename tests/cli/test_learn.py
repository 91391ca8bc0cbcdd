"""``beholder learn``: as a table, as JSON, and every fault in a sentence."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.learn.conftest import paired_study
from tests.learn.test_stage import SMALL

from beholder.cli import progress
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Run = Callable[..., Any]

__all__ = ["paired_study"]


def arguments(*more: str) -> list[str]:
    changes = [part for change in (*SMALL, "training.steps=2") for part in ("--set", change)]
    return ["--recipe", "tiny-two-tower", *changes, *more]


def test_figures_as_a_table_and_as_json(run: Run, paired_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)
    session = {"session": "s", "rater": "r", "question": "q", "status": "complete", "simulated": True}
    sessions = TABLES["sessions"].frame([session | {"started": datetime(2026, 1, 5, tzinfo=UTC)}])
    Store(paired_study).write({"sessions": sessions}, Provenance("collect", {}, 0, {}))
    ran = run("learn", paired_study, *arguments())
    assert ran.code == 0
    assert "pair-accuracy-hpd-v2" in ran.out
    assert "any tie right" in ran.out
    assert "steps: 1 of 2, about " in ran.err  # off a terminal, too
    simulated = "Simulated raters gave these answers."
    assert ran.out.index(simulated) < ran.out.index("pair-accuracy-hpd-v2")
    again = json.loads(run("learn", paired_study, *arguments("--json")).out)
    assert again["skipped"]
    assert again["caveats"][0].startswith(simulated)
    assert {figure["statistic"] for figure in again["figures"]} >= {
        "pair-accuracy-micro",
        "pair-accuracy-pickscore",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--recipe", "hps-v9"], "Did you mean 'hps-v2'?"),
        (["--recipe", "tiny-two-tower", "--set", "training.step=3"], "did you mean 'steps'?"),
        (["--recipe", "tiny-two-tower", "--folds", "30"], "24 prompts; at least 30 are needed"),
    ],
)
def test_faults(run: Run, paired_study: Path, options: list[str], message: str) -> None:
    ran = run("learn", paired_study, *options)
    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
