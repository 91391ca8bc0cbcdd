"""One image: asked for, checked, and described by its rows, whatever becomes of it."""

import json
import time
from dataclasses import dataclass, field

from beholder.errors import RefusalError, WorkerError
from beholder.generate.energy import Meter
from beholder.generate.journal import Generation, Row
from beholder.generate.plan import Job
from beholder.generators.checked import CheckedImage, check_image
from beholder.generators.generator import Generator
from beholder.tables.schemas.generate import DONE, FAILED, REFUSED
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, Usage

LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of an image: its rows, and its bytes where there are any."""

    generation: Generation
    content: bytes | None = field(repr=False, default=None)


def attempt_image(job: Job, generator: Generator, identity: Identity, meter: Meter) -> Attempt:
    """Ask the generator for an image and check it; refusals and failures become rows with their reason."""
    meter.start()
    began = time.monotonic()
    reply: ImageReply | None = None
    image: CheckedImage | None = None
    status: Row = {"status": DONE}
    try:
        reply = generator.generate(job.request)
        image = check_image(reply.content, job.request)
        status |= {"path": f"{job.path}{image.suffix}", "sha256": image.sha256}
    except RefusalError as refusal:
        status = {"status": REFUSED, "fault": "refused", "reason": str(refusal)[:LONGEST_REASON]}
    except WorkerError as error:
        status = {"status": FAILED, "fault": error.fault, "reason": str(error)[:LONGEST_REASON]}
    seconds = time.monotonic() - began
    energy = meter.stop()
    row = planned_row(job, identity) | {"rewritten": reply.prompt if reply and image else None} | status
    cost = _cost(job, seconds, reply.usage if reply else Usage(), energy)
    return Attempt(Generation(row, cost), image.content if image else None)


def not_attempted(job: Job, identity: Identity | None, reason: str, fault: str) -> Attempt:
    """Return the rows of an image that was not asked for, since its generator does not work."""
    row = planned_row(job, identity) | {"status": FAILED, "fault": fault, "reason": reason[:LONGEST_REASON]}
    return Attempt(Generation(row, {**key_columns(job), "seconds": 0.0}))


def planned_row(job: Job, identity: Identity | None) -> Row:
    """Return the columns that do not depend on what becomes of the image."""
    return {
        **key_columns(job),
        "text": job.entry.text,
        "style": job.entry.style,
        "sent": job.request.prompt,
        "seed": job.request.seed,
        "width": job.request.width,
        "height": job.request.height,
        "kind": job.generator.kind,
        **identity_columns(identity),
    }


def key_columns(job: Job) -> Row:
    """Return the key of both tables."""
    return dict(zip(("generator", "prompt", "sample"), job.key, strict=True))


def identity_columns(identity: Identity | None) -> Row:
    """Return what a generator says about itself."""
    if identity is None:
        return {"model": None, "weights": None, "settings": None}
    settings = json.dumps(identity.settings, sort_keys=True, ensure_ascii=False)
    return {"model": identity.name, "weights": identity.weights, "settings": settings}


def _cost(job: Job, seconds: float, usage: Usage, energy: tuple[float, str] | None) -> Row:
    """Return the row of costs; a worker's own figure of its energy counts only with its method."""
    settings = job.generator
    if usage.energy_wh is not None and usage.energy_method:
        energy = (usage.energy_wh, usage.energy_method)
    price = None
    if settings.cost_per_image is not None or settings.cost_per_hour is not None:
        price = (settings.cost_per_image or 0.0) + (settings.cost_per_hour or 0.0) * seconds / 3600
    return {
        **key_columns(job),
        "seconds": seconds,
        "cpu_seconds": usage.cpu_seconds,
        "peak_memory_mb": usage.peak_memory_mb,
        "energy_wh": energy[0] if energy else None,
        "energy_method": energy[1] if energy else None,
        "cost": price,
        "currency": settings.currency if price is not None else None,
    }
