"""A synthetic world on disk: prompts, real images, generators with known flaws, and the ground truth."""

import csv
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from beholder.feedback.heatmap import encode_heatmap
from beholder.simulate.grammar import Request, draw_requests, prompt_text
from beholder.simulate.painter import FLAWLESS, Picture, Policy, paint
from beholder.simulate.policies import GENERATORS, KNOWN_BAD
from beholder.simulate.views import TRUTH
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import TRUTH_ROOM, Store

MANIFEST = "manifest.csv"

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class World:
    """The settings of a synthetic world."""

    prompts: int = 80
    reals: int = 120
    size: int = 192
    seed: int = 0
    generators: tuple[Policy, ...] = GENERATORS
    gold: Policy = KNOWN_BAD


@dataclass(frozen=True, slots=True)
class _Job:
    """One picture to be painted and saved."""

    image: str
    request: Request
    policy: Policy
    gold: bool
    size: int
    seed: tuple[int, ...]
    folder: Path

    @property
    def file(self) -> str:
        return f"{self.image}.png"


@dataclass(frozen=True, slots=True)
class Painted:
    """A saved image: its file, its prompt and its ground truth, as the tables hold it."""

    image: str
    file: str
    prompt: str
    style: str
    generator: str
    gold: bool
    real: bool
    scores: dict[str, float]
    regions: dict[str, bytes]
    words: tuple[int, ...]
    flaws: tuple[str, ...]
    size: int
    """Pixels of a side."""


def paint_world(
    world: World, folder: Path, *, workers: int = 2, progress: Progress | None = None
) -> list[Painted]:
    """Render all images into the folder, with a manifest for ``beholder new``; a seed gives the same bytes."""
    jobs = list(_jobs(world, folder))
    for job in jobs:
        (folder / job.file).parent.mkdir(parents=True, exist_ok=True)
    painted: list[Painted] = []
    fresh = get_context("spawn")  # a fork would copy the locks of Polars' threads
    with ProcessPoolExecutor(workers, mp_context=fresh) as pool:
        for done in pool.map(_paint_job, jobs, chunksize=8):
            painted.append(done)
            if progress:
                progress(len(painted), len(jobs))
    write_manifest(folder / MANIFEST, painted)
    return painted


def write_ground_truth(store: Store, world: World, painted: list[Painted]) -> None:
    """Write the ground truth into the folder ``truth`` of a study whose images were rendered."""
    scores = [
        {"scorer": TRUTH, "aspect": aspect, "image": p.image, "score": score}
        for p in painted
        for aspect, score in p.scores.items()
    ]
    regions = [
        {
            "question": TRUTH,
            "aspect": aspect,
            "image": p.image,
            "heatmap": heatmap,
            "width": p.size,
            "height": p.size,
            "raters": 0,
        }
        for p in painted
        for aspect, heatmap in p.regions.items()
    ]
    words = [
        {
            "question": TRUTH,
            "aspect": "misalignment",
            "method": TRUTH,
            "image": p.image,
            "word": word,
            "value": 1.0,
            "answers": 1,
            "raters": 1,
        }
        for p in painted
        for word in p.words
    ]
    frames: dict[str, pl.DataFrame] = {
        "scores": TABLES["scores"].frame(scores),
        "regions": TABLES["regions"].frame(regions),
        "labels": TABLES["labels"].frame(words),
    }
    settings = {"prompts": world.prompts, "reals": world.reals, "size": world.size}
    record = Provenance("simulate", settings, world.seed, {"images": store.hash("images")})
    Store(store.folder, TRUTH_ROOM).write(frames, record)


def _jobs(world: World, folder: Path) -> Iterator[_Job]:
    """Every generator renders every prompt; the real images have prompts of their own."""
    rng = np.random.default_rng([world.seed, 10])
    requests = draw_requests(world.prompts + world.reals, rng)
    for which, policy in enumerate((*world.generators, world.gold)):
        for number, request in enumerate(requests[: world.prompts]):
            name = f"{policy.name}/{number:04d}"
            gold = policy is world.gold
            yield _Job(name, request, policy, gold, world.size, (world.seed, 11, which, number), folder)
    for number, request in enumerate(requests[world.prompts :]):
        name = f"real/{number:04d}"
        yield _Job(name, request, FLAWLESS, False, world.size, (world.seed, 12, number), folder)


def _paint_job(job: _Job) -> Painted:
    picture = paint(job.request, job.policy, size=job.size, rng=np.random.default_rng(job.seed))
    Image.fromarray(picture.pixels).save(job.folder / job.file, compress_level=1)
    return describe_picture(
        picture, job.request, image=job.image, file=job.file, generator=job.policy.name, gold=job.gold
    )


def describe_picture(
    picture: Picture, request: Request, *, image: str, file: str, generator: str, gold: bool = False
) -> Painted:
    """Return the ground truth of a picture, as the tables hold it."""
    truth = picture.truth
    masks = {"implausibility": truth.implausible, "misalignment": truth.misaligned}
    return Painted(
        image=image,
        file=file,
        prompt=prompt_text(request),
        style=request.style,
        generator=generator,
        gold=gold,
        real=generator == FLAWLESS.name,
        scores={
            "plausibility": truth.plausibility,
            "alignment": truth.alignment,
            "aesthetics": truth.aesthetics,
            "overall": truth.overall,
            "detectability": truth.detectability,
        },
        regions={aspect: encode_heatmap(mask) for aspect, mask in masks.items() if mask.any()},
        words=truth.misaligned_words,
        flaws=truth.flaws,
        size=picture.pixels.shape[0],
    )


def write_manifest(path: Path, painted: list[Painted]) -> None:
    """Write the manifest of images, for ``beholder new``."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["image", "path", "generator", "real", "gold", "prompt", "style"])
        for p in painted:
            writer.writerow(
                [p.image, p.file, p.generator, str(p.real).lower(), str(p.gold).lower(), p.prompt, p.style]
            )
