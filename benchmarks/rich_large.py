"""The recipe ``rich-feedback``: build, train a step, save, load, export: ``python benchmarks/rich_large.py``.

Settings are those of the recipe (ViT-B/16 at 384 pixels, T5-base, augmented prompts, batches of 8, its AdamW), but
for random weights; a batch is divided into parts of one image (``training.accumulate = 8``) and activations are
computed again (``training.gradient_checkpointing``): at once, 8 images would need 28 GB even so, and 93 GB
otherwise. ``--parts 2`` computes two of the eight before AdamW's step. Each line says how much processor time it
took, which other work on the machine does not change, and the most memory that the process has held so far;
``docs/measured/rich-large.md`` is a saved run.
"""

import argparse
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from beholder.learn.processes.blocks import checkpoint_gradients, keep_activations
from beholder.learn.recipe import Recipe, load_recipe
from beholder.models.rich_feedback.export import ExportableNetwork, export_network
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import RichFeedbackSettings
from beholder.models.rich_feedback.trainable import RichBatch, RichFeedback
from beholder.models.weights.checkpoint import WEIGHTS, Record, load_rich_checkpoint, save_checkpoint

VOCABULARY = 32_096
"""With the four special numbers, as many as T5's tokenizer has."""

PROMPT, MISALIGNED = "word4 word5 word6 word7 word8", (False, False, True, False, False)
Done = TypeVar("Done")


def main() -> None:
    recipe = load_recipe("rich-feedback", ["model.image.weights=", "model.text.weights="])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", type=int, default=recipe.training.batch, help="of the batch, one image each")
    parser.add_argument("--keep-activations", action="store_true", help="no gradient checkpointing")
    options = parser.parse_args()
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, {versions}\n")
    print("| part | seconds of a core | most memory so far |\n|---|---|---|")
    torch.manual_seed(0)
    words = tuple(f"word{number}" for number in range(VOCABULARY))
    settings = RichFeedbackSettings.model_validate({**recipe.model_settings, "words": words})
    model = _timed("build", lambda: RichFeedbackModel(settings))
    parameters = sum(parameter.numel() for parameter in model.module.parameters())
    _step(model, recipe, options.parts, checkpointing=not options.keep_activations)
    batch = _image(model)
    feedback = _timed("all outputs, 1 image", lambda: model.feedback(batch.pixels, batch.prompts))
    with tempfile.TemporaryDirectory(prefix="rich-large-") as folder_name:
        folder = Path(folder_name)
        record = Record("rich-feedback", model.config, model.settings.scores)
        _timed("save", lambda: save_checkpoint(folder, model, record))
        size = (folder / WEIGHTS).stat().st_size
        again, _ = _timed("load", lambda: load_rich_checkpoint(folder))
        after = _farthest(feedback, again.feedback(batch.pixels, batch.prompts))
        del again
        program = folder / "model.pt2"
        _timed("export", lambda: export_network(model, program))
        loaded = _timed("load the export", lambda: torch.export.load(program).module())
        exported = _exported(model, loaded, batch)
    print(f"\n{parameters:,} parameters, {size / 1e9:.2f} GB")
    print(f"farthest output after loading: {after:.1e}; of the exported program: {exported:.1e}")


def _timed(part: str, work: Callable[[], Done]) -> Done:
    began = time.process_time()
    outcome = work()
    seconds = time.process_time() - began
    print(
        f"| {part} | {seconds:.1f} | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB |",
        flush=True,
    )
    return outcome


def _image(model: RichFeedbackModel) -> RichBatch:
    """One image with all its labels."""
    side, outputs = model.settings.image.side, model.settings
    return RichBatch(
        torch.randn(1, 3, side, side),
        (PROMPT,),
        torch.rand(1, len(outputs.heatmaps), outputs.map_side, outputs.map_side),
        torch.rand(1, len(outputs.scores)),
        (MISALIGNED,),
    )


def _step(model: RichFeedbackModel, recipe: Recipe, parts: int, *, checkpointing: bool) -> None:
    """One step of the recipe's AdamW over the gradients of ``parts`` images, added up."""
    training = recipe.training
    model.module.train()
    if checkpointing:
        checkpoint_gradients(model.module)
    groups = model.parameter_groups(training.learning_rate, training.weight_decay)
    optimiser = torch.optim.AdamW(groups, lr=training.learning_rate, betas=training.betas, eps=training.epsilon)
    for number in range(1, parts + 1):
        _timed(f"gradients of image {number} of {training.batch}", lambda: _add_gradients(model, training.batch))
    lacking = [name for name, parameter in model.module.named_parameters() if parameter.grad is None]
    assert not lacking, lacking
    _timed("AdamW", optimiser.step)
    optimiser.zero_grad()
    keep_activations(model.module)


def _add_gradients(model: RichFeedbackModel, parts: int) -> None:
    (model.loss(_image(model)) / parts).backward()  # type: ignore[no-untyped-call]


def _farthest(first: RichFeedback, second: RichFeedback) -> float:
    pairs = [(values, second.heatmaps[name]) for name, values in first.heatmaps.items()]
    pairs += [(values, second.scores[name]) for name, values in first.scores.items()]
    words = [np.abs(a - b).max() for a, b in zip(first.misaligned, second.misaligned, strict=True)]
    return float(max([np.abs(a - b).max() for a, b in pairs] + words))


@torch.inference_mode()
def _exported(model: RichFeedbackModel, loaded: torch.nn.Module, batch: RichBatch) -> float:
    prompt_ids = [model.tokenizer.encode_prompt(prompt, 4)[0] for prompt in batch.prompts]
    token_ids = torch.tensor(prompt_ids)
    decoder_ids = torch.cat([torch.zeros(1, 1, dtype=torch.int64), token_ids[:, :-1]], 1)
    inputs = (batch.pixels, token_ids, torch.ones_like(token_ids), decoder_ids)
    expected, actual = ExportableNetwork(model.module).eval()(*inputs), loaded(*inputs)
    return max(float((expected[name] - actual[name]).abs().max()) for name in expected)


if __name__ == "__main__":
    main()
