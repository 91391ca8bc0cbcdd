"""Cheaper forward passes for the packaged scorer of quality: their time, and their cost in agreement with raters.

    python benchmarks/forward_ways.py CACHE           # time, and SRCC by cross-validation on AGIQA-3K
    python benchmarks/forward_ways.py CACHE --time    # the time alone

Every way computes the vectors of both encoders of ``agiqa-quality``, and a head is trained on them, with the
settings and on the development prompts of ``agiqa_scorer.py``; nothing is chosen here, and no prompt that was put
aside is used. Time is processor time on one core, in alternating runs with the way that is packaged. int8 needs
``onnxruntime`` and ``onnx`` and is left out without them.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from agiqa_scorer import CHOSEN, SOURCE, Images, agreement, cross_validated, load
from harness import Comparison, measure
from numpy.typing import NDArray
from PIL import Image

from beholder.images.in_order import batches
from beholder.models.allocator import keep_freed_memory
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing
from beholder.models.quality.packaged import ENCODERS
from beholder.stats.correlation.bootstrap import correlation_replicates
from beholder.stats.intervals.bootstrap import rater_weights

BATCH, TURNS, CALIBRATION, REPLICATES, SEED = 4, 9, 64, 2000, 0
USED = "as packaged: fp32, 224 px"
Pixels = NDArray[np.float32]
Floats = NDArray[np.float64]
Forward = Callable[[Pixels], NDArray[np.float32]]


@dataclass(frozen=True)
class Way:
    """One way of computing the vectors of both encoders: how their input is prepared, and their forward passes."""

    preprocessing: tuple[Preprocessing, ...]
    forwards: tuple[Forward, ...]
    equal: bool = False
    """Whether its vectors are those of the packaged way but for rounding, so that its SRCC is, too."""

    def prepare(self, images: list[Image.Image]) -> list[Pixels]:
        return [np.stack([each.prepare(image) for image in images]) for each in self.preprocessing]

    def vectors(self, prepared: list[Pixels]) -> NDArray[np.float32]:
        parts = [forward(pixels) for forward, pixels in zip(self.forwards, prepared, strict=True)]
        return np.concatenate(parts, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cache", type=Path, metavar="CACHE")
    parser.add_argument("--time", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()  # as the commands do
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    images = load(arguments.cache)
    named = ways(images)
    speeds(images, named)
    if not arguments.time:
        accuracies(images, {name: way for name, way in named.items() if not way.equal})


def ways(images: Images) -> dict[str, Way]:
    """All ways by name; the first is the packaged one."""
    encoders = [load_encoder(name) for name in ENCODERS]
    used = Way(
        tuple(encoder.preprocessing for encoder in encoders), tuple(encoder.network for encoder in encoders)
    )
    named = {USED: replace(used, equal=True)}
    for side in (192, 160, 128):
        smaller = replace(encoders[0].preprocessing, size=side, crop=side)
        named[f"fp32, {side} px"] = replace(used, preprocessing=(smaller, used.preprocessing[1]))
    named["fp32, channels first"] = replace(used, forwards=tuple(map(channels_first, encoders)), equal=True)
    named["fp32, traced and frozen by `torch.jit`"] = replace(
        used, forwards=tuple(map(frozen, encoders)), equal=True
    )
    named["bf16, 224 px"] = replace(used, forwards=tuple(map(in_bfloat16, encoders)))
    if find_spec("onnxruntime"):
        by_onnxruntime = import_module("forward_int8").by_onnxruntime
        prepared = used.prepare(list(read(calibration_names(images))))
        for name, calibrated in (("fp32 by onnxruntime", False), ("int8 by onnxruntime, 224 px", True)):
            forwards = tuple(
                by_onnxruntime(encoder.gradients, pixels[:BATCH], pixels if calibrated else None)
                for encoder, pixels in zip(encoders, prepared, strict=True)
            )
            named[name] = replace(used, forwards=forwards, equal=not calibrated)
    return named


def channels_first(encoder: Encoder) -> Forward:
    module = deepcopy(module_of(encoder)).to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    return partial(run, module)


def frozen(encoder: Encoder) -> Forward:
    side = encoder.preprocessing.side
    example = torch.zeros(BATCH, 3, side, side).to(memory_format=torch.channels_last)
    with torch.inference_mode():
        traced = torch.jit.trace(module_of(encoder), example)  # type: ignore[no-untyped-call]
        optimised = torch.jit.optimize_for_inference(torch.jit.freeze(traced))
    return lambda pixels: run(optimised, pixels, memory_format=torch.channels_last)


def in_bfloat16(encoder: Encoder) -> Forward:
    module = deepcopy(module_of(encoder)).to(torch.bfloat16)
    return lambda pixels: run(module, pixels, memory_format=torch.channels_last, dtype=torch.bfloat16)


def module_of(encoder: Encoder) -> torch.nn.Module:
    assert isinstance(encoder.gradients, torch.nn.Module)
    return encoder.gradients


@torch.inference_mode()
def run(
    module: torch.nn.Module,
    pixels: Pixels,
    memory_format: torch.memory_format = torch.contiguous_format,
    dtype: torch.dtype = torch.float32,
) -> NDArray[np.float32]:
    vectors = module(torch.from_numpy(pixels).to(dtype=dtype, memory_format=memory_format))
    return np.asarray(vectors.float().numpy(), np.float32)


def speeds(images: Images, named: Mapping[str, Way]) -> None:
    """Print the time of each way beside that of the packaged one, decoding and resizing left out."""
    pictures = list(read(calibration_names(images)[:BATCH]))
    used = named[USED]
    of_used = partial(used.vectors, used.prepare(pictures))
    print("| way | ms per image | as packaged | times faster (range) |\n|---|---|---|---|")
    for name, way in named.items():
        work = partial(way.vectors, way.prepare(pictures))
        result = measure(Comparison(name, work, of_used, "torch", TURNS, time.process_time))
        own, packaged = (1000 * seconds / BATCH for seconds in (result.ours_seconds, result.peer_seconds))
        print(
            f"| {name} | {own:.1f} | {packaged:.1f} | {result.ratio:.2f} "
            f"({result.lowest:.2f}–{result.highest:.2f}) |",
            flush=True,
        )


def accuracies(images: Images, named: Mapping[str, Way]) -> None:
    """Print the cross-validated agreement with raters by vectors of each way, and how it differs as packaged."""
    development = images.development
    names = images.table["name"].to_numpy()[development].tolist()
    parts: dict[str, list[NDArray[np.float32]]] = {name: [] for name in named}
    for batch in batches(names, BATCH):
        pictures = list(read(batch))
        for name, way in named.items():
            parts[name].append(way.vectors(way.prepare(pictures)))
    used = cross_validated(images, CHOSEN)[0]
    print("\n| way | SRCC | PLCC | within generators | difference of SRCC |\n|---|---|---|---|---|")
    print(f"| {USED} | {' | '.join(values(images, used))} | |", flush=True)
    for name, vectors in parts.items():
        changed = images.vectors.copy()
        changed[development] = np.concatenate(vectors)
        scores = cross_validated(replace(images, vectors=changed), CHOSEN)[0]
        low, difference, high = difference_of_srcc(images, scores, used)
        print(
            f"| {name} | {' | '.join(values(images, scores))} | {difference:+.4f} [{low:+.4f}, {high:+.4f}] |",
            flush=True,
        )


def values(images: Images, scores: Floats) -> list[str]:
    return [f"{row['value']:.4f}" for row in agreement(images, scores, images.development, quick=True)]


def difference_of_srcc(images: Images, scores: Floats, used: Floats) -> tuple[float, float, float]:
    """The difference of two SRCC and its 95 % percentile interval over prompts: low, value, high."""
    development = images.development
    prompts = np.unique(images.table["prompt"].to_numpy()[development], return_inverse=True)[1]
    units = int(prompts.max()) + 1
    weights = rater_weights(np.zeros(units, np.int64), REPLICATES, np.random.default_rng(SEED))
    weights = np.concatenate([np.ones((1, units), weights.dtype), weights])
    both = [
        correlation_replicates(
            column[development], images.quality[development], weights, kind="spearman", clusters=prompts
        )
        for column in (scores, used)
    ]
    differences = both[0] - both[1]
    low, high = np.quantile(differences[1:], (0.025, 0.975))
    return float(low), float(differences[0]), float(high)


def calibration_names(images: Images) -> list[str]:
    names = images.table["name"].to_numpy()[images.development]
    return sorted(np.random.default_rng(SEED).choice(names, CALIBRATION, replace=False).tolist())


def read(names: list[str]) -> Iterator[Image.Image]:
    for name in names:
        yield Image.open(SOURCE / "image" / name).convert("RGB")


if __name__ == "__main__":
    main()
