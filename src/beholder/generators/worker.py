"""Workers as generators: programs of your own, pipelines of diffusers, the painter of the synthetic world."""

from pathlib import Path
from typing import Any

from beholder.study.generating import DiffusersGenerator, GeneratorSettings, PainterGenerator, WorkerGenerator
from beholder.workers.bundled import bundled_command
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.connection import Connection, Limits
from beholder.workers.http_connection import HttpConnection
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, ImageRequest


class WorkerProcess:
    """A generator behind a connection to a worker."""

    seeded = True
    concurrency = 1

    def __init__(self, connection: Connection, settings: dict[str, Any] | None = None) -> None:
        """``settings`` are sent with every request."""
        self._worker = Worker(connection)
        self._settings = settings or {}

    @property
    def identity(self) -> Identity:
        """Who the worker says it is, with the settings that are sent to it."""
        identity = self._worker.identity
        return identity.model_copy(update={"settings": identity.settings | self._settings})

    def generate(self, request: ImageRequest) -> ImageReply:
        """Return the worker's image."""
        return self._worker.generate(request.model_copy(update={"settings": request.settings | self._settings}))

    def close(self) -> None:
        """Let the worker end."""
        self._worker.close()


def open_worker(settings: WorkerGenerator, base: Path) -> WorkerProcess:
    """A worker of the user's, by its command or its address."""
    limits = limits_of(settings)
    if settings.url:
        return WorkerProcess(HttpConnection(settings.url, limits=limits), dict(settings.settings))
    return WorkerProcess(ChildConnection(settings.command, limits=limits, folder=base), dict(settings.settings))


def open_diffusers(settings: DiffusersGenerator, base: Path) -> WorkerProcess:
    """A pipeline of diffusers in a process of its own."""
    folder = base / settings.model
    model = str(folder) if folder.is_dir() else settings.model
    options: dict[str, object] = {
        "steps": settings.steps,
        "guidance": settings.guidance,
        "negative-prompt": settings.negative_prompt,
        "pipeline": settings.pipeline or "",
        "lora": str(base / settings.lora) if settings.lora and (base / settings.lora).exists() else settings.lora,
        "lora-scale": settings.lora_scale,
        "dtype": settings.dtype,
        "device": settings.device,
    }
    arguments = [f"--{name}={option}" for name, option in options.items() if option != ""]
    command = bundled_command("diffusers", model, *arguments)
    return WorkerProcess(ChildConnection(command, limits=limits_of(settings)))


def open_painter(settings: PainterGenerator, _: Path) -> WorkerProcess:
    """The painter of the synthetic world in a process of its own."""
    return WorkerProcess(ChildConnection(bundled_command("painter", settings.policy), limits=limits_of(settings)))


def limits_of(settings: GeneratorSettings) -> Limits:
    """The time limits of a generator; loading may take ten minutes at least."""
    return Limits(start_seconds=max(600.0, settings.timeout), reply_seconds=settings.timeout)
