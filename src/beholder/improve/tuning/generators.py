"""Trainable generators by name: ``painted[:SIZE]``, ``pixel-flow:FOLDER``, ``diffusers:MODEL``.

A new kind is a loader and a line in ``KINDS``.
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch

from beholder.errors import UserError, unknown_name
from beholder.improve.tuning.adapters import load_lora
from beholder.models.pipelines.flow_inpainter import FlowInpainter
from beholder.models.pipelines.generator import Context, TrainableGenerator
from beholder.models.pipelines.inpainter import Inpainter
from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.simulate.painted.generator import SIZE, PaintedGenerator
from beholder.simulate.painter import LARGEST, SMALLEST, Picture


@runtime_checkable
class KnowsTruth(Protocol):
    """A generator that knows the ground truth of its images."""

    def pictures(self, latents: torch.Tensor, context: Context) -> list[Picture]:
        """The images of clean latents, with their ground truth."""
        ...


def _painted(argument: str) -> TrainableGenerator:
    size = int(argument) if argument.isdecimal() else SIZE
    if argument and (not argument.isdecimal() or not SMALLEST <= size <= LARGEST):
        raise UserError(f"painted:{argument}: a size of {SMALLEST} to {LARGEST} pixels is expected")
    return PaintedGenerator(size=size)


def _pixel_flow(argument: str) -> TrainableGenerator:
    return PixelFlowGenerator(Path(argument))


def _diffusers(argument: str) -> TrainableGenerator:
    loaded = import_module("beholder.models.pipelines.loading").load_pipeline(argument)  # some 15 seconds
    generator: TrainableGenerator = import_module(
        "beholder.models.pipelines.diffusers_generator"
    ).PipelineGenerator(loaded)
    return generator


KINDS: dict[str, Callable[[str], TrainableGenerator]] = {
    "painted": _painted,
    "pixel-flow": _pixel_flow,
    "diffusers": _diffusers,
}
"""Kind -> its loader, from what stands after the colon."""


def load_trainable(name: str, lora: Path | None = None) -> TrainableGenerator:
    """The generator ``KIND[:ARGUMENT]``, with a LoRA that ``beholder improve tune`` wrote."""
    kind, _, argument = name.partition(":")
    if kind not in KINDS:
        raise UserError(unknown_name("generator that can be guided or tuned", kind, KINDS))
    if kind != "painted" and not argument:
        raise UserError(f"{kind} needs a folder or a name after a colon, as in {kind}:FOLDER")
    generator = KINDS[kind](argument)
    if lora is not None:
        load_lora(lora, generator)
    return generator


def load_flow_inpainter(name: str) -> Inpainter:
    """A trainable generator as an inpainter, or an inpainting pipeline of diffusers."""
    kind, _, argument = name.partition(":")
    if kind == "diffusers":
        loading = import_module("beholder.models.pipelines.loading")
        loaded = loading.load_pipeline(argument)
        if type(loaded.pipeline).__name__ in loading.INPAINTING.values():
            inpainter: Inpainter = import_module(
                "beholder.models.pipelines.diffusers_inpainter"
            ).PipelineInpainter(loaded)
            return inpainter
    return FlowInpainter(load_trainable(name))
