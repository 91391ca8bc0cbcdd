"""Train the pixel flow on flawless images of the synthetic world, and measure it.

    python benchmarks/pixel_flow.py FOLDER [--steps N]

A run that is killed is resumed by the same command. Prints the seconds of training, the seconds of sampling, and
writes ``samples.png``: for 32 prompts never trained on, the first image that was sampled.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from beholder.models.pipelines.pixel_flow.generator import PixelFlowGenerator
from beholder.models.pipelines.pixel_flow.training import WEIGHTS, PixelFlowTraining, train_pixel_flow
from beholder.models.pipelines.sampling import sample
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painter import FLAWLESS, paint

IMAGES, PROMPTS_SHOWN, SIDE = 16_000, 32, 32


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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=PixelFlowTraining().steps)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    images, prompts = paint_training_set(arguments.folder)
    if not (arguments.folder / WEIGHTS).is_file():
        began, cpu = time.monotonic(), time.process_time()
        train_pixel_flow(
            images,
            prompts[:IMAGES],
            arguments.folder,
            PixelFlowTraining(steps=arguments.steps),
            progress=lambda done, total: print(
                f"{done}/{total} {time.process_time() - cpu:.0f} CPU s", flush=True
            ),
        )
        print(f"trained: {time.monotonic() - began:.0f} s, {time.process_time() - cpu:.0f} CPU s")
    generator = PixelFlowGenerator(arguments.folder)
    print(f"{sum(parameter.numel() for parameter in generator.module.parameters()):,} parameters")
    cpu = time.process_time()
    drawn = sample(generator, prompts[IMAGES:], list(range(PROMPTS_SHOWN)))
    print(f"{PROMPTS_SHOWN / (time.process_time() - cpu):.1f} images a CPU second")
    pixels = (drawn.images.movedim(1, -1) * 255 + 0.5).to(torch.uint8).numpy()
    sheet = pixels.reshape(4, 8, SIDE, SIDE, 3).swapaxes(1, 2).reshape(4 * SIDE, 8 * SIDE, 3)
    Image.fromarray(sheet).resize((8 * SIDE * 3, 4 * SIDE * 3), Image.Resampling.NEAREST).save(
        arguments.folder / "samples.png"
    )
    for number, prompt in enumerate(prompts[IMAGES:]):
        print(f"{number + 1}. {prompt}")


if __name__ == "__main__":
    main()
