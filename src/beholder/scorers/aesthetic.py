"""Aesthetic heads (LAION): a linear map, or a chain of them, from CLIP's embeddings to a score of about 1 to 10.

Two published forms are supported: the linear probe (``weight``, ``bias``), and the chain of ``sac+logos+ava1-l14``
(``layers.0.weight`` …), which has no activations in between and so is one linear map as well. No package contains
the file, so its path is required. CLIP's embeddings are scaled to unit length first.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.weights.files import hash_files, read_state
from beholder.scorers.clip_score import image_vectors
from beholder.scorers.scorer import Scorer, ScorerInput

LAYER = re.compile(r"(?:layers\.(\d+)\.)?weight")


def load(name: str, head: str, clip: str | None) -> Scorer:
    """Load the scorer with the head of a file, on the CLIP of a folder or hub name, or the default one."""
    path = Path(head)
    weight, bias = as_linear_map(read_state(path), str(path))
    encoder = load_encoder("clip", clip)
    if encoder.dims != len(weight):
        raise WeightsError(f"{path}: for vectors of {len(weight)} numbers; those of this CLIP have {encoder.dims}")

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        vectors = image_vectors(encoder, inputs).astype(np.float64)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True) @ weight + bias)

    return Scorer(name, f"{name}@{hash_files([path])[:12]}+{encoder.identity}", score)


def as_linear_map(state: Mapping[str, torch.Tensor], source: str) -> tuple[NDArray[np.float64], float]:
    """The head as weight (dims,) and bias, its layers multiplied out."""
    matches = {name: LAYER.fullmatch(name) for name in state}
    weights = sorted((int(match[1] or 0), name) for name, match in matches.items() if match)
    lacking = [name for _, name in weights if name.replace("weight", "bias") not in state]
    others = len(state) - 2 * len(weights)
    if not weights or lacking or others:
        raise WeightsError(
            f"{source}: no aesthetic head; pairs of weight and bias are expected: {', '.join(state)}"
        )
    matrix, bias = np.eye(state[weights[0][1]].shape[1]), np.zeros(state[weights[0][1]].shape[1])
    for _, name in weights:
        layer = state[name].double().numpy()
        if layer.shape[1] != len(matrix):
            raise WeightsError(f"{source}: {name} takes {layer.shape[1]} numbers, but {len(matrix)} come in")
        matrix, bias = layer @ matrix, layer @ bias + state[name.replace("weight", "bias")].double().numpy()
    if matrix.shape[0] != 1:
        raise WeightsError(f"{source}: gives {matrix.shape[0]} numbers; one is expected")
    return matrix[0], float(bias[0])
