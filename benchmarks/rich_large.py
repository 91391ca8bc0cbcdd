"""The recipe ``rich-feedback``: build, train a step, save, load, export: ``python benchmarks/rich_large.py``.

Settings are those of the recipe (ViT-B/16 at 384 pixels, T5-base, augmented prompts), but for random weights. Each
part says how much time of processors it took, which other work on the machine does not change, and the most memory
that the process has held so far; ``docs/measured/rich-large.md`` is a saved run.
"""

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

from beholder.learn.recipe import load_recipe
from beholder.models.rich_feedback.export import ExportableNetwork, export_network
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import RichFeedbackSettings
from beholder.models.rich_feedback.trainable import RichBatch, RichFeedback
from beholder.models.weights.checkpoint import WEIGHTS, Record, load_rich_checkpoint, save_checkpoint

VOCABULARY = 32_096
"""With the four special numbers, as many as T5's tokenizer has."""

PROMPTS = ("word1 word2 word3", "word4 word5 word6 word7 word8")
Done = TypeVar("Done")


def main() -> None:
    versions = f"Python {platform.python_version()}, torch {torch.__version__}"
    print(f"{platform.machine()}, {os.cpu_count()} cores, {versions}\n")
    print("| part | seconds of a core | most memory so far |\n|---|---|---|")
    torch.manual_seed(0)
    words = tuple(f"word{number}" for number in range(VOCABULARY))
    model = _timed("build", lambda: RichFeedbackModel(_settings(words)))
    batch = _batch(model)
    _timed("one training step, 2 images", lambda: _step(model, batch))
    feedback = _timed("all outputs, 2 images", lambda: model.feedback(batch.pixels, PROMPTS))
    with tempfile.TemporaryDirectory(prefix="rich-large-") as folder_name:
        folder = Path(folder_name)
        record = Record("rich-feedback", model.config, model.settings.scores)
        _timed("save", lambda: save_checkpoint(folder, model, record))
        size = (folder / WEIGHTS).stat().st_size
        again, _ = _timed("load", lambda: load_rich_checkpoint(folder))
        after = _farthest(feedback, again.feedback(batch.pixels, PROMPTS))
        del again
        program = folder / "model.pt2"
        _timed("export", lambda: export_network(model, program))
        loaded = _timed("load the export", lambda: torch.export.load(program).module())
        exported = _exported(model, loaded, batch)
    parameters = sum(parameter.numel() for parameter in model.module.parameters())
    print(f"\n{parameters:,} parameters, {size / 1e9:.2f} GB")
    print(f"farthest output after loading: {after:.1e}; of the exported program: {exported:.1e}")


def _settings(words: tuple[str, ...]) -> RichFeedbackSettings:
    """The settings of the recipe, without the weights that it starts from; words in place of T5's tokenizer."""
    recipe = load_recipe("rich-feedback", ["model.image.weights=", "model.text.weights="])
    return RichFeedbackSettings.model_validate({**recipe.model_settings, "words": words})


def _timed(part: str, work: Callable[[], Done]) -> Done:
    began = time.process_time()
    outcome = work()
    seconds = time.process_time() - began
    print(
        f"| {part} | {seconds:.1f} | {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB |",
        flush=True,
    )
    return outcome


def _batch(model: RichFeedbackModel) -> RichBatch:
    side, outputs = model.settings.image.side, model.settings
    return RichBatch(
        torch.randn(2, 3, side, side),
        PROMPTS,
        torch.rand(2, len(outputs.heatmaps), outputs.map_side, outputs.map_side),
        torch.rand(2, len(outputs.scores)),
        ((False, True, False), (False, False, True, False, False)),
    )


def _step(model: RichFeedbackModel, batch: RichBatch) -> None:
    model.module.train()
    optimiser = torch.optim.AdamW(model.parameter_groups(1e-4, 0.01))
    model.loss(batch).backward()  # type: ignore[no-untyped-call]
    lacking = [name for name, parameter in model.module.named_parameters() if parameter.grad is None]
    assert not lacking, lacking
    optimiser.step()
    optimiser.zero_grad()


def _farthest(first: RichFeedback, second: RichFeedback) -> float:
    pairs = [(values, second.heatmaps[name]) for name, values in first.heatmaps.items()]
    pairs += [(values, second.scores[name]) for name, values in first.scores.items()]
    words = [np.abs(a - b).max() for a, b in zip(first.misaligned, second.misaligned, strict=True)]
    return float(max([np.abs(a - b).max() for a, b in pairs] + words))


@torch.inference_mode()
def _exported(model: RichFeedbackModel, loaded: torch.nn.Module, batch: RichBatch) -> float:
    prompt_ids = [model.tokenizer.encode_prompt(prompt, 4)[0] for prompt in batch.prompts]
    token_ids = torch.tensor(prompt_ids)
    decoder_ids = torch.cat([torch.zeros(2, 1, dtype=torch.int64), token_ids[:, :-1]], 1)
    inputs = (batch.pixels, token_ids, torch.ones_like(token_ids), decoder_ids)
    expected, actual = ExportableNetwork(model.module).eval()(*inputs), loaded(*inputs)
    return max(float((expected[name] - actual[name]).abs().max()) for name in expected)


if __name__ == "__main__":
    main()
