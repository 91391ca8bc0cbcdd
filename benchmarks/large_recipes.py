"""One training step of HPS v2 or ImageReward at full size, on random weights: ``python … hps-v2``.

    python benchmarks/large_recipes.py hps-v2 [--layers 32 24]
    python benchmarks/large_recipes.py image-reward

Two images of one prompt, the recipe's frozen blocks, loss and AdamW; then the checkpoint, its published layout
(``beholder publish``) and the scorer loaded from that. ``--layers`` makes the towers less deep where memory does
not suffice. Each part says how much processor time it took and the peak of memory so far.
``docs/measured/large-recipes.md`` is a saved run; RAHF is in ``benchmarks/rich_large.py``.
"""

import argparse
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch

from beholder.learn.recipe import Recipe, load_recipe
from beholder.models.architectures import architecture
from beholder.models.preference.publish import publish_model
from beholder.models.preference.published import load_published
from beholder.models.trainable import Batch, Trainable
from beholder.models.weights.checkpoint import WEIGHTS, Record, save_checkpoint
from beholder.tables.provenance import Plain

Done = TypeVar("Done")
SIDE = 224
CLIP_H: dict[str, Plain] = {
    "image_size": SIDE,
    "patch_size": 14,
    "image_width": 1280,
    "image_heads": 16,
    "text_width": 1024,
}
CLIP_H |= {"text_heads": 16, "embedding": 1024}
DEPTH = {"hps-v2": (32, 24), "image-reward": (24, 12)}
"""Layers of the image and the text tower."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=list(DEPTH))
    parser.add_argument("--layers", nargs=2, type=int, metavar=("IMAGE", "TEXT"))
    arguments = parser.parse_args()
    layers = tuple(arguments.layers or DEPTH[arguments.recipe])
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, {versions}; layers {layers}\n")
    print("| part | CPU seconds | peak memory so far |\n|---|---|---|")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory(prefix="large-recipes-") as name:
        folder = Path(name)
        before = train_and_save(arguments.recipe, layers, folder / "model")
        timed("publish", lambda: publish_model(folder / "model", folder / "out"))
        (folder / "model" / WEIGHTS).unlink()
        loaded, _ = timed("load as published", lambda: load_published(arguments.recipe, str(folder / "out")))
        print(f"score before saving {before:.6f}, by the published layout {first_score(loaded):.6f}")


def train_and_save(name: str, layers: tuple[int, ...], folder: Path) -> float:
    """Build, train a step and save; return the score of an image."""
    recipe = load_recipe(name)
    model = timed("build", lambda: build(name, recipe, layers))
    parameters = list(model.module.parameters())
    count = sum(parameter.numel() for parameter in parameters)
    learning = sum(parameter.numel() for parameter in parameters if parameter.requires_grad)
    timed("one training step, 2 images", lambda: step(model, recipe))
    record = Record(recipe.architecture, model.config, ("preference",))
    timed("save", lambda: save_checkpoint(folder, model, record))
    size = (folder / WEIGHTS).stat().st_size
    print(f"| ({count:,} parameters, {learning:,} of them trained; {size / 1e9:.2f} GB) | | |")
    return first_score(model)


def build(name: str, recipe: Recipe, layers: tuple[int, ...]) -> Trainable[Batch]:
    """The network of the recipe with random weights."""
    depth: dict[str, Plain] = {"image_layers": layers[0], "text_layers": layers[1]}
    changes: Mapping[str, Plain] = (
        {"sizes": {**CLIP_H, **depth}, "vocabulary": "clip"}
        if name == "hps-v2"
        else {"sizes": depth, "vocabulary": "bert", "mean": 0.16717362830052426, "deviation": 1.0333394966054072}
    )
    maker = architecture(recipe.architecture)
    settings = {key: setting for key, setting in recipe.model_settings_of(Path(), 0).items() if key != "start"}
    config = maker.configure({**settings, **changes, "freeze": True}, ["a red cat"], ["preference"])
    return maker.build(config, fresh=True)


def step(model: Trainable[Batch], recipe: Recipe) -> None:
    """Forward, backward and one update; every trained parameter must have a gradient."""
    model.module.train()
    training = recipe.training
    optimiser = torch.optim.AdamW(
        model.parameter_groups(training.learning_rate, training.weight_decay),
        lr=training.learning_rate,
        betas=training.betas,
        eps=training.epsilon,
        foreach=False,
    )
    model.loss(pair()).backward()  # type: ignore[no-untyped-call]
    named = model.module.named_parameters()
    lacking = [name for name, parameter in named if parameter.requires_grad and parameter.grad is None]
    assert not lacking, lacking
    optimiser.step()
    model.after_step()
    optimiser.zero_grad(set_to_none=True)


def pair() -> Batch:
    generator = torch.Generator().manual_seed(1)
    return Batch(
        pixels=torch.randn(2, 3, SIDE, SIDE, generator=generator),
        prompts=("a red cat",),
        prompt_of=torch.tensor([0, 0]),
        pairs=torch.tensor([[0, 1]]),
        soft_labels=torch.tensor([1.0]),
        pair_weights=torch.tensor([1.0]),
        aspects=("preference",),
        ratings=torch.full((2, 1), torch.nan),
        answers=torch.zeros(2, 1),
    )


@torch.inference_mode()
def first_score(model) -> float:  # type: ignore[no-untyped-def]
    """The score of the first image of the pair."""
    model.module.eval()
    batch = pair()
    return float(model.score(model.encode_images(batch.pixels[:1]), model.encode_prompts(batch.prompts))[0])


def timed(part: str, work: Callable[[], Done]) -> Done:
    began = time.process_time()
    outcome = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"| {part} | {time.process_time() - began:.1f} | {peak:.1f} GB |", flush=True)
    return outcome


if __name__ == "__main__":
    main()
