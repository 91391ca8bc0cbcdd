"""Aesthetic heads (LAION): a linear map, or a chain of them, from CLIP's vectors to a score of about 1 to 10.

Two published forms are taken: the linear probe (``weight``, ``bias``), and the chain of ``sac+logos+ava1-l14``
(``layers.0.weight`` …), which has no activations in between and so is one linear map as well. The file must be
given: it is in no package. CLIP's vectors are brought to length 1 first.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.measure.scorers.clip_score import image_vectors
from beholder.measure.scorers.scorer import Scorer, Shown
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.weights.files import hash_files, read_state

LAYER = re.compile(r"(?:layers\.(\d+)\.)?weight")


def load(name: str, head: str, clip: str | None) -> Scorer:
    """The scorer with the head of a file, on the CLIP of a folder or hub name, or the usual one."""
    path = Path(head)
    weight, bias = as_one_map(read_state(path), str(path))
    encoder = load_encoder("clip", clip)
    if encoder.dims != len(weight):
        raise WeightsError(f"{path}: for vectors of {len(weight)} numbers; those of this CLIP have {encoder.dims}")

    def judge(shown: Sequence[Shown]) -> NDArray[np.float64]:
        vectors = image_vectors(encoder, shown).astype(np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ weight + bias)

    return Scorer(name, f"{name}@{hash_files([path])[:12]}+{encoder.identity}", judge)


def as_one_map(state: Mapping[str, torch.Tensor], source: str) -> tuple[NDArray[np.float64], float]:
    """The head as weight (dims,) and bias, its layers multiplied out."""
    found = {name: LAYER.fullmatch(name) for name in state}
    weights = sorted((int(match[1] or 0), name) for name, match in found.items() if match)
    lacking = [name for _, name in weights if name.replace("weight", "bias") not in state]
    others = len(state) - 2 * len(weights)
    if not weights or lacking or others:
        raise WeightsError(
            f"{source}: no aesthetic head; pairs of weight and bias are expected: {', '.join(state)}"
        )
    map_, bias = np.eye(state[weights[0][1]].shape[1]), np.zeros(state[weights[0][1]].shape[1])
    for _, name in weights:
        layer = state[name].double().numpy()
        if layer.shape[1] != len(map_):
            raise WeightsError(f"{source}: {name} takes {layer.shape[1]} numbers, but {len(map_)} come in")
        map_, bias = layer @ map_, layer @ bias + state[name.replace("weight", "bias")].double().numpy()
    if map_.shape[0] != 1:
        raise WeightsError(f"{source}: gives {map_.shape[0]} numbers; one is expected")
    return map_[0], float(bias[0])
