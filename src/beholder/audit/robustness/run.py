"""Scorer robustness: every scorer asked again about changed images and wrong prompts, in a worker process."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from beholder.audit.finding import Finding, nothing
from beholder.audit.material import Material
from beholder.audit.robustness.responses import measure_responses
from beholder.audit.robustness.verdicts import findings_on
from beholder.errors import WorkerError
from beholder.images.sources import ImageFile, read_pixels
from beholder.tables.schemas.audit import UNDECIDED
from beholder.workers.bundled import bundled_command
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker

MODELS = "models"
RECORD = "model.json"
"""The file by which a folder with a trained model is recognised."""


@dataclass(frozen=True, slots=True)
class AuditedScorer:
    """A scorer, by what it is called and how it is loaded."""

    name: str
    loaded_as: str


def audit_robustness(material: Material) -> Iterator[Finding]:
    """Yield a summary of every scorer, and one finding per change."""
    scorers = list(find_scorers(material))
    chosen = choose_images(material)
    if not scorers or chosen.height < material.fewest:
        yield nothing(
            f"It needs a scorer with a better end, a trained model, or --scorer NAME, and images of at least "
            f"{material.fewest} prompts."
        )
        return
    background = material.study.images.background
    pictures = [_opened(material.store.folder / path, background) for path in chosen["path"]]
    prompts: list[str | None] = [material.texts.get(prompt) for prompt in chosen["prompt"]]
    for scorer in scorers:
        yield from _audited(material, scorer, pictures, prompts)


def find_scorers(material: Material) -> Iterator[AuditedScorer]:
    """Yield the scorers that were asked for; or else those with a better end that scored, and trained models."""
    chosen = material.options.scorers or material.study.audit.scorers
    if chosen:
        yield from (AuditedScorer(_short(name), name) for name in chosen)
        return
    directed = material.table("scores").filter(pl.col("better").is_not_null())
    yield from (AuditedScorer(name, name) for name in sorted(directed["scorer"].unique()))
    for record in sorted((material.store.folder / MODELS).glob(f"*/{RECORD}")):
        yield from _trained(record.parent, record.parent.name)
    for record in sorted((material.store.folder / MODELS).glob(f"*/fold-0/{RECORD}")):
        yield from _trained(record.parent, f"{record.parent.parent.name} (fold 0)")


def choose_images(material: Material) -> pl.DataFrame:
    """Return ``prompt`` and ``path`` of one image of each of some prompts, drawn by the study's seed."""
    count = material.options.images or material.study.audit.images
    rng = np.random.default_rng([material.study.seed, 22])
    images = material.images.filter(pl.col("prompt").is_not_null()).sort("prompt", "image")
    order = rng.permutation(images.height)
    first = images[order.tolist()].unique("prompt", keep="first", maintain_order=True)
    chosen: pl.DataFrame = first.head(count).select("prompt", "path")
    return chosen


def _trained(folder: Path, name: str) -> Iterator[AuditedScorer]:
    """Yield one scorer per aspect of a trained model."""
    try:
        aspects: Sequence[str] = json.loads((folder / RECORD).read_text(encoding="utf-8"))["aspects"]
    except (OSError, ValueError, KeyError, TypeError):
        aspects = ()
    place = str(folder.resolve())
    if len(aspects) < 2:
        yield AuditedScorer(name, place)
        return
    yield from (AuditedScorer(f"{name}: {aspect}", f"{place}:{aspect}") for aspect in aspects)


def _short(name: str) -> str:
    """Return the name of a scorer; of a folder, the last two parts of its path."""
    return "/".join(Path(name).parts[-2:]) if Path(name).is_dir() else name


def _audited(
    material: Material, scorer: AuditedScorer, pictures: Sequence[Image.Image], prompts: Sequence[str | None]
) -> Iterator[Finding]:
    weights = _recorded_weights(material) | dict(material.options.weights)
    named = [part for pair in weights.items() for part in ("--weights", "=".join(pair))]
    rng = np.random.default_rng([material.study.seed, 23])
    connection = ChildConnection(bundled_command("scorer", scorer.loaded_as, *named), folder=material.store.folder)
    try:
        with Worker(connection) as worker:
            sign = -1.0 if worker.identity.settings.get("better") == "lower" else 1.0
            responses = measure_responses(
                worker.score,
                pictures,
                prompts,
                rng,
                sign=sign,
                progress=lambda done, total: material.progress(scorer.name, done, total),
            )
    except WorkerError as error:
        yield Finding(f"{scorer.name} could not be audited: {error}", UNDECIDED, scorer.name, slice="summary")
        return
    yield from findings_on(scorer.name, responses, level=material.level, fewest=material.fewest)


def _recorded_weights(material: Material) -> dict[str, str]:
    record = material.store.provenance("scores")
    weights = record.settings.get("weights") if record else None
    return {str(name): str(place) for name, place in weights.items()} if isinstance(weights, dict) else {}


def _opened(path: Path, background: str) -> Image.Image:
    return read_pixels(ImageFile(path.name, path).load()[1], background)
