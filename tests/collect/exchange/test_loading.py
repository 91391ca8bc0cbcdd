"""Loading the database: repeatable, replaced while there are no answers, never over answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beholder.collect.exchange.load import load
from beholder.collect.server.service import Service
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]

QUESTION = RealismQuestion(name="q", design=Design(raters=2, trials=4))


def change(folder: Path, before: str, after: str) -> None:
    file = folder / "study.toml"
    text = file.read_text(encoding="utf-8")
    assert before in text
    file.write_text(text.replace(before, after), encoding="utf-8")


def test_again_changes_nothing_and_keeps_the_secrets(serve: Serve) -> None:
    served = serve(QUESTION)
    before = [served.rows(f"select * from {name}") for name in ("secrets", "trials", "slots", "pictures")]
    load(served.folder, served.url)
    assert [served.rows(f"select * from {name}") for name in ("secrets", "trials", "slots", "pictures")] == before
    assert len({value for _, value in before[0]}) == 3


def test_who_came_in_before_a_change_of_the_design_enters_again(serve: Serve) -> None:
    served = serve(QUESTION)
    visitor = served.visitor().begin()
    change(served.folder, "trials = 4", "trials = 6")
    design(served.folder)
    load(served.folder, served.url)
    assert served.count("sessions") == 0
    assert served.rows("select count(*) from trials") == [(12,)]
    assert visitor.get("state").status_code == 401
    service = Service(served.folder, served.url)  # as after a restart
    assert len(service.catalogue.slot("q", 0)) == 6
    service.database.engine.dispose()


def test_trials_that_were_answered_are_never_replaced(serve: Serve) -> None:
    served = serve(QUESTION)
    served.visitor().begin().answer()
    before = served.rows("select * from trials")
    (served.folder / "tables" / "trials.parquet").unlink()
    change(served.folder, "seed = 1", "seed = 2")
    design(served.folder)
    with pytest.raises(StageError, match="changed after raters had answered"):
        load(served.folder, served.url)
    assert served.rows("select * from trials") == before


def test_a_text_may_be_changed_while_raters_answer(serve: Serve) -> None:
    served = serve(QUESTION)
    served.visitor().begin().answer()
    change(served.folder, "Is this image real", "Is this picture real")
    load(served.folder, served.url)
    assert "Is this picture real" in served.rows("select settings from questions")[0][0]
