"""Train the two small scorers that the painted generator is guided, tuned and watched by: a minute of a core each.

    python benchmarks/tune_scorer.py FOLDER bad
    python benchmarks/tune_scorer.py FOLDER realism

Images of the painted generator at 48 pixels, and flawless ones, with the answers of five simulated raters each.
``bad``: how many are not content, with the probability (.98 − overall quality)/.5; ``realism``: how many call it
generated, with the probability that follows from the ground truth's d′. Both have the architecture of the recipe
tiny-realism, and lower is better. Each trains on images and answers of its own.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy.stats import norm

from beholder.models.pipelines.sampling import sample
from beholder.models.realism import Realism, RealismSettings
from beholder.models.trainable import Batch
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.simulate.grammar import draw_requests, prompt_text
from beholder.simulate.painted.generator import PaintedGenerator
from beholder.simulate.painted.picture import picture
from beholder.simulate.painter import GroundTruth

SIZE, SCENES, NOISES, EPOCHS, BATCH, ANSWERS = 48, 900, 3, 14, 32, 5


def paint_scenes(seed: int) -> tuple[np.ndarray, list[str], list[GroundTruth]]:
    """Images of the generator as it is, several of each scene, with prompts and ground truth."""
    generator, rng = PaintedGenerator(size=SIZE), np.random.default_rng([seed, 60])
    prompts = [prompt_text(request) for request in draw_requests(SCENES, rng)]
    pixels, texts, truths = [], [], []
    for start in range(0, SCENES, 50):
        part = prompts[start : start + 50]
        seeds = [2_000_000 + 10_000 * seed + start + number for number in range(len(part))]
        context = generator.context(part, seeds)
        for _ in range(NOISES):
            noise = torch.from_numpy(rng.standard_normal((len(part), 24)).astype(np.float32))
            drawn = sample(generator, part, seeds, noise=noise)
            for made in generator.pictures(drawn.latents, context):
                pixels.append(made.pixels)
                truths.append(made.truth)
            texts += part
    return np.stack(pixels), texts, truths


def flawless_scenes(seed: int) -> np.ndarray:
    """As many scenes without any flaw."""
    generator, rng = PaintedGenerator(size=SIZE), np.random.default_rng([seed, 61])
    prompts = [prompt_text(request) for request in draw_requests(SCENES, rng)]
    context = generator.context(prompts, [3_000_000 + number for number in range(SCENES)])
    latents = np.full(24, -1, np.float32)
    latents[9:] = 0
    return np.stack([picture(canvas, latents).pixels for canvas in context.canvases])


def prepared(images: np.ndarray, mean: tuple[float, ...], std: tuple[float, ...]) -> torch.Tensor:
    """Images as the networks take them."""
    pixels = torch.from_numpy(images).movedim(-1, 1).float() / 255
    return (pixels - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]


def train(model: Realism, count: int, loss: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """AdamW with a linear decay, by epochs."""
    optimiser = torch.optim.AdamW(model.module.parameters(), lr=2e-3, weight_decay=0.02)
    steps, random = EPOCHS * (count // BATCH), torch.Generator().manual_seed(0)
    model.module.train()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 2e-3 * min((step + 1) / 50, 1.0) * (1 - step / steps)
        rows = torch.randint(count, (BATCH,), generator=random)
        optimiser.zero_grad()
        loss(rows).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        model.after_step()
    model.module.eval()


def train_scorer(folder: Path, name: str, seed: int, widths: tuple[int, ...]) -> None:
    """Train one scorer on scenes of its own, and save it."""
    images, _, truths = paint_scenes(seed)
    flawless = flawless_scenes(seed)
    chances = CHANCES[name](truths, len(flawless))
    answers = np.random.default_rng([seed, 63]).binomial(ANSWERS, chances)
    settings = RealismSettings(side=SIZE, widths=widths, hidden=48, dropout=0.1)
    config = {**settings.model_dump(mode="json"), "aspects": [name], "dims": 0, "identities": []}
    torch.manual_seed(seed)
    model = Realism((name,), settings, config)
    everything = np.concatenate([images, flawless])
    order = np.random.default_rng(64).permutation(len(everything))
    mean, std = model._preprocessing.mean, model._preprocessing.std
    scale = [1 / (255 * model._preprocessing.scale)] * 3
    pixels = prepared(
        everything[order],
        tuple(m * s for m, s in zip(mean, scale, strict=True)),
        tuple(d * s for d, s in zip(std, scale, strict=True)),
    )
    shares = torch.from_numpy(answers[order] / ANSWERS).float()[:, None]
    count = len(order) - 400

    def loss(rows: torch.Tensor) -> torch.Tensor:
        empty = torch.empty(0)
        batch = Batch(
            ("",), pixels[rows], torch.zeros(len(rows), dtype=torch.int64), torch.empty(0, 2, dtype=torch.int64),
            empty, empty, (name,), shares[rows], torch.full((len(rows), 1), float(ANSWERS)),
        )  # fmt: skip
        return model.loss(batch)

    train(model, count, loss)
    with torch.no_grad():
        predicted = model.module.proportions(model.module(pixels[count:]))[:, 0].numpy()
    own = order[count:] < len(images)
    true = chances[order[count:]]
    correlation, within = np.corrcoef(predicted, true)[0, 1], np.corrcoef(predicted[own], true[own])[0, 1]
    print(
        f"{name}: PLCC with the true proportions {correlation:.3f}, within the generator {within:.3f}", flush=True
    )
    save_checkpoint(folder / name, model, Record("realism", model.config, (name,)))


def bad_chances(truths: list[GroundTruth], flawless: int) -> np.ndarray:
    """The probability that a rater is not content: 1 less overall quality, spread out."""
    overall = np.array([truth.overall for truth in truths] + [0.95] * flawless)
    return np.clip((0.98 - overall) / 0.5, 0.02, 0.98)


def generated_chances(truths: list[GroundTruth], flawless: int) -> np.ndarray:
    """The probability that a rater calls an image generated: from d′ = .7 on, more often than not."""
    return norm.cdf(np.array([truth.detectability for truth in truths] + [0.0] * flawless) - 0.7)


CHANCES = {"bad": bad_chances, "realism": generated_chances}


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    torch.set_num_threads(1)
    began = time.process_time()
    train_scorer(folder, name, *{"bad": (0, (16, 32, 48)), "realism": (1, (12, 24, 48))}[name])
    print(f"{time.process_time() - began:.0f} CPU s", flush=True)


if __name__ == "__main__":
    main()
