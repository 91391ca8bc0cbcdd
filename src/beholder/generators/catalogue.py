"""All kinds of generators. A new kind is its settings in ``study/generating.py``, a file here and a line below."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.errors import UserError, unknown_name
from beholder.generators.command import Command
from beholder.generators.folder import ImagesInFolder
from beholder.generators.generator import Generator
from beholder.generators.http import HttpService
from beholder.generators.worker import open_diffusers, open_painter, open_worker
from beholder.study.generating import (
    AnyGenerator,
    CommandGenerator,
    DiffusersGenerator,
    PainterGenerator,
    WorkerGenerator,
)
from beholder.study.study import checked_generators


@dataclass(frozen=True, slots=True)
class Kind:
    """How a generator of a kind is opened, and how it is written on the command line."""

    open: Callable[[Any, Path], Generator]
    """From its settings and the folder that relative paths start from."""
    about: str
    shorthand: Callable[[str], dict[str, object]] | None
    """From what stands after ``NAME=KIND:`` to settings; ``None`` where that would be too little."""


def _split(text: str) -> dict[str, object]:
    return {"url": text} if text.startswith(("http://", "https://")) else {"command": shlex.split(text)}


GENERATORS: dict[str, Kind] = {
    "folder": Kind(ImagesInFolder, "images that exist already, with prompts", lambda text: {"path": text}),
    "command": Kind(Command, "a command, run once per image", lambda text: {"command": shlex.split(text)}),
    "http": Kind(HttpService, "a service over HTTP, by a request of your own", None),
    "worker": Kind(open_worker, "a program that speaks beholder's wire protocol", _split),
    "diffusers": Kind(
        open_diffusers, "a pipeline of diffusers, in a process of its own", lambda text: {"model": text}
    ),
    "painter": Kind(open_painter, "the painter of the synthetic world", lambda text: {"policy": text}),
}
"""The kinds of generators by name."""


def open_generator(generator: AnyGenerator, base: Path) -> Generator:
    """Return the generator; what is wrong with its settings is an error now, and nothing is started yet."""
    return GENERATORS[generator.kind].open(generator, base)


def is_program(generator: AnyGenerator) -> bool:
    """Say whether programs make its images, so that several machines make them sooner.

    A service has its own pace, which one process keeps, and images in a folder are only read.
    """
    if isinstance(generator, WorkerGenerator):
        return not generator.url
    return isinstance(generator, CommandGenerator | DiffusersGenerator | PainterGenerator)


def parse_generator(text: str) -> AnyGenerator:
    """Return the settings that ``NAME=KIND:ARGUMENT`` on the command line stands for.

    >>> parse_generator("best=painter:aurora")
    PainterGenerator(name='best', kind='painter', ...)
    """
    name, equals, rest = text.partition("=")
    kind, _, argument = rest.partition(":")
    if not (name.strip() and equals and kind):
        raise UserError(f"'{text}' is not of the form NAME=KIND:ARGUMENT, such as best=painter:aurora")
    if kind not in GENERATORS:
        raise UserError(f"'{text}': {unknown_name('kind of generator', kind, GENERATORS)}")
    shorthand = GENERATORS[kind].shorthand
    if shorthand is None:
        raise UserError(f"'{text}': a generator of kind {kind} needs more settings; write them into a TOML file")
    section = {"name": name.strip(), "kind": kind, **(shorthand(argument) if argument else {})}
    return checked_generators([section], f"--generator '{text}'")[0]
