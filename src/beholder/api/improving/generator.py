"""The generator of an improvement: how it is named, what it knows of its images, and whether it can be tuned."""

import sys
from pathlib import Path

import torch

from beholder.errors import UserError, unknown_name
from beholder.generators.catalogue import parse_generator
from beholder.improve.filter_run import Truth
from beholder.improve.pictures import original_size
from beholder.improve.tuning.generators import KINDS, KnowsTruth, load_trainable
from beholder.models.pipelines.sampling import sample
from beholder.simulate.inpainting.origins import Origin
from beholder.simulate.painter import GroundTruth
from beholder.simulate.painter_worker import POLICIES
from beholder.study.generating import AnyGenerator, DiffusersGenerator, PainterGenerator, WorkerGenerator
from beholder.study.study import load_study

WORKER = "beholder.improve.tuning.worker"
PAINTED = "painted"


def find_generator(folder: Path, text: str) -> AnyGenerator:
    """A generator of the study file by its name, one that can be tuned, or one as ``NAME=KIND:ARGUMENT``."""
    if "=" in text:
        return parse_generator(text)
    by_name = {generator.name: generator for generator in load_study(folder).generators}
    if text in by_name:
        return by_name[text]
    kind, _, argument = text.partition(":")
    if kind == "diffusers" and argument:
        return parse_generator(f"diffusers=diffusers:{argument}")
    if kind in KINDS and (argument or kind == PAINTED):
        return WorkerGenerator(name=kind, command=(sys.executable, "-m", WORKER, text))
    fault = unknown_name("generator", text, by_name) if by_name else "the study file names no generators"
    raise UserError(
        f"{fault}\nWrite it as NAME=KIND:ARGUMENT, such as {kind}=painter:aurora, or name one that can be tuned: "
        "painted, pixel-flow:FOLDER, diffusers:MODEL"
    )


def trainable_of(settings: AnyGenerator) -> str | None:
    """The name of the generator for tuning, ``KIND[:ARGUMENT]``; ``None`` where only its images can be had.

    For a painter of the synthetic world it is ``painted``: a flow whose images the same world paints.
    """
    if isinstance(settings, PainterGenerator):
        return PAINTED
    if isinstance(settings, DiffusersGenerator):
        return f"diffusers:{settings.model}"
    if isinstance(settings, WorkerGenerator) and WORKER in settings.command[:-1]:
        return settings.command[settings.command.index(WORKER) + 1]
    return None


def size_of(folder: Path, settings: AnyGenerator) -> tuple[int | None, int | None]:
    """Width and height that are asked for: the generator's own settings, or those of the study's images."""
    if settings.width:
        return settings.width, settings.height or settings.width
    if isinstance(settings, WorkerGenerator) and WORKER in settings.command:
        return None, None
    return original_size(folder)


def painted_origin(folder: Path, settings: PainterGenerator, prompt: str, seed: int) -> Origin:
    """How the synthetic world paints a prompt with a seed."""
    return Origin(prompt, POLICIES[settings.policy], (seed, 13), size_of(folder, settings)[0] or 192)


def generator_truth(folder: Path, settings: AnyGenerator) -> Truth | None:
    """The ground truth of what a generator of the synthetic world makes; ``None`` for other generators."""
    if isinstance(settings, PainterGenerator) and settings.policy in POLICIES:
        painter = settings
        return lambda prompt, seed: painted_origin(folder, painter, prompt, seed).paint().flatten().truth
    name = trainable_of(settings)
    if name is None or name.partition(":")[0] != PAINTED:
        return None
    trainable = load_trainable(name)
    assert isinstance(trainable, KnowsTruth)

    def truth(prompt: str, seed: int) -> GroundTruth:
        with torch.no_grad():
            drawn = sample(trainable, [prompt], [seed])
        return trainable.pictures(drawn.latents, trainable.context([prompt], [seed]))[0].truth

    return truth
