"""Small studies that many tests share: one with made-up rows, one with really painted images."""

import fcntl
import hashlib
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import settings
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from beholder.report.charts.still import StillDrawer, draw_still
from beholder.report.charts.vega_lite import Spec
from beholder.simulate.world import Painted, World, paint_world, write_ground_truth
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.study import FILE_NAME, Analysis, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

# "steady" tries the same examples on every machine; "search" (HYPOTHESIS_PROFILE=search) looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

IMAGES = Provenance("new", {}, 0, {})

BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the pages first: of the two processes, none shall end with half a minute of one test."""
    items.sort(key=lambda item: "docs" not in item.path.parts)


class DrawerHere:
    """The methods of a still drawer that draws in this process, where Vega has to start only once."""

    specs: Sequence[Spec] = ()

    def __enter__(self) -> "DrawerHere":
        return self

    def begin(self, specs: Sequence[Spec]) -> None:
        self.specs = specs

    def drawings(self) -> list[str]:
        return [draw_still(spec) for spec in self.specs]

    def __exit__(self, *_: object) -> None:
        pass


METHODS = ("__enter__", "begin", "drawings", "__exit__")
BY_A_PROCESS = {name: getattr(StillDrawer, name) for name in METHODS}


@pytest.fixture(scope="session", autouse=True)
def _stills_are_drawn_here() -> Iterator[None]:
    """A report of a test starts no process for its charts; ``drawing_process`` gives it one again."""
    with patch.multiple(StillDrawer, **{name: getattr(DrawerHere, name) for name in METHODS}):
        yield


@contextmanager
def drawing_process() -> Iterator[None]:
    """Let charts be drawn by a process, as for a user."""
    with patch.multiple(StillDrawer, **BY_A_PROCESS):
        yield


@dataclass(frozen=True)
class SmallWorld:
    """A painted world: 5 generators and a known-bad one × 24 prompts, 60 real images, 32 pixels wide."""

    world: World
    folder: Path
    painted: Sequence[Painted]


MakeOnce = Callable[[str, Callable[[Path], None]], Path]
"""Takes the name of a folder and what fills it; returns the filled folder."""


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory) -> MakeOnce:
    """Make a folder once for all processes that run the tests: the first to need it fills it, the others wait."""
    own = tmp_path_factory.getbasetemp()
    common = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, finished = common / name, common / f"{name}.finished"
        with (common / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not finished.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a process that failed
                folder.mkdir()
                fill(folder)
                finished.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def small_world(make_once: MakeOnce) -> SmallWorld:
    world = World(prompts=24, reals=60, size=32, seed=5)

    def fill(folder: Path) -> None:
        painted = paint_world(world, folder / "images")
        (folder / "painted.pickle").write_bytes(pickle.dumps(painted))

    folder = make_once("small-world", fill)
    return SmallWorld(world, folder, pickle.loads((folder / "painted.pickle").read_bytes()))


@pytest.fixture
def painted_study(small_world: SmallWorld, tmp_path: Path) -> Callable[..., Path]:
    """Make a study of the small world's images, with its truth; the image files stay where they are."""

    def make(*questions: AnyQuestion, seed: int = 0, draws: int = 500, name: str = "painted") -> Path:
        folder = _folder(tmp_path / name, questions, seed, draws)
        ids = {p.prompt: hashlib.sha256(p.prompt.encode()).hexdigest()[:12] for p in small_world.painted}
        rows: list[dict[str, object]] = [
            {
                "image": p.image,
                "path": str(small_world.folder / "images" / p.file),
                "generator": p.generator,
                "real": p.real,
                "gold": p.gold,
                "prompt": ids[p.prompt],
                "width": 32,
                "height": 32,
                "sha256": p.image,
            }
            for p in small_world.painted
        ]
        prompts: list[dict[str, object]] = [{"prompt": key, "text": text} for text, key in ids.items()]
        _write_images(folder, rows, prompts)
        write_ground_truth(Store(folder), small_world.world, list(small_world.painted))
        return folder

    return make


