"""Local copies of remote folders, with storage in memory: what is fetched, published and refused."""

import os
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from beholder.errors import StorageError, SupersededError
from beholder.storage.remote_folder import RemoteFolder, is_remote
from beholder.storage.transfer import Transfer
from beholder.storage.working_copy import WorkingCopy

ADDRESS = "s3://bucket/study"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def copy_in(folder: Path, store: MemoryStore) -> WorkingCopy:
    folder.mkdir(parents=True, exist_ok=True)
    return WorkingCopy(RemoteFolder(ADDRESS, store), folder)


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_what_one_machine_publishes_another_fetches(tmp_path: Path, store: MemoryStore) -> None:
    mine = copy_in(tmp_path / "mine", store)
    assert mine.update() == Transfer(0, 0)
    write(mine.folder, study="seed = 1", tables__answers="yes", again="yes")
    assert mine.publish() == Transfer(2, 11)  # "yes" is stored once
    theirs = copy_in(tmp_path / "there" / "theirs", store)
    assert theirs.update() == Transfer(2, 11)  # and fetched once
    assert contents(theirs.folder) == contents(mine.folder)
    assert theirs.publish() == Transfer(0, 0)


def test_only_what_changed_moves_and_what_was_deleted_goes(tmp_path: Path, store: MemoryStore) -> None:
    mine, theirs = copy_in(tmp_path / "mine", store), copy_in(tmp_path / "there" / "theirs", store)
    write(mine.folder, a="1", b="2", c="3")
    mine.publish()
    theirs.update()
    write(mine.folder, b="twenty")
    (mine.folder / "c").unlink()
    assert mine.publish() == Transfer(1, 6)
    assert theirs.update() == Transfer(1, 6)
    assert contents(theirs.folder) == {"a": "1", "b": "twenty"}


def test_of_two_who_publish_at_once_one_is_refused(tmp_path: Path, store: MemoryStore) -> None:
    mine, theirs = copy_in(tmp_path / "mine", store), copy_in(tmp_path / "there" / "theirs", store)
    write(mine.folder, a="1")
    mine.publish()
    theirs.update()
    write(mine.folder, a="mine")
    write(theirs.folder, a="theirs")
    theirs.publish()
    with pytest.raises(StorageError, match="changed by someone else meanwhile"):
        mine.publish()
    with pytest.raises(StorageError, match="never published"):
        mine.update()
    assert contents(mine.folder) == {"a": "mine"}
    assert contents(tmp_path / "there" / "theirs") == {"a": "theirs"}


def test_two_new_folders_at_one_address_are_one_too_many(tmp_path: Path, store: MemoryStore) -> None:
    mine, theirs = copy_in(tmp_path / "mine", store), copy_in(tmp_path / "there" / "theirs", store)
    write(mine.folder, a="1")
    write(theirs.folder, a="2")
    mine.publish()
    with pytest.raises(StorageError, match="someone else"):
        theirs.publish()


