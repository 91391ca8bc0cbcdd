"""Objects under their own names, with storage in memory: what is fetched, passed over and refused."""

from pathlib import Path

import pytest
from obstore.store import MemoryStore

from beholder.errors import StorageError
from beholder.storage.plain_copy import PlainCopy
from beholder.storage.plain_objects import plain_objects
from beholder.storage.remote_folder import RemoteFolder
from beholder.storage.transfer import Transfer
from beholder.storage.working_copy import WorkingCopy

ADDRESS = "s3://bucket/images"


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    for path, content in {"a.png": b"1", "deep/b.png": b"22", "prompts.csv": b"file,prompt\n"}.items():
        store.put(path, content)
    return store


def copy_of(store: MemoryStore, folder: Path) -> PlainCopy:
    plain = plain_objects(ADDRESS, store)
    assert plain is not None
    folder.mkdir(exist_ok=True)
    return PlainCopy(plain, folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_objects_are_fetched_under_their_names_and_only_once(store: MemoryStore, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    assert copy_of(store, folder).update() == Transfer(3, 15)
    assert files_of(folder) == {"a.png": b"1", "deep/b.png": b"22", "prompts.csv": b"file,prompt\n"}
    assert copy_of(store, folder).update() == Transfer(0, 0)
    assert copy_of(store, folder).publish() == Transfer(0, 0)


def test_an_object_that_was_replaced_by_one_of_equal_size_is_fetched_again(
    store: MemoryStore, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    copy_of(store, folder).update()
    store.put("a.png", b"9")
    store.delete("prompts.csv")
    assert copy_of(store, folder).update() == Transfer(1, 1)
    assert files_of(folder) == {"a.png": b"9", "deep/b.png": b"22"}


def test_what_a_command_writes_is_refused_and_gone_with_the_next(store: MemoryStore, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    copy = copy_of(store, folder)
    copy.update()
    (folder / "new.png").write_bytes(b"3")
    (folder / "a.png").write_bytes(b"changed")
    with pytest.raises(StorageError, match=r"is only read: a\.png, new\.png was not stored"):
        copy.publish()
    assert bytes(store.get("a.png").bytes()) == b"1"
    copy_of(store, folder).update()
    assert files_of(folder) == {"a.png": b"1", "deep/b.png": b"22", "prompts.csv": b"file,prompt\n"}


def test_hidden_names_and_markers_of_folders_are_passed_over(store: MemoryStore) -> None:
    for path in (".DS_Store", "deep/.hidden/x", "deep"):
        store.put(path, b"")
    plain = plain_objects(ADDRESS, store)
    assert plain is not None
    assert sorted(plain.objects) == ["a.png", "deep/b.png", "prompts.csv"]


def test_a_name_that_is_a_file_and_a_folder_is_refused(store: MemoryStore) -> None:
    store.put("deep", b"a file")
    with pytest.raises(StorageError, match="names cannot be those of files in one folder: deep"):
        plain_objects(ADDRESS, store)


def test_what_a_killed_first_publication_left_is_no_plain_folder(tmp_path: Path) -> None:
    store, folder = MemoryStore(), tmp_path / "copy"
    folder.mkdir()
    (folder / "study.toml").write_text("seed = 1")
    WorkingCopy(RemoteFolder(ADDRESS, store), folder).publish()
    store.delete("index.json")
    assert plain_objects(ADDRESS, store) is None
    assert plain_objects(ADDRESS, MemoryStore()) is None


def test_folders_of_beholder_below_are_passed_over(store: MemoryStore, tmp_path: Path) -> None:
    inner, folder = MemoryStore(), tmp_path / "copy"
    folder.mkdir()
    (folder / "study.toml").write_text("seed = 1")
    WorkingCopy(RemoteFolder(ADDRESS, inner), folder).publish()
    for row in inner.list().collect():
        store.put(f"study/{row['path']}", bytes(inner.get(row["path"]).bytes()))
    plain = plain_objects(ADDRESS, store)
    assert plain is not None
    assert sorted(plain.objects) == ["a.png", "deep/b.png", "prompts.csv"]


def test_a_fetch_that_was_killed_goes_on_with_what_is_missing(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beholder.storage.plain_copy.RECORDED_AFTER", 1)
    folder = tmp_path / "copy"
    copy = copy_of(store, folder)
    store.delete("deep/b.png")  # after it was listed
    with pytest.raises(StorageError, match=r"deep/b\.png was deleted meanwhile"):
        copy.update()
    assert copy_of(store, folder).update() == Transfer(1, 12)  # prompts.csv: a.png is there


def test_bytes_that_are_not_those_that_were_listed_are_refused(store: MemoryStore, tmp_path: Path) -> None:
    copy = copy_of(store, tmp_path / "copy")
    store.put("a.png", b"another")
    with pytest.raises(StorageError, match=r"a\.png was replaced meanwhile; try again"):
        copy.update()
    assert "a.png" not in files_of(tmp_path / "copy")
