"""Does the response time of an image reveal the size of its file? By fetching all images of a session.

python benchmarks/image_timing.py [--images 240] [--fetches 5]

Real image files with sides from 64 to 2,048 pixels are shown one per trial. Each is fetched when its trial comes,
and again some times; the AUC is that of the time as a guess at which of two originals was the larger. For
comparison the same with images that are encoded at their first fetch.
"""

import argparse
import hashlib
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from served import SCREEN, fill

from beholder.collect.database.address import default_url
from beholder.collect.server.application import create_app
from beholder.collect.server.service import Service
from beholder.collect.simulate.rehearsal import listening
from beholder.design.stage import run as design
from beholder.images.display import encode
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.study.study import FILE_NAME, Study, dump_study
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SIDES = (64, 128, 256, 512, 1024, 2048)
REPLICATES = 1000

Json = dict[str, Any]
Vector = NDArray[np.float64]


def main() -> None:
    """Fetch, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--images", type=int, default=240)
    parser.add_argument("--fetches", type=int, default=5)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, ", end="")
    print(f"Pillow {version('pillow')}; {options.images} images\n")
    print("| images are encoded | AUC, first fetch | AUC, median fetch | median ms, side ≤ 256 | > 256 |")
    print("|---|---|---|---|---|")
    for name, served in (("before they are served", None), ("at the first fetch", encoding_at_fetch)):
        with tempfile.TemporaryDirectory(prefix="beholder-timing-") as temporary:
            sides, times = fetched(Path(temporary), options.images, options.fetches, served)
        first, median = times[:, 0], np.median(times, axis=1)
        small, large = (np.median(first[part]) for part in (sides <= 256, sides > 256))
        aucs = f"{auc_with_interval(sides, first)} | {auc_with_interval(sides, median)}"
        print(f"| {name} | {aucs} | {small:.2f} | {large:.2f} |")


def auc_with_interval(sides: Vector, times: Vector) -> str:
    """Return the AUC with its 95 % bootstrap confidence interval over images."""
    rng = np.random.default_rng(0)
    replicates = [rng.integers(len(sides), size=len(sides)) for _ in range(REPLICATES)]
    low, high = np.quantile([auc(sides[rows], times[rows]) for rows in replicates], [0.025, 0.975])
    return f"{auc(sides, times):.2f} [{low:.2f}, {high:.2f}]"


def auc(sides: Vector, times: Vector) -> float:
    """Return how often, over all pairs of images of different size, the larger took longer; ties count half."""
    larger = sides[:, None] > sides[None, :]
    later = (times[:, None] > times[None, :]) + 0.5 * (times[:, None] == times[None, :])
    return float(later[larger].mean())


def fetched(
    place: Path, images: int, fetches: int, served: Callable[[Service], None] | None
) -> tuple[Vector, Vector]:
    """Sides of the originals, and ms of each fetch, ``(images, fetches)``, in the order of a session."""
    folder = make_study(place, images)
    url = default_url(folder)
    fill(folder, url)
    app = create_app(folder, url, limited=False)
    service: Service = app.state.service
    if served is not None:
        served(service)
    sides: list[int] = []
    times: list[list[float]] = []
    with listening(app) as address, httpx.Client(base_url=address, timeout=30) as client:
        state = first_trial(client)
        plan = slot_images(service)
        while state["step"] == "trial":
            token = state["trial"]["images"][0]["token"]
            sides.append(plan[len(sides)])
            times.append([timed(client, token) for _ in range(fetches)])
            state = answer(client, state)
    service.database.engine.dispose()
    return np.array(sides, float), np.array(times)


def encoding_at_fetch(service: Service) -> None:
    """Serve as if nothing had been prepared: an image is encoded at its first request."""
    ready: dict[str, bytes] = {}

    def content(image: str) -> bytes:
        if image not in ready:
            path = service.folder / service.images.path_of(image)
            study = service.study
            ready[image] = encode(path, service.side, study.collect.image_quality, study.images.background)
        return ready[image]

    service.images.content = content  # type: ignore[method-assign]


def timed(client: httpx.Client, token: str) -> float:
    """Return the response time of an image in ms."""
    began = time.perf_counter()
    client.get(f"/api/image/{token}").raise_for_status()
    return 1000 * (time.perf_counter() - began)


def make_study(place: Path, images: int) -> Path:
    """A realism study with one slot that shows every image."""
    rng = np.random.default_rng(1)
    rows = [paint(place, number, real=number % 2 == 0, rng=rng) for number in range(images)]
    folder = place / "study"
    folder.mkdir()
    question = RealismQuestion(name="q", design=Design(raters=1, trials=images))
    study = Study(name="timing", title="Timing", seed=1, questions=(question,))
    (folder / FILE_NAME).write_text(dump_study(study), encoding="utf-8")
    prompts: list[Json] = [{"prompt": "p", "text": "noise"}]
    frames = {"prompts": TABLES["prompts"].frame(prompts), "images": TABLES["images"].frame(rows)}
    Store(folder).write(frames, Provenance("new", {}, 0, {}))
    design(folder)
    return folder


def paint(place: Path, number: int, *, real: bool, rng: np.random.Generator) -> Json:
    """A file of smooth colours, and its row of the table."""
    side = int(rng.choice(SIDES))
    colours = rng.integers(0, 255, (16, 16, 3), dtype=np.uint8)
    path = place / f"{number:04d}.{'jpg' if real else 'png'}"
    Image.fromarray(colours).resize((side, side), Image.Resampling.BICUBIC).save(path)
    return {
        "image": f"{side}/{number}",
        "path": str(path),
        "generator": "real" if real else "noise",
        "real": real,
        "gold": False,
        "prompt": None if real else "p",
        "width": side,
        "height": side,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def slot_images(service: Service) -> Sequence[int]:
    """The sides of the originals in the order of the slot; an image's id begins with its side."""
    return [int(trial.images[0].split("/")[0]) for trial in service.catalogue.slot("q", 0).values()]


def first_trial(client: httpx.Client) -> Json:
    """Come in."""
    state = client.post("/api/enter", json={"parameters": {}, "path": "/", "language": "en"}).json()
    consent = {name: state["consent"][name] for name in ("hash", "version", "language")}
    client.post("/api/consent", json=consent | {"agreed": True}).raise_for_status()
    client.post("/api/check", json=SCREEN).raise_for_status()
    state = client.post("/api/begin", json={}).raise_for_status().json()
    return dict(state)


def answer(client: httpx.Client, state: Json) -> Json:
    """Answer, and go on; past a break, too."""
    trial = state["trial"]
    answers = [{"aspect": "realism", "choice": "real"}]
    body = {"trial": trial["trial"], "attempt": trial["attempt"], "key": os.urandom(16).hex(), "said": answers}
    reply = (
        client.post("/api/answer", json=body | {"marks": [], "seconds": 1.5}).raise_for_status().json()["state"]
    )
    if reply["step"] == "break":
        reply = client.post("/api/break", json={}).raise_for_status().json()
    return dict(reply)


if __name__ == "__main__":
    main()
