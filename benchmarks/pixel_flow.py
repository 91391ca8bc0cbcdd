"""Train the pixel flow on flawless images of the synthetic world, and measure it.

    python benchmarks/pixel_flow.py FOLDER [--steps N]
    python benchmarks/pixel_flow.py FOLDER --so-far
    python benchmarks/pixel_flow.py FOLDER --resume

A run that is killed is resumed by the same command. Prints the seconds of training and of sampling, and writes
``samples.png``: for 32 prompts never trained on, the first image that was sampled, and from the same noise that
with more weight on the prompt. ``--so-far`` does that with the averaged weights of the last saved state of a run
that is not finished. ``--resume`` trains a few steps twice, once killed halfway, and compares all bits.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.models.pipelines.pixel_flow.network import PixelFlowNetwork, PixelFlowSettings
from beholder.models.pipelines.pixel_flow.training import (
    CURVE,
    WEIGHTS,
    PixelFlowTraining,
    save_pixel_flow,
    train_pixel_flow,
)
from beholder.models.pipelines.resumable import STATE
from beholder.models.pipelines.sampling import Emphasis, sample
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painter import FLAWLESS, paint
from beholder.study.words import split_words

IMAGES, PROMPTS_SHOWN, SIDE = 16_000, 32, 32
WEIGHT = 3.0
"""Of the whole prompt, in the second half of the sheet."""
FEW = PixelFlowTraining(steps=24, save_every=12)


class KilledError(Exception):
    """Stands for the end of the process."""


def paint_training_set(folder: Path) -> tuple[np.ndarray, list[str]]:
    """Paint the images once, and return them with their prompts; the last prompts are never trained on."""
    requests = draw_requests(IMAGES + PROMPTS_SHOWN, np.random.default_rng([0, 25]))
    prompts, file = [prompt_text(request) for request in requests], folder / "images.npy"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng([0, 26])
        np.save(
            file, np.stack([paint(request, FLAWLESS, size=SIDE, rng=rng).pixels for request in requests[:IMAGES]])
        )
    return np.load(file), prompts


def train(folder: Path, images: np.ndarray, prompts: list[str], steps: int) -> None:
    """Train to the end, unless that is done."""
    if (folder / WEIGHTS).is_file():
        return
    began, cpu = time.monotonic(), time.process_time()
    train_pixel_flow(
        images,
        prompts[:IMAGES],
        folder,
        PixelFlowTraining(steps=steps),
        progress=lambda done, total: print(f"{done}/{total} {time.process_time() - cpu:.0f} CPU s", flush=True),
    )
    print(f"trained: {time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} CPU s")
    print((folder / CURVE).read_text(encoding="utf-8"))


def take_so_far(folder: Path, prompts: list[str]) -> Path:
    """Save the averaged weights of the last state as a flow of its own."""
    state = torch.load(folder / STATE, map_location="cpu", weights_only=True)
    vocabulary = tuple(sorted({word for prompt in prompts[:IMAGES] for word in split_words(prompt)}))
    settings = PixelFlowSettings(vocabulary=vocabulary)
    network = PixelFlowNetwork(settings)
    network.load_state_dict({**network.state_dict(), **state["tensors"]})
    save_pixel_flow(folder / "so-far", network, settings)
    print(f"step {state['step']}")
    return folder / "so-far"


def compare_resumed(folder: Path, images: np.ndarray, prompts: list[str]) -> None:
    """Train a few steps at once, and as many killed halfway and resumed."""

    def kill(done: int, _: int) -> None:
        if done == FEW.save_every:
            raise KilledError

    weights = []
    for name in ("at-once", "killed"):
        if name == "killed":
            try:
                train_pixel_flow(images, prompts[:IMAGES], folder / name, FEW, progress=kill)
            except KilledError:
                print(f"killed at step {FEW.save_every}")
        train_pixel_flow(images, prompts[:IMAGES], folder / name, FEW)
        weights.append((folder / name / WEIGHTS).read_bytes())
    print(f"{FEW.steps} steps at once and resumed: {'equal' if weights[0] == weights[1] else 'different'} bits")


def measure(folder: Path, prompts: list[str]) -> None:
    """Draw the sheet, and say how fast."""
    generator, shown = PixelFlowGenerator(folder), prompts[IMAGES:]
    print(f"{sum(parameter.numel() for parameter in generator.module.parameters()):,} parameters")
    every = Emphasis([range(len(split_words(prompt))) for prompt in shown], WEIGHT)
    halves, seeds = [], list(range(PROMPTS_SHOWN))
    sample(generator, shown, seeds, steps=1)
    for name, emphasis in (("as it is", None), (f"weight {WEIGHT:g}", every)):
        cpu = time.process_time()
        images = sample(generator, shown, seeds, emphasis=emphasis).images
        print(f"{name}: {PROMPTS_SHOWN / (time.process_time() - cpu):.1f} images a CPU second of one core")
        pixels = (images.movedim(1, -1) * 255 + 0.5).to(torch.uint8).numpy()
        halves.append(pixels.reshape(8, 4, SIDE, SIDE, 3).swapaxes(1, 2).reshape(8 * SIDE, 4 * SIDE, 3))
    sheet = np.concatenate([halves[0], np.full((8 * SIDE, SIDE // 4, 3), 255, np.uint8), halves[1]], axis=1)
    picture = Image.fromarray(sheet)
    picture.resize((3 * picture.width, 3 * picture.height), Image.Resampling.NEAREST).save(
        folder / "samples.png", optimize=True
    )
    for number, prompt in enumerate(shown):
        print(f"{number + 1}. {prompt}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=PixelFlowTraining().steps)
    parser.add_argument("--so-far", action="store_true")
    parser.add_argument("--resume", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    images, prompts = paint_training_set(arguments.folder)
    if arguments.resume:
        compare_resumed(arguments.folder, images, prompts)
        return
    if arguments.so_far:
        measure(take_so_far(arguments.folder, prompts), prompts)
        return
    train(arguments.folder, images, prompts, arguments.steps)
    measure(arguments.folder, prompts)


if __name__ == "__main__":
    main()
