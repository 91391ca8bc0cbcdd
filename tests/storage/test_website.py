"""Static pages in storage, kept in memory: order, content types, what is deleted and what is refused."""

from pathlib import Path

import obstore
import pytest
from obstore.store import MemoryStore

from beholder.errors import StorageError
from beholder.storage.transfer import Transfer
from beholder.storage.website import MANIFEST, Website

ADDRESS = "s3://bucket/site"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for path, text in {
        "index.html": "front",
        "entries/aurora.html": "aurora",
        "assets/look.css": "body {}",
        "images/0.webp": "picture",
        "data/board.csv": "a,b",
        ".hidden": "x",
        "LICENSE": "free",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def names(store: MemoryStore) -> list[str]:
    return sorted(row["path"] for row in store.list().collect())


def content_type(store: MemoryStore, path: str) -> str:
    return str(store.get(path).attributes["Content-Type"])


def test_pages_have_their_own_names_and_content_types(pages: Path) -> None:
    store = MemoryStore()
    assert Website(ADDRESS, store).publish(pages) == Transfer(6, 32)
    shown = ["LICENSE", "assets/look.css", MANIFEST, "data/board.csv", "entries/aurora.html"]
    assert names(store) == [*shown, "images/0.webp", "index.html"]
    assert bytes(store.get("index.html").bytes()) == b"front"
    assert content_type(store, "index.html") == "text/html; charset=utf-8"
    assert content_type(store, "assets/look.css") == "text/css; charset=utf-8"
    assert content_type(store, "images/0.webp") == "image/webp"
    assert content_type(store, "LICENSE") == "application/octet-stream"


def test_only_what_changed_is_stored_and_only_what_was_published_is_deleted(pages: Path) -> None:
    store = MemoryStore()
    Website(ADDRESS, store).publish(pages)
    store.put("robots.txt", b"theirs")
    assert Website(ADDRESS, store).publish(pages) == Transfer(0, 0)
    (pages / "index.html").write_text("news")
    (pages / "entries" / "aurora.html").unlink()
    assert Website(ADDRESS, store).publish(pages) == Transfer(1, 4)
    assert "entries/aurora.html" not in names(store)
    assert bytes(store.get("robots.txt").bytes()) == b"theirs"
    (pages / "robots.txt").write_text("ours")
    with pytest.raises(StorageError, match=r"someone else stored: robots\.txt"):
        Website(ADDRESS, store).publish(pages)
    assert bytes(store.get("robots.txt").bytes()) == b"theirs"


@pytest.mark.parametrize("stop_at", ["entries/aurora.html", "images/0.webp", "index.html"])
def test_a_killed_publication_never_shows_half_a_site_and_is_completed_later(
    pages: Path, stop_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    (pages / "old.html").write_text("old")
    Website(ADDRESS, store).publish(pages)
    before = bytes(store.get("index.html").bytes())
    (pages / "old.html").unlink()
    for path in ("index.html", "entries/aurora.html", "images/0.webp"):
        (pages / path).write_text("second " + path)
    (pages / "new.html").write_text("new")
    put = obstore.put

    def killed(at: MemoryStore, path: str, *rest: object, **options: object) -> object:
        if path == stop_at:
            raise KeyboardInterrupt
        return put(at, path, *rest, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(obstore, "put", killed)
        with pytest.raises(KeyboardInterrupt):
            Website(ADDRESS, store).publish(pages)
    assert bytes(store.get("index.html").bytes()) == before
    assert bytes(store.get("old.html").bytes()) == b"old"  # the old front page leads to it
    (pages / "new.html").unlink()  # what the killed publication may have stored goes, too
    Website(ADDRESS, store).publish(pages)
    assert {"old.html", "new.html"} & set(names(store)) == set()
    for path in ("index.html", "entries/aurora.html", "images/0.webp"):
        assert bytes(store.get(path).bytes()).decode() == "second " + path


def test_an_address_with_other_objects_is_left_alone(pages: Path) -> None:
    store = MemoryStore()
    store.put("cat.png", b"1")
    with pytest.raises(StorageError, match=r"no site of beholder, such as cat\.png"):
        Website(ADDRESS, store).publish(pages)
    assert names(store) == ["cat.png"]


def test_a_folder_without_a_front_page_is_no_site(pages: Path) -> None:
    (pages / "index.html").unlink()
    with pytest.raises(StorageError, match=r"has no index\.html"):
        Website(ADDRESS, MemoryStore()).publish(pages)


def test_of_two_who_publish_at_once_one_is_refused(pages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    first = Website(ADDRESS, store)
    base = first.check()
    Website(ADDRESS, store).publish(pages)
    (pages / "index.html").write_text("mine")
    monkeypatch.setattr(first, "check", lambda: base)  # it looked before the other published
    monkeypatch.setattr(first, "_names", set)
    with pytest.raises(StorageError, match="changed by someone else meanwhile"):
        first.publish(pages)
    assert bytes(store.get("index.html").bytes()) == b"front"
