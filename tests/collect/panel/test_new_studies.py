"""A study that is opened while the server of a panel runs is served without a restart."""

import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.collect.conftest import encode_once
from tests.collect.panel.conftest import ServedPanel, rename

from beholder.collect.display import served_images
from beholder.collect.panel.opening import open_study
from beholder.collect.panel.server import new_studies
from beholder.collect.panel.server.new_studies import watched
from beholder.collect.panel.study_database import schema_of, study_url
from beholder.collect.server.application import create_app
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

REALISM = RealismQuestion(name="q", design=Design(raters=3, trials=3))


def wait_for(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_study_appears_and_a_faulty_one_stops_nothing(
    serve_panel: Callable[..., ServedPanel],
    study_folder: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(new_studies, "LOOK_SECONDS", 0.1)
    served = serve_panel({"faces": REALISM})
    rater = served.rater()
    running = rater.take("faces").begin()
    running.answer()
    new = study_folder(REALISM, name="later")
    rename(new, "later")
    broken = tmp_path / "broken"
    broken.mkdir()
    text = (new / "study.toml").read_text(encoding="utf-8").replace('name = "later"', 'name = "broken"', 1)
    (broken / "study.toml").write_text(text, encoding="utf-8")  # it has no images
    with served.service.database.writing() as connection:
        for place in (broken, new):
            open_study(connection, place, researcher="ada", now=time.time())

    def add(name: str, place: Path, address: str) -> None:
        with patch.object(served_images, "encode", encode_once):
            served.application.add_study(name, create_app(place, address))

    with watched(served.service.database, None, ["faces"], add, prepares=True):
        wait_for(lambda: "later" in served.service.services)
    assert "broken" not in served.service.services
    assert {offer["study"] for offer in rater.page()["offers"]} == {"faces", "later"}
    running.walk()
    visitor = rater.take("later").begin().walk()
    assert visitor.state["done"]["outcome"] == "complete"
    served.service.services["later"].database.engine.dispose()


def test_where_the_database_of_a_study_is(tmp_path: Path) -> None:
    assert study_url(None, "faces", tmp_path) == f"sqlite:///{tmp_path / 'collect.sqlite'}"
    url = "postgresql+psycopg://ada:s%40crt@db/panel?sslmode=require&options=-cwork_mem%3D8MB"
    address = study_url(url, "faces", tmp_path)
    assert address.startswith("postgresql+psycopg://ada:s%40crt@db/panel?")  # the password is kept
    assert "sslmode=require" in address
    assert f"-cwork_mem%3D8MB+-csearch_path%3D{schema_of('faces')}" in address
    names = ["faces", "Faces", "faces-1", "faces_1", "x" * 64, "x" * 63, "größe"]
    assert len({schema_of(name) for name in names}) == len(names)
    assert all(len(schema_of(name)) <= 63 and schema_of(name).replace("_", "a").isalnum() for name in names)
