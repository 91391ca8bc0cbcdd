"""Files that are published while a command works in the copy: alone, soon, and over what others publish."""

from collections.abc import Callable
from pathlib import Path

import pytest
from obstore.store import MemoryStore
from tests.collect.display.test_images import wait_until
from tests.storage.test_working_copy import contents, copy_in, write

from beholder.errors import StorageError, SupersededError, UserError
from beholder.storage import watched_files
from beholder.storage.transfer import Transfer
from beholder.storage.watched_files import published_when_changed
from beholder.storage.working_copy import WorkingCopy
from beholder.tables.atomic import write_atomically

WATCHED = ("tables/trials",)


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def hosts(tmp_path: Path, store: MemoryStore) -> tuple[WorkingCopy, WorkingCopy]:
    """Two machines that have the same folder."""
    first, second = copy_in(tmp_path / "first", store), copy_in(tmp_path / "there" / "second", store)
    write(first.folder, study="seed = 1", tables__trials="1")
    first.publish()
    second.update()
    return first, second


def read_by_another(folder: Path, store: MemoryStore) -> dict[str, str]:
    reader = copy_in(folder / "reader" / "copy", store)
    reader.update()
    return contents(reader.folder)


def replace(copy: WorkingCopy, text: str) -> None:
    """Replace the watched file as tables are: a look finds the old one or the new one."""
    with write_atomically(copy.folder / WATCHED[0]) as file:
        file.write(text.encode())


def nothing() -> None:
    """There are no others."""


def test_one_file_is_published_and_what_else_changed_is_not(
    hosts: tuple[WorkingCopy, WorkingCopy], tmp_path: Path, store: MemoryStore
) -> None:
    first, _ = hosts
    assert not first.has_unpublished(WATCHED)
    write(first.folder, tables__trials="1 2", tables__answers="half of them")
    assert first.has_unpublished(WATCHED)
    assert first.publish_files((*WATCHED, "tables/absent"), nothing) == Transfer(1, 3)
    assert not first.has_unpublished(WATCHED)
    assert read_by_another(tmp_path, store) == {"study": "seed = 1", "tables/trials": "1 2"}
    assert first.publish_files(WATCHED, nothing) == Transfer(0, 0)
    assert first.publish() == Transfer(1, 12)  # nobody else published: it is not refused


def test_a_second_writer_adds_to_what_the_first_published(
    hosts: tuple[WorkingCopy, WorkingCopy], tmp_path: Path, store: MemoryStore
) -> None:
    """Where it is published that trial 2 was added, the file that is published next has it."""
    first, second = hosts
    database = ["1"]

    def renewed(copy: WorkingCopy) -> Callable[[], None]:
        return lambda: write(copy.folder, tables__trials=" ".join(database))

    database.append("2")
    first.publish_files(WATCHED, renewed(first))
    database.append("3")
    write(second.folder, tables__trials="1 3")  # it knows nothing of the other
    second.publish_files(WATCHED, renewed(second))
    assert read_by_another(tmp_path, store)["tables/trials"] == "1 2 3"
    with pytest.raises(SupersededError):  # its copy is older than what the first published: it is merged as ever
        second.publish()
    second.update(WATCHED)
    assert second.publish() == Transfer(0, 0)


def test_who_is_published_over_meanwhile_starts_again(
    hosts: tuple[WorkingCopy, WorkingCopy], tmp_path: Path, store: MemoryStore
) -> None:
    first, second = hosts
    calls: list[str] = []

    def interrupted() -> None:
        calls.append("renew")
        if len(calls) == 1:
            write(second.folder, tables__answers="yes")
            second.publish()

    write(first.folder, tables__trials="1 2")
    assert first.publish_files(WATCHED, interrupted) == Transfer(1, 3)
    assert calls == ["renew", "renew"]
    published = {"study": "seed = 1", "tables/trials": "1 2", "tables/answers": "yes"}
    assert read_by_another(tmp_path, store) == published


def test_changes_are_published_while_a_command_runs(
    hosts: tuple[WorkingCopy, WorkingCopy], tmp_path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = hosts
    monkeypatch.setattr(watched_files, "LOOK_SECONDS", 0.01)
    outcomes: list[Transfer | UserError] = []
    with published_when_changed(first, WATCHED, nothing, outcomes.append):
        replace(first, "1 2")
        wait_until(lambda: outcomes == [Transfer(1, 3)], 60)
    assert read_by_another(tmp_path, store)["tables/trials"] == "1 2"
    replace(first, "left by a kill")
    with published_when_changed(first, WATCHED, nothing, outcomes.append):
        wait_until(lambda: outcomes[1:] == [Transfer(1, 14)], 60)


def test_it_is_tried_again_where_storage_was_gone(
    hosts: tuple[WorkingCopy, WorkingCopy], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = hosts
    monkeypatch.setattr(watched_files, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(watched_files, "RETRY_SECONDS", 0.01)
    faults = [StorageError("no network")]
    outcomes: list[Transfer | UserError] = []

    def reach() -> None:
        if faults:
            raise faults.pop()

    with published_when_changed(first, WATCHED, reach, outcomes.append):
        replace(first, "1 2")
        wait_until(lambda: len(outcomes) == 2, 60)
    assert [str(outcome) for outcome in outcomes[:1]] == ["no network"]
    assert outcomes[1:] == [Transfer(1, 3)]
