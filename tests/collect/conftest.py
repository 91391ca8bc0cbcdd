"""Studies with image files, served over HTTP on this machine, and visitors who go through their pages."""

import asyncio
import hashlib
import json
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Any
from unittest.mock import patch

import httpx
import numpy as np
import polars as pl
import pytest
import uvicorn.server
from PIL import Image, PngImagePlugin

from beholder.collect.database.address import default_url
from beholder.collect.display import served_images
from beholder.collect.exchange.load import load
from beholder.collect.server.application import create_app
from beholder.collect.server.service import Service
from beholder.collect.session.plausibility import intended_exposure
from beholder.collect.simulate.rehearsal import listening
from beholder.design.stage import run as design
from beholder.images.display import encode
from beholder.study.collecting import Collecting
from beholder.study.kinds.catalogue import KINDS, AnyQuestion
from beholder.study.kinds.kind import Response
from beholder.study.study import FILE_NAME, Pay, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Json = dict[str, Any]

GENERATORS = ("zephyr", "quasar", "nimbus")
SECRET_NOTE = "made-by-zephyr"
SCREEN = {
    "screen_width": 1920,
    "screen_height": 1080,
    "viewport_width": 1600,
    "viewport_height": 900,
    "pixel_ratio": 1,
    "zoom": 1,
    "frame_ms": 16.7,
    "touch": False,
    "user_agent": "test",
}


@dataclass
class Visitor:
    """A browser with a cookie jar: goes through the pages step by step, answering as it is told."""

    client: httpx.Client
    study: Study
    state: Json = field(default_factory=dict)
    replies: list[httpx.Response] = field(default_factory=list)
    ponder: Callable[[], None] = lambda: None
    """makes it so that half a minute has passed since the trial was sent"""

    def enter(self, path: str = "/", language: str = "en", **parameters: str) -> httpx.Response:
        body = {"parameters": parameters, "path": path, "language": language}
        return self.keep(self.client.post("/api/enter", json=body))

    def keep(self, reply: httpx.Response) -> httpx.Response:
        """Remember the reply, and the state in it."""
        self.replies.append(reply)
        if reply.status_code == 200:
            content = reply.json()
            self.state = content.get("state", content)
        return reply

    def post(self, path: str, **body: object) -> httpx.Response:
        if path == "answer":
            self.ponder()
        return self.keep(self.client.post(f"/api/{path}", json=body))

    def get(self, path: str) -> httpx.Response:
        reply = self.client.get(f"/api/{path}")
        return self.keep(reply) if path == "state" else reply

    def consent(self, *, agreed: bool = True) -> httpx.Response:
        consent = self.state["consent"]
        return self.post(
            "consent", agreed=agreed, **{name: consent[name] for name in ("hash", "version", "language")}
        )

    def begin(self, path: str = "/", **parameters: str) -> "Visitor":
        """From the link to the first trial."""
        assert self.enter(path, **parameters).status_code == 200
        self.consent()
        self.post("check", **SCREEN)
        self.post("begin")
        assert self.state["step"] == "trial", self.state
        return self

    @property
    def trial(self) -> Json:
        trial: Json = self.state["trial"]
        return trial

    def question(self) -> AnyQuestion:
        """The question of the current trial; the tests name questions by their kinds or have one only."""
        same = [q for q in self.study.questions if q.kind == self.trial["kind"] and q.text == self.trial["text"]]
        return same[0]

    def body(self, response: Response | None = None, **changes: object) -> Json:
        """A body that answers the current trial: as an attention check asks, or always alike."""
        trial, question = self.trial, self.question()
        kind = KINDS[question.kind]
        if response is None:
            instruction = trial["instruction"]
            response = kind.lazy(question) if instruction is None else kind.obey(question, instruction)
        body: Json = {
            "trial": trial["trial"],
            "attempt": trial["attempt"],
            "key": token_hex(16),
            "said": [
                {
                    name: value
                    for name in ("aspect", "choice", "value", "ranking")
                    if (value := getattr(answer, name)) is not None
                }
                for answer in response.answers
            ],
            "marks": [
                {
                    "aspect": mark.aspect,
                    "kind": mark.kind,
                    "image": mark.image,
                    "x": mark.point[0] if mark.point else None,
                    "y": mark.point[1] if mark.point else None,
                    "word": mark.word,
                    "at_ms": mark.at_ms,
                }
                for mark in response.marks
            ],
            "seconds": 1.5,
        }
        limited = intended_exposure(question, trial["exposure_ms"])
        if limited is not None:
            body["exposure"] = exposure(limited)
        return body | changes

    def answer(self, response: Response | None = None, **changes: object) -> httpx.Response:
        return self.post("answer", **self.body(response, **changes))

    def choose(self, choice: str) -> httpx.Response:
        """Answer a single-choice question."""
        body = self.body()
        return self.post("answer", **(body | {"said": [{"aspect": body["said"][0]["aspect"], "choice": choice}]}))

    def step(self) -> httpx.Response:
        """Do whatever the page would do next."""
        step = self.state["step"]
        if step == "consent":
            return self.consent()
        if step == "check":
            return self.post("check", **SCREEN)
        if step == "instructions":
            return self.post("begin")
        if step == "break":
            return self.post("break")
        if step == "debrief":
            return self.post("debrief", clear=4, fair=5, comment="fine")
        assert step == "trial", step
        return self.answer()

    def walk(self, until: str = "done", *, most: int = 1000) -> "Visitor":
        """Go on until a step is reached, or so many steps are done."""
        for _ in range(most):
            if self.state["step"] == until:
                break
            reply = self.step()
            assert reply.status_code == 200, reply.text
        return self


