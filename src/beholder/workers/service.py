"""The worker's side in Python: what it serves, and the reply to each request."""

import resource
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from beholder.errors import RefusalError, UserError
from beholder.workers.frames import Frame, FrameError
from beholder.workers.identity import Identity, Task
from beholder.workers.messages import ImageReply, ImageRequest, Usage, Vectors, image_frame, vectors_frame

Inpaint = Callable[[Sequence[bytes], Sequence[bytes], Sequence[str], Sequence[int]], Sequence[bytes]]
"""From the files of images, the files of their masks, prompts and seeds to the files of images."""


@dataclass(frozen=True)
class Service:
    """What a worker serves: its name, weights and settings, and a function for each task that it can do."""

    name: str
    weights: str | None = None
    settings: dict[str, Any] | None = None
    generate: Callable[[ImageRequest], ImageReply] | None = None
    inpaint: Inpaint | None = None
    score: Callable[[Sequence[bytes], Sequence[str | None]], Sequence[float]] | None = None
    features: Callable[[Sequence[bytes]], Vectors] | None = None
    embed: Callable[[Sequence[str]], Vectors] | None = None

    def identity(self, heartbeat: float | None = None) -> Identity:
        """Who it is, as its greeting says."""
        functions: dict[Task, object] = {
            "generate": self.generate,
            "inpaint": self.inpaint,
            "score": self.score,
            "features": self.features,
            "embed": self.embed,
        }
        tasks = tuple(task for task, function in functions.items() if function is not None)
        return Identity(
            name=self.name,
            tasks=tasks,
            weights=self.weights,
            settings=self.settings or {},
            heartbeat=heartbeat,
        )


def reply_to(request: Frame, service: Service) -> Frame:
    """Return the reply to a request; a failure becomes a reply, and its traceback goes to stderr."""
    number = request.header.get("id")
    began, cpu = time.monotonic(), time.process_time()
    try:
        reply = _answer(request, service)
    except RefusalError as refusal:
        return Frame({"id": number, "refused": str(refusal)})
    except UserError as error:
        return Frame({"id": number, "error": str(error)})
    except (FrameError, ValidationError) as fault:
        return Frame({"id": number, "error": f"the request is not valid: {fault}"})
    except Exception as error:  # noqa: BLE001 - whatever a network raises: the worker goes on
        traceback.print_exc(file=sys.stderr)
        return Frame({"id": number, "error": f"{type(error).__name__}: {error}"})
    usage = Usage(
        seconds=time.monotonic() - began,
        cpu_seconds=time.process_time() - cpu,
        peak_memory_mb=peak_memory_mb(),
    ).model_dump(exclude_none=True)
    return Frame({"id": number, **reply.header, "usage": usage | reply.header.get("usage", {})}, reply.blobs)


def peak_memory_mb() -> float:
    """The largest resident memory of this process so far, in megabytes.

    On Linux, without the memory of the process that started this one.
    """
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.is_file() else []
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def _answer(request: Frame, service: Service) -> Frame:
    header, task = request.header, request.header.get("task")
    if task == "generate" and service.generate:
        return image_frame(service.generate(ImageRequest.model_validate(dict(header))))
    if task == "inpaint" and service.inpaint:
        return Frame({}, tuple(service.inpaint(*_inpainted(request))))
    if task == "score" and service.score:
        prompts = header.get("prompts", [None] * len(request.blobs))
        if len(prompts) != len(request.blobs):
            raise FrameError(f"{len(prompts)} prompts for {len(request.blobs)} images")
        return Frame({"scores": [float(score) for score in service.score(request.blobs, prompts)]})
    if task == "features" and service.features:
        return vectors_frame(service.features(request.blobs))
    if task == "embed" and service.embed:
        texts = header.get("texts")
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
            raise FrameError("'texts' with at least one text is expected")
        return vectors_frame(service.embed(texts))
    raise FrameError(f"task {task!r} is not among: {', '.join(service.identity().tasks)}")


def _inpainted(request: Frame) -> tuple[tuple[bytes, ...], tuple[bytes, ...], list[str], list[int]]:
    """Images, masks, prompts and seeds of a request: the blobs are the images, then their masks."""
    prompts, seeds = (request.header.get(name) for name in ("prompts", "seeds"))
    if not (isinstance(prompts, list) and isinstance(seeds, list) and len(prompts) == len(seeds)):
        raise FrameError("'prompts' and 'seeds', one of each per image, are expected")
    count = len(prompts)
    if len(request.blobs) != 2 * count:
        raise FrameError(f"{count} images and their masks are expected, found {len(request.blobs)} blobs")
    return request.blobs[:count], request.blobs[count:], prompts, [int(seed) for seed in seeds]
