"""``beholder tables``: what there is, and what a study has."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from beholder import __version__
from beholder.tables.catalogue import TABLES
from beholder.tables.describe import markdown
from beholder.tables.store import Store


@pytest.fixture
def study(tmp_path: Path, sources: Path, run: Callable[..., Any]) -> Path:
    assert run("new", "mos", tmp_path / "s", "--generated", f"a={sources / 'a'}", "--seed", "5").code == 0
    return tmp_path / "s"


def test_the_catalogue(run: Callable[..., Any]) -> None:
    listed = json.loads(run("tables", "--json").out)
    assert [entry["table"] for entry in listed] == list(TABLES)
    assert all(entry["about"] for entry in listed)
    words = run("tables").out.split()
    assert set(TABLES) <= set(words)


def test_the_page(run: Callable[..., Any]) -> None:
    assert run("tables", "--markdown").out == markdown()
    assert run("tables", "--markdown", "--json").code == 2
    assert run("tables", "--markdown", ".").code == 2


def test_the_tables_of_a_study(run: Callable[..., Any], study: Path) -> None:
    ran = run("tables", study)
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert rows[0] == ["table", "rows", "stage", "seed", "version", "check"]
    assert ["images", "2", "new", "5", __version__, "passes"] in rows
    listed = json.loads(run("tables", study, "--json").out)
    assert {entry["table"]: (entry["rows"], entry["faults"]) for entry in listed} == {
        "images": (2, []),
        "prompts": (2, []),
    }


def test_faults_are_listed(run: Callable[..., Any], study: Path) -> None:
    path = Store(study).path("images")
    pl.read_parquet(path).with_columns(width=pl.lit(0)).write_parquet(path)
    Store(study).path("prompts").write_text("not Parquet")
    ran = run("tables", study)
    assert ran.code == 2
    rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines()}
    assert rows["prompts"] == ["?", "?", "?", "?", "1", "fault"]
    assert "prompts: not a readable Parquet file" in ran.err
    assert "Traceback" not in ran.err


def test_no_tables(run: Callable[..., Any], tmp_path: Path) -> None:
    ran = run("tables", tmp_path)
    assert ran.code == 2
    assert "has no tables" in ran.err
    assert "does not exist" in run("tables", tmp_path / "gone").err