def exposure(ms: float, **changes: object) -> Json:
    """What a presenter on a screen of 60 Hz says of an exposure."""
    frames = max(round(ms * 0.06), 1)
    shown_ms = frames / 0.06
    return {
        "intended_ms": ms,
        "intended_frames": frames,
        "shown_ms": shown_ms,
        "shown_frames": frames,
        "dropped_frames": 0,
        "frame_ms": 1000 / 60,
    } | changes


@dataclass
class Served:
    """A study that is being served."""

    folder: Path
    url: str
    study: Study
    address: str
    service: Service
    stack: ExitStack

    def client(self, **settings: Any) -> httpx.Client:  # noqa: ANN401 - httpx's own
        return self.stack.enter_context(httpx.Client(base_url=self.address, timeout=30, **settings))

    def visitor(self) -> Visitor:
        """Someone who takes their time."""
        return Visitor(self.client(), self.study, ponder=lambda: self.age_trials(30))

    def robot(self) -> Visitor:
        """Someone who answers as fast as a machine can."""
        return Visitor(self.client(), self.study)

    def age_trials(self, seconds: float) -> None:
        """From now on every current trial was sent so much earlier."""
        with closing(sqlite3.connect(self.folder / "collect.sqlite", timeout=30)) as connection, connection:
            connection.execute("pragma synchronous = off")
            connection.execute("update sessions set presented = presented - ?", [seconds])

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the database behind the server's back."""
        with closing(sqlite3.connect(self.folder / "collect.sqlite")) as connection:
            return connection.execute(query).fetchall()

    def count(self, table: str) -> int:
        return int(self.rows(f"select count(*) from {table}")[0][0])

    def counts(self) -> dict[str, int]:
        """Rows of everything that a visitor can write."""
        return {name: self.count(name) for name in ("responses", "skips", "comments", "events", "sessions")}

    def move_clock(self, seconds: float) -> None:
        """From now on the server lives so much later."""
        now = self.service.now
        self.service.now = lambda: now() + seconds  # type: ignore[method-assign]


Serve = Callable[..., Served]


@dataclass
class Pressed:
    """What a crowd saw of a server whose database was held."""

    statuses: Counter[int] = field(default_factory=Counter)
    slowest: float = 0.0
    without_retry: int = 0
    apart: dict[str, float] = field(default_factory=dict)

    def note(self, reply: httpx.Response) -> None:
        """Note a reply that needs the database."""
        self.statuses[reply.status_code] += 1
        self.slowest = max(self.slowest, reply.elapsed.total_seconds())
        self.without_retry += reply.status_code == 503 and "retry-after" not in reply.headers


@pytest.fixture
def press() -> Callable[..., Pressed]:
    """Let more clients than there are threads ask a server, and look at what needs no database."""

    def run(address: str, cookie: str, seconds: float, clients: int = 60) -> Pressed:
        pressed, over = Pressed(), threading.Event()

        def insist() -> None:
            with httpx.Client(base_url=address, cookies={"beholder": cookie}, timeout=60, verify=False) as client:
                while not over.is_set():
                    pressed.note(client.get("/api/state"))

        with ThreadPoolExecutor(clients) as pool, httpx.Client(base_url=address, timeout=60) as client:
            futures = [pool.submit(insist) for _ in range(clients)]
            time.sleep(0.5)  # by then all threads for the database are taken
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for path in ("/api/health", "/static/app.js", "/", "/api/texts/en"):
                    reply = client.get(path)
                    assert reply.status_code == 200
                    pressed.apart[path] = max(pressed.apart.get(path, 0.0), reply.elapsed.total_seconds())
                time.sleep(0.1)
            assert client.get("/api/ready").status_code == 503
            over.set()
            for future in futures:
                future.result(60)
        return pressed

    return run


class BriskAsyncio:
    """asyncio for servers that look ten times as often whether they are to end: a test waits for it."""

    def __getattr__(self, name: str) -> object:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 10)