@pytest.fixture
def bare_study(tmp_path: Path) -> Callable[..., Path]:
    """Make a study whose images are rows of a table only: named generators × prompts, real and gold ones."""

    def make(
        *questions: AnyQuestion,
        seed: int = 0,
        draws: int = 200,
        generators: Sequence[str] = ("a", "b", "c"),
        prompts: int = 8,
        reals: int = 16,
        gold: bool = False,
        styles: Sequence[str] = (),
        name: str = "bare",
    ) -> Path:
        folder = _folder(tmp_path / name, questions, seed, draws)
        rows = [
            _image(f"{generator}/{p:02d}", generator, gold=generator == "bad", prompt=f"p{p:02d}")
            | {"style": styles[p % len(styles)] if styles else None}
            for generator in (*generators, *(("bad",) if gold else ()))
            for p in range(prompts)
        ]
        rows += [_image(f"real/{r:02d}", "real", real=True) for r in range(reals)]
        _write_images(folder, rows, [{"prompt": f"p{p:02d}", "text": f"prompt {p}"} for p in range(prompts)])
        return folder

    return make


def _folder(folder: Path, questions: Sequence[AnyQuestion], seed: int, draws: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    study = Study(name="test", title="Test", seed=seed, analysis=Analysis(draws=draws), questions=tuple(questions))
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    return folder


def _image(
    image: str, generator: str, *, real: bool = False, gold: bool = False, prompt: str | None = None
) -> dict[str, object]:
    known = {"image": image, "path": f"images/{image}.png", "generator": generator, "real": real, "gold": gold}
    return known | {"prompt": prompt, "width": 8, "height": 8, "sha256": image}


def _write_images(folder: Path, images: list[dict[str, object]], prompts: list[dict[str, object]]) -> None:
    frames: dict[str, pl.DataFrame] = {
        "prompts": TABLES["prompts"].frame(prompts),
        "images": TABLES["images"].frame(images),
    }
    Store(folder).write(frames, IMAGES)


ANSWERED: dict[str, pl.DataType] = {
    "trial": pl.String(),
    "session": pl.String(),
    "attempt": pl.Int64(),
    "rater": pl.String(),
    "aspect": pl.String(),
    "choice": pl.String(),
    "value": pl.Float64(),
    "ranking": pl.List(pl.Int64),
    "exposure_ms": pl.Float64(),
    "intended_ms": pl.Float64(),
    "answer_text": pl.String(),
    "seconds": pl.Float64(),
    "role": pl.String(),
    "images": pl.List(pl.String),
    "expected": pl.String(),
    "repeats": pl.String(),
}

AspectAnswer = tuple[str, Sequence[str], str | float | Sequence[int]]
"""Who, which images, and the choice, value or ranks."""


@pytest.fixture
def answered() -> Callable[..., pl.DataFrame]:
    """Make rows as :func:`beholder.judgements.joined.answered_trials` gives them, one for each answer said."""

    def make(
        *said: AspectAnswer,
        role: str = "test",
        aspect: str = "realism",
        expected: str | None = None,
        seconds: float = 1.0,
        trials: Sequence[str] = (),
        repeats: str | None = None,
    ) -> pl.DataFrame:
        rows = []
        for n, (rater, images, what) in enumerate(said):
            answer: dict[str, object] = {"choice": what} if isinstance(what, str) else {}
            answer |= {"value": what} if isinstance(what, float) else {}
            answer |= {} if isinstance(what, str | float) else {"ranking": list(what)}
            text = (
                what
                if isinstance(what, str)
                else f"{what:g}"
                if isinstance(what, float)
                else " ".join(map(str, what))
            )
            rows.append(
                answer
                | {
                    "trial": trials[n] if trials else f"{rater}-{role}-{'+'.join(images)}-{n}",
                    "session": f"session-{rater}",
                    "attempt": 1,
                    "rater": rater,
                    "aspect": aspect,
                    "answer_text": text,
                    "seconds": seconds,
                    "role": role,
                    "images": list(images),
                    "expected": expected,
                    "repeats": repeats,
                }
            )
        return pl.DataFrame(rows, schema=ANSWERED)

    return make


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One browser for all tests of a process: Playwright runs one loop, and a second would find it running."""
    found = shutil.which("chromium")
    if found is None:
        reason = "no chromium here: the pages cannot be tried in a browser"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=BROWSER_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 files of different sizes and kinds, smooth enough to survive compression."""
    folder = tmp_path_factory.mktemp("photographs")
    rng = np.random.default_rng(3)
    for number in range(24):
        height, width = (int(side) for side in rng.integers(40, 90, 2))
        coarse = rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)
        image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
        image.save(folder / f"{number:02d}.{('png', 'jpg', 'webp', 'avif')[number % 4]}")
    return folder
