"""Models trained by `beholder learn` as scorers, by their folder.

Two-tower and reward models read each distinct prompt once; others are shown images and prompts a batch at a time.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import UserError
from beholder.measure.scorers.preference import AT_HAND, scorer_of, stamp
from beholder.measure.scorers.scorer import Scorer, Shown
from beholder.models.encoders.torch_network import share_cores
from beholder.models.preference.image_reward import ImageReward
from beholder.models.preference.two_tower import TwoTower
from beholder.models.prompt_scoring import select_device
from beholder.models.trainable import Batch, Trainable
from beholder.models.weights.checkpoint import WEIGHTS, Record, load_checkpoint
from beholder.models.weights.files import hash_files


def load(folder: Path, aspect: str | None, device: str | None) -> Scorer:
    """The scorer of an aspect; of the only one where none is named."""
    return _loaded(folder, aspect, stamp(str(folder)), device)


@lru_cache(maxsize=AT_HAND)
def _loaded(folder: Path, aspect: str | None, _: tuple[tuple[str, int, int], ...], device: str | None) -> Scorer:
    model, record = load_checkpoint(folder)
    chosen = _aspect(folder, aspect, record)
    ending = f":{aspect}" if aspect else ""
    name, identity = f"{folder}{ending}", f"{folder.resolve().name}{ending}@{hash_files([folder / WEIGHTS])[:12]}"
    if isinstance(model, TwoTower | ImageReward):
        return scorer_of(name, identity, model, device)
    judge = _by_batches(model, chosen, record.scales.get(chosen, (0.0, 1.0)), select_device(device))
    return Scorer(name, identity, judge, None, share_cores)


def _aspect(folder: Path, aspect: str | None, record: Record) -> str:
    if aspect is None and len(record.aspects) == 1:
        return record.aspects[0]
    if aspect not in record.aspects:
        listed = ", ".join(f"{folder}:{one}" for one in record.aspects)
        found = f"aspect '{aspect}' is not known" if aspect else "judges several aspects"
        raise UserError(f"{folder}: {found}; name one of: {listed}")
    return aspect


def _by_batches(
    model: Trainable[Batch], aspect: str, scale: tuple[float, float], device: torch.device
) -> Callable[[Sequence[Shown]], NDArray[np.float64]]:
    """Predictions of one aspect, put back on the scale of the labels."""
    model.module.eval().requires_grad_(requires_grad=False).to(device)
    mean, deviation = scale

    def judge(shown: Sequence[Shown]) -> NDArray[np.float64]:
        prepared = np.stack([model.prepare(one.image, None) for one in shown if one.image is not None])
        with torch.inference_mode():
            found = model.predict(_batch(prepared, [one.prompt or "" for one in shown]).to(device))[aspect]
        return mean + deviation * np.asarray(found.float().cpu().numpy(), np.float64)

    return judge


def _batch(prepared: NDArray[np.float32], prompts: Sequence[str]) -> Batch:
    """Images to be judged, without people's judgements."""
    distinct = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts))}
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
