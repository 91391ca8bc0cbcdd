"""One image: asked for, checked, and described by its rows, whatever becomes of it."""

import json
import time
from dataclasses import dataclass

from beholder.errors import RefusalError, WorkerError
from beholder.generate.energy import Meter
from beholder.generate.journal import Generation, Row
from beholder.generate.plan import Job
from beholder.generators.checked import check_image
from beholder.generators.generator import Generator
from beholder.tables.schemas.generate import DONE, FAILED, REFUSED
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, Usage

LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a generator replied to one request, unchecked."""

    job: Job
    reply: ImageReply | RefusalError | WorkerError
    seconds: float = 0.0
    energy: tuple[float, str] | None = None


def ask(job: Job, generator: Generator, meter: Meter) -> Attempt:
    """Ask the generator for an image."""
    meter.start()
    began = time.monotonic()
    reply: ImageReply | RefusalError | WorkerError
    try:
        reply = generator.generate(job.request)
    except (RefusalError, WorkerError) as error:
        reply = error
    return Attempt(job, reply, time.monotonic() - began, meter.stop())


def check(attempt: Attempt, identity: Identity | None) -> tuple[Generation, bytes | None]:
    """Check an image and return its rows and bytes; refusals and failures have rows with their reason."""
    job, reply, content = attempt.job, attempt.reply, None
    began = time.monotonic()
    rewritten = None
    if isinstance(reply, ImageReply):
        try:
            image = check_image(reply.content, job.request)
            content, rewritten = image.content, reply.prompt
            status: Row = {"status": DONE, "path": f"{job.path}{image.suffix}", "sha256": image.sha256}
        except WorkerError as error:
            status = _failure(error)
    elif isinstance(reply, RefusalError):
        status = {"status": REFUSED, "fault": "refused", "reason": str(reply)[:LONGEST_REASON]}
    else:
        status = _failure(reply)
    row = planned_row(job, identity) | {"rewritten": rewritten} | status
    usage = reply.usage if isinstance(reply, ImageReply) else Usage()
    seconds = attempt.seconds + (time.monotonic() - began if attempt.seconds else 0.0)
    return Generation(row, _cost(job, seconds, usage, attempt.energy)), content


def planned_row(job: Job, identity: Identity | None) -> Row:
    """Return the columns that do not depend on what becomes of the image."""
    return {
        **_key_columns(job),
        "text": job.entry.text,
        "style": job.entry.style,
        "sent": job.request.prompt,
        "seed": job.request.seed,
        "width": job.request.width,
        "height": job.request.height,
        "kind": job.generator.kind,
        **identity_columns(identity),
    }


def identity_columns(identity: Identity | None) -> Row:
    """Return what a generator says about itself."""
    if identity is None:
        return {"model": None, "weights": None, "settings": None}
    settings = json.dumps(identity.settings, sort_keys=True, ensure_ascii=False)
    return {"model": identity.name, "weights": identity.weights, "settings": settings}


def _key_columns(job: Job) -> Row:
    return dict(zip(("generator", "prompt", "sample"), job.key, strict=True))


def _failure(error: WorkerError) -> Row:
    return {"status": FAILED, "fault": error.fault, "reason": str(error)[:LONGEST_REASON]}


def _cost(job: Job, seconds: float, usage: Usage, energy: tuple[float, str] | None) -> Row:
    """Return the row of costs; a worker's own figure of its energy counts only with its method."""
    settings = job.generator
    if usage.energy_wh is not None and usage.energy_method:
        energy = (usage.energy_wh, usage.energy_method)
    price = None
    if seconds and (settings.cost_per_image is not None or settings.cost_per_hour is not None):
        price = (settings.cost_per_image or 0.0) + (settings.cost_per_hour or 0.0) * seconds / 3600
    return {
        **_key_columns(job),
        "seconds": seconds,
        "cpu_seconds": usage.cpu_seconds,
        "peak_memory_mb": usage.peak_memory_mb,
        "energy_wh": energy[0] if energy else None,
        "energy_method": energy[1] if energy else None,
        "cost": price,
        "currency": settings.currency if price is not None else None,
    }
