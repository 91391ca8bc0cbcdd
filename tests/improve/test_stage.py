"""Improvements have tables of their own; the stage puts them together, once."""

from pathlib import Path

import polars as pl
import pytest

from beholder.errors import StageError, UserError
from beholder.improve.improvement import Improvement, improvements_of
from beholder.improve.record import record_improvement, settings_of
from beholder.improve.stage import run
from beholder.tables.store import Store

STUDY = """
name = "small"
title = "A small study"
seed = 3

[[questions]]
kind = "pair"
name = "preference"
protocol = "hpd-pairs"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def change(name: str, *, kept: bool = True) -> dict[str, object]:
    return {"change": name, "method": "repair", "kept": kept, "reason": "better by more than the margin"}


def test_the_tables_of_all_improvements_are_put_together(study: Path) -> None:
    for name in ("second", "first"):
        record_improvement(Improvement(study, name), {"changes": [change("a")]}, settings={"n": 1}, seed=3)
    changes = Store(study).read("changes")
    assert changes.select("improvement", "change").rows() == [("first", "a"), ("second", "a")]
    assert [improvement.name for improvement in improvements_of(study)] == ["first", "second"]
    assert run(study).skipped
    record_improvement(
        Improvement(study, "first"), {"changes": [change("a"), change("b", kept=False)]}, settings={"n": 2}, seed=3
    )
    assert Store(study).read("changes").filter(pl.col("improvement") == "first")["kept"].to_list() == [True, False]
    assert settings_of(Improvement(study, "first")) == {"n": 2}


def test_a_table_that_is_not_named_stays(study: Path) -> None:
    improvement = Improvement(study, "first")
    record_improvement(improvement, {"changes": [change("a")]}, settings={}, seed=3)
    row = {"step": 1, "watch": "diversity", "value": 0.5, "raised": True, "sentence": "Diversity fell."}
    record_improvement(improvement, {"alarms": [row]}, settings={}, seed=3)
    assert Store(study).read("changes").height == 1
    assert Store(study).read("alarms")["sentence"].to_list() == ["Diversity fell."]


def test_without_an_improvement_there_is_nothing_to_put_together(study: Path) -> None:
    with pytest.raises(StageError, match="has no improvement yet"):
        run(study)


@pytest.mark.parametrize("name", ["", "../up", "Tall", "a b", ".hidden"])
def test_a_name_is_one_of_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be called"):
        Improvement(tmp_path, name)
