"""All inpainters by name. A new one is a function that loads it, and one line below.

``NAME`` or ``NAME:ARGUMENT`` on the command line. Those of the synthetic world know only images that it painted,
and the ground truth of what they paint.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from beholder.errors import UserError, unknown_name
from beholder.models.pipelines.inpainter import Inpainter
from beholder.models.pipelines.worker_inpainter import WorkerInpainter
from beholder.simulate.inpainting.oracle import ERROR, WorldInpainter
from beholder.workers.child import ChildConnection
from beholder.workers.client import Worker
from beholder.workers.http_connection import HttpConnection


@dataclass(frozen=True, slots=True)
class InpainterKind:
    """How an inpainter is loaded, from what stands after the colon."""

    load: Callable[[str], Inpainter]
    about: str


def _erring(argument: str) -> WorldInpainter:
    try:
        return WorldInpainter(error=float(argument or ERROR))
    except ValueError as error:
        raise UserError(f"erring:{argument}: a probability from 0 to 1 is expected") from error


def _flow(kind: str) -> Callable[[str], Inpainter]:
    """The loader of inpainters that need torch, which is imported when one is loaded."""

    def load(argument: str) -> Inpainter:
        generators = import_module("beholder.improve.tuning.generators")
        inpainter: Inpainter = generators.load_flow_inpainter(f"{kind}:{argument}")
        return inpainter

    return load


def _worker(argument: str) -> Inpainter:
    if not argument.strip():
        raise UserError("worker: a command, or an address, is expected after the colon")
    remote = argument.startswith(("http://", "https://"))
    connection = HttpConnection(argument) if remote else ChildConnection(shlex.split(argument))
    return WorkerInpainter(Worker(connection))


INPAINTERS: dict[str, InpainterKind] = {
    "exact": InpainterKind(lambda _: WorldInpainter(), "of the synthetic world; never errs"),
    "erring": InpainterKind(_erring, f"of the synthetic world; adds a flaw at a rate, {ERROR} by default"),
    "pixel-flow": InpainterKind(_flow("pixel-flow"), "a small flow of 32 × 32 pixels, by its folder"),
    "diffusers": InpainterKind(_flow("diffusers"), "a pipeline of diffusers, by folder or hub name"),
    "worker": InpainterKind(_worker, "a program of your own, by its command or its address"),
}
"""The inpainters by name."""


def load_inpainter(name: str) -> Inpainter:
    """Load an inpainter by ``NAME`` or ``NAME:ARGUMENT``."""
    kind, _, argument = name.partition(":")
    if kind not in INPAINTERS:
        raise UserError(unknown_name("inpainter", kind, INPAINTERS))
    return INPAINTERS[kind].load(argument)