@pytest.fixture(scope="session", autouse=True)
def _servers_end_soon() -> Iterator[None]:
    with patch.object(uvicorn.server, "asyncio", BriskAsyncio()):
        yield


@pytest.fixture(scope="session")
def picture_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small images of several formats and sizes, full of metadata that gives away where they come from."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(3)
    for generator in (*GENERATORS, "bad", "real"):
        (folder / generator).mkdir()
        size = (48, 40) if generator == "real" else (40, 40)
        for number in range(12):
            image = Image.fromarray(rng.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8))
            _save_with_metadata(image, folder / generator / f"{generator}-{number:02d}", real=generator == "real")
    return folder


def _save_with_metadata(image: Image.Image, stem: Path, *, real: bool) -> None:
    if real:
        exif = Image.Exif()
        exif[0x010E] = SECRET_NOTE
        image.save(stem.with_suffix(".jpg"), quality=95, exif=exif, comment=SECRET_NOTE.encode())
    else:
        note = PngImagePlugin.PngInfo()
        note.add_text("parameters", SECRET_NOTE)
        image.save(stem.with_suffix(".png"), pnginfo=note, icc_profile=SECRET_NOTE.encode() * 20)


@pytest.fixture(scope="session")
def drawn_studies(picture_files: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a study with its trials drawn, and its database filled, once; whoever uses it copies it."""
    made: dict[str, Path] = {}

    def make(study: Study, generators: Sequence[str]) -> Path:
        text = dump_study(study)
        key = json.dumps([text, generators])
        if key in made:
            return made[key]
        folder = tmp_path_factory.mktemp("drawn")
        (folder / FILE_NAME).write_text(text, encoding="utf-8")
        rows = [row for generator in generators for row in _image_rows(picture_files, generator)]
        prompts: list[Json] = [{"prompt": f"p{p:02d}", "text": f"a red cube number {p}"} for p in range(12)]
        frames: dict[str, pl.DataFrame] = {
            "prompts": TABLES["prompts"].frame(prompts),
            "images": TABLES["images"].frame(rows),
        }
        Store(folder).write(frames, Provenance("new", {}, 0, {}))
        design(folder)
        load(folder, default_url(folder))
        made[key] = folder
        return folder

    return make


@pytest.fixture
def study_folder(drawn_studies: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Make a study with its trials drawn, and its database filled."""

    def make(
        *questions: AnyQuestion,
        name: str = "served",
        collect: Json | None = None,
        pay: Json | None = None,
        gold: bool = True,
        generators: Sequence[str] = GENERATORS,
    ) -> Path:
        folder = tmp_path / name
        shutil.rmtree(folder, ignore_errors=True)
        study = Study(
            name="test",
            title="A test",
            seed=1,
            pay=Pay.model_validate(pay or {}),
            collect=Collecting.model_validate(collect or {}),
            questions=questions,
        )
        shutil.copytree(drawn_studies(study, [*generators, *(("bad",) if gold else ()), "real"]), folder)
        with closing(sqlite3.connect(folder / "collect.sqlite")) as connection, connection:
            for (secret,) in connection.execute("select name from secrets").fetchall():
                connection.execute("update secrets set value = ? where name = ?", [token_urlsafe(32), secret])
        return folder

    return make


def _image_rows(pictures: Path, generator: str) -> list[Json]:
    real = generator == "real"
    return [
        {
            "image": f"{generator}/{number:02d}",
            "path": str(path),
            "generator": generator,
            "real": real,
            "gold": generator == "bad",
            "prompt": None if real else f"p{number:02d}",
            "width": 48 if real else 40,
            "height": 40,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for number, path in enumerate(sorted((pictures / generator).iterdir()))
    ]


@pytest.fixture
def serve(study_folder: Callable[..., Path]) -> Iterator[Serve]:
    """Make a study and serve it until the test ends."""
    with ExitStack() as stack:

        def make(
            *questions: AnyQuestion,
            limited: bool = True,
            prepare: Callable[[Path], None] = lambda _folder: None,
            **settings: Any,  # noqa: ANN401
        ) -> Served:
            folder = study_folder(*questions, **settings)
            prepare(folder)
            url = default_url(folder)
            with patch.object(served_images, "encode", encode_once):
                app = create_app(folder, url, limited=limited)
            address = stack.enter_context(listening(app))
            service: Service = app.state.service
            stack.callback(service.database.engine.dispose)
            return Served(folder, url, service.study, address, service, stack)

        yield make


def encode_once(path: Path, side: int, quality: int, background: str) -> bytes:
    """Encode an image as a server does, unless one did before: the studies share their images."""
    content = path.read_bytes()
    key = (hashlib.sha256(content).hexdigest(), side, quality, background)
    if key not in ENCODED:
        ENCODED[key] = encode(path, side, quality, background)
    return ENCODED[key]


ENCODED: dict[tuple[str, int, int, str], bytes] = {}
