"""Files with secrets: nobody but their owner reads them, under any umask."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.collect.database.address import default_url
from beholder.collect.database.private_files import create_private
from beholder.collect.database.schema import Database, control


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mode & 0o777 for file in folder.glob("collect.sqlite*")}


def write(database: Database) -> None:
    database.create()
    with database.writing() as connection:
        connection.execute(control.delete())
        connection.execute(control.insert().values(name="a", value="b"))


def test_a_database_is_made_private(tmp_path: Path, umask: int, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(default_url(tmp_path))
    write(database)
    assert modes(tmp_path) == dict.fromkeys(("collect.sqlite", "collect.sqlite-wal", "collect.sqlite-shm"), 0o600)
    database.engine.dispose()
    assert caplog.records == [], umask


def test_looser_files_are_tightened_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Database(default_url(tmp_path))
    write(first)
    for file in tmp_path.glob("collect.sqlite*"):
        file.chmod(0o644)
    with caplog.at_level(logging.WARNING):
        second = Database(default_url(tmp_path))
        write(second)
    assert set(modes(tmp_path).values()) == {0o600}
    for name in ("collect.sqlite", "collect.sqlite-wal", "collect.sqlite-shm"):
        assert f"{tmp_path / name} could be read by others (mode 0644)" in caplog.text
    first.engine.dispose()
    second.engine.dispose()


def test_what_belongs_to_someone_else_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(Database(default_url(tmp_path)))
    (tmp_path / "collect.sqlite").chmod(0o660)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "chmod", refuse)
    write(Database(default_url(tmp_path)))
    assert "(mode 0660) and belongs to someone else: chmod 600 it" in caplog.text


def test_a_file_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("content", encoding="utf-8")
    create_private(file)
    create_private(tmp_path / "no" / "folder")
    assert file.read_text(encoding="utf-8") == "content"
    assert not (tmp_path / "no").exists()