def test_a_killed_publication_leaves_the_old_folder_and_is_completed_later(
    tmp_path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = copy_in(tmp_path / "mine", store)
    write(mine.folder, a="1", b="2")
    mine.publish()
    write(mine.folder, a="one", b="two")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(RemoteFolder, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            mine.publish()
    reader = copy_in(tmp_path / "there" / "reader", store)
    reader.update()
    assert contents(reader.folder) == {"a": "1", "b": "2"}
    again = copy_in(tmp_path / "mine", store)  # another process
    assert again.update() == Transfer(0, 0)
    assert contents(again.folder) == {"a": "one", "b": "two"}
    again.publish()
    reader.update()
    assert contents(reader.folder) == {"a": "one", "b": "two"}


def test_bytes_that_storage_changed_are_refused(tmp_path: Path, store: MemoryStore) -> None:
    mine = copy_in(tmp_path / "mine", store)
    write(mine.folder, a="1")
    mine.publish()
    name = next(row["path"] for row in store.list().collect() if row["path"].startswith("objects/"))
    store.put(name, b"2")
    with pytest.raises(StorageError, match="not those of the index"):
        copy_in(tmp_path / "there" / "reader", store).update()
    assert contents(tmp_path / "there" / "reader") == {}
    store.delete(name)
    with pytest.raises(StorageError, match="lacks the content of a"):
        copy_in(tmp_path / "there" / "reader", store).update()


def test_who_raters_are_is_not_published(tmp_path: Path, store: MemoryStore) -> None:
    mine = copy_in(tmp_path / "mine", store)
    write(mine.folder, study="1")
    (mine.folder / "collect.sqlite").write_text("names")
    mine.publish()
    reader = copy_in(tmp_path / "there" / "reader", store)
    reader.update()
    assert contents(reader.folder) == {"study": "1"}
    assert (mine.folder / "collect.sqlite").exists()


def test_what_two_folders_share_is_fetched_once(tmp_path: Path) -> None:
    stores = MemoryStore(), MemoryStore()
    for number, store in enumerate(stores):
        mine = copy_in(tmp_path / f"mine {number}", store)
        write(mine.folder, images__cat="a large picture", study=f"seed = {number}")
        mine.publish()
    first = copy_in(tmp_path / "there" / "first", stores[0])
    assert first.update() == Transfer(2, 23)
    second = copy_in(tmp_path / "there" / "second", stores[1])
    assert second.update() == Transfer(1, 8)
    assert contents(second.folder) == {"images/cat": "a large picture", "study": "seed = 1"}
    (second.folder / "images" / "cat").write_text("changed in place")
    assert contents(first.folder)["images/cat"] == "a large picture"  # no link between them
    third = copy_in(tmp_path / "there" / "third", stores[1])
    (first.folder / "images" / "cat").unlink()
    assert third.update() == Transfer(1, 15)  # the copies have it no more; the study file comes from the second


def test_a_content_that_changed_without_a_trace_is_fetched(tmp_path: Path, store: MemoryStore) -> None:
    mine = copy_in(tmp_path / "mine", store)
    write(mine.folder, a="1")
    mine.publish()
    first = copy_in(tmp_path / "there" / "first", store)
    first.update()
    status = (first.folder / "a").stat()
    (first.folder / "a").write_text("2")
    os.utime(first.folder / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    second = copy_in(tmp_path / "there" / "second", store)
    assert second.update() == Transfer(1, 1)
    assert contents(second.folder) == {"a": "1"}


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        *(("s3://b/study", True), ("gs://b", True), ("az://c/x", True), ("postgresql://h/d", False)),
        *(("s3://", False), ("https://h/x", False), ("study", False), ("/a/s3://b", False)),
    ],
)
def test_what_an_address_is(text: str, remote: bool) -> None:
    assert is_remote(text) is remote


def test_what_is_made_again_gives_way_and_other_changes_are_merged(tmp_path: Path, store: MemoryStore) -> None:
    mine, theirs = copy_in(tmp_path / "here" / "mine", store), copy_in(tmp_path / "there" / "theirs", store)
    write(mine.folder, study="1", answers="none", old="1")
    mine.publish()
    theirs.update()
    write(theirs.folder, answers="theirs", theirs="1")
    (theirs.folder / "old").unlink()
    theirs.publish()
    write(mine.folder, answers="mine", drawn="1")
    with pytest.raises(SupersededError):
        mine.publish()
    assert mine.update(["answers"]) == Transfer(1, 6)  # the content of the second file is there already
    assert contents(mine.folder) == {"study": "1", "answers": "theirs", "theirs": "1", "drawn": "1"}
    write(mine.folder, answers="of both")
    mine.publish()
    theirs.update()
    assert contents(theirs.folder) == {"study": "1", "answers": "of both", "theirs": "1", "drawn": "1"}


def test_what_is_not_made_again_is_never_lost_to_another(tmp_path: Path, store: MemoryStore) -> None:
    mine, theirs = copy_in(tmp_path / "mine", store), copy_in(tmp_path / "theirs", store)
    write(mine.folder, study="1")
    mine.publish()
    theirs.update()
    write(theirs.folder, study="theirs", answers="theirs")
    theirs.publish()
    write(mine.folder, study="mine", answers="mine")
    with pytest.raises(SupersededError, match="never published"):
        mine.update(["answers"])
    assert contents(mine.folder) == {"study": "mine", "answers": "mine"}
