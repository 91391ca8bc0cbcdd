"""The index of a folder."""

from pathlib import PurePosixPath

import pytest

from beholder.errors import ForeignIndexError, StorageError
from beholder.storage.index import Entry, Index, is_inside, is_published


def test_an_index_is_read_as_it_was_written_and_equal_folders_have_equal_bytes() -> None:
    files = {"tables/images.parquet": Entry("ab" * 32, 7), "study.toml": Entry("cd" * 32, 3)}
    index = Index(files)
    assert Index.from_json(index.to_json(), where="here").files == files
    assert Index(dict(reversed(files.items()))).to_json() == index.to_json()


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"3", b'{"files": {}}', b'{"beholder": 1, "files": {"a": 3}}', b"\xff", b"[" * 100_000],
)
def test_another_document_is_no_index(text: bytes) -> None:
    with pytest.raises(ForeignIndexError, match=r"s3://b/index\.json is not an index"):
        Index.from_json(text, where="s3://b/index.json")


def test_a_later_form_says_what_to_do() -> None:
    with pytest.raises(StorageError, match="install a newer beholder"):
        Index.from_json(b'{"beholder": 2, "files": {}}', where="here")


@pytest.mark.parametrize("path", ["../secret", "a/../../b", "/etc/passwd", "", "a\\..\\b"])
def test_an_index_names_no_file_outside_of_its_folder(path: str) -> None:
    assert not is_inside(path)
    with pytest.raises(StorageError, match="outside"):
        Index.from_json(Index({path: Entry("ab" * 32, 1)}).to_json(), where="here")


@pytest.mark.parametrize(
    ("path", "published"),
    [
        ("study.toml", True),
        ("tables/answers.parquet", True),
        ("images/aurora/0.png", True),
        ("collect.sqlite", False),
        ("collect.sqlite-wal", False),
        ("rehearsal/collect.sqlite", False),
        ("cache/ab.webp", False),
        ("tables/.answers.parquet.x1.tmp", False),
        (".DS_Store", False),
    ],
)
def test_databases_caches_and_hidden_files_stay_on_the_machine(path: str, published: bool) -> None:
    assert is_published(PurePosixPath(path)) is published
