"""Models trained by `beholder learn` as scorers, by their folder.

Two-tower and reward models encode each distinct prompt once; other models take images and prompts in batches.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.models.encoders.torch_network import share_cores
from beholder.models.prompt_scoring import ScoringNetwork, select_device
from beholder.models.realism import Realism
from beholder.models.trainable import Batch, Trainable, UsesEncoders
from beholder.models.weights.checkpoint import WEIGHTS, Record, load_checkpoint
from beholder.models.weights.files import hash_files
from beholder.scorers.prompt_network import CACHED_MODELS, as_scorer, file_stamps
from beholder.scorers.scorer import Differentiable, Scorer, ScorerInput, by_vectors

PROMPT_NETWORKS = ("two-tower", "image-reward")
"""Scoring networks: their modules, which need transformers, are imported only when such a model is loaded."""


def load(folder: Path, aspect: str | None, device: str | None) -> Scorer:
    """Load the scorer of an aspect; ``None`` stands for the only aspect of the model."""
    return _loaded(folder, aspect, file_stamps(str(folder)), device)


@lru_cache(maxsize=CACHED_MODELS)
def _loaded(folder: Path, aspect: str | None, _: tuple[tuple[str, int, int], ...], device: str | None) -> Scorer:
    model, record = load_checkpoint(folder)
    chosen = _aspect(folder, aspect, record)
    ending = f":{aspect}" if aspect else ""
    name, identity = f"{folder}{ending}", f"{folder.resolve().name}{ending}@{hash_files([folder / WEIGHTS])[:12]}"
    if record.architecture in PROMPT_NETWORKS:
        return as_scorer(name, identity, cast("ScoringNetwork", model), device)
    of_inputs = _by_batches(model, chosen, record.scales.get(chosen, (0.0, 1.0)), select_device(device))
    gradients = _realism_gradients(model, chosen) if isinstance(model, Realism) else None
    remark = _width_remark(name, record, chosen)
    encoders = tuple(model.encoders) if isinstance(model, UsesEncoders) else ()
    if encoders:
        scorer = by_vectors(name, identity, encoders, of_inputs, remark=remark)
        return replace(scorer, threads=share_cores, differentiable=gradients)

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        images = [scorer_input.image for scorer_input in inputs if scorer_input.image is not None]
        prepared = np.stack([model.prepare(image, None) for image in images])
        return of_inputs(prepared, [scorer_input.prompt for scorer_input in inputs])

    return Scorer(name, identity, score, None, share_cores, gradients, remark=remark)


def _width_remark(name: str, record: Record, aspect: str) -> str | None:
    """How far a score may be off; ``None`` where that was not measured in training."""
    within = record.about.get("within")
    width = within.get(aspect) if isinstance(within, dict) else None
    if not isinstance(width, float):
        return None
    return (
        f"{name}: 95 % of validation images are within ±{width:.2g} of raters' mean; of other generators that is "
        "not known"
    )


def _realism_gradients(model: Realism, aspect: str) -> Differentiable:
    def proportions(images: torch.Tensor, prompts: Sequence[str]) -> torch.Tensor:
        del prompts
        return model.with_gradients(images)[aspect]

    return proportions


def _aspect(folder: Path, aspect: str | None, record: Record) -> str:
    if aspect is None and len(record.aspects) == 1:
        return record.aspects[0]
    if aspect not in record.aspects:
        listed = ", ".join(f"{folder}:{choice}" for choice in record.aspects)
        fault = f"aspect '{aspect}' is not known" if aspect else "judges several aspects"
        raise UserError(f"{folder}: {fault}; name one of: {listed}")
    return aspect


def _by_batches(
    model: Trainable[Batch], aspect: str, scale: tuple[float, float], device: torch.device
) -> Callable[[NDArray[np.float32], Sequence[str | None]], NDArray[np.float64]]:
    """From prepared images and prompts to predictions of one aspect, on the scale of the labels."""
    model.module.eval().requires_grad_(requires_grad=False).to(device)
    mean, standard_deviation = scale

    def score(prepared: NDArray[np.float32], prompts: Sequence[str | None]) -> NDArray[np.float64]:
        batch = _batch(prepared, [prompt or "" for prompt in prompts])
        with torch.inference_mode():
            predictions = model.predict(batch.to(device))[aspect]
        return mean + standard_deviation * np.asarray(predictions.float().cpu().numpy(), np.float64)

    return score


def _batch(prepared: NDArray[np.float32], prompts: Sequence[str]) -> Batch:
    """A batch of images and prompts without labels."""
    distinct = {prompt: index for index, prompt in enumerate(dict.fromkeys(prompts))}
    return Batch(
        prompts=tuple(distinct),
        pixels=torch.from_numpy(prepared),
        prompt_of=torch.tensor([distinct[prompt] for prompt in prompts]),
        pairs=torch.empty(0, 2, dtype=torch.int64),
        soft_labels=torch.empty(0),
        pair_weights=torch.empty(0),
        aspects=(),
        ratings=torch.empty(len(prompts), 0),
        answers=torch.empty(len(prompts), 0),
    )
