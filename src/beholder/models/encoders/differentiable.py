"""Differentiable preprocessing: from images as tensors to the input of a network.

The same weights as in ``resize.py``, as matrices, without rounding to bytes: rows first, then columns.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch

from beholder.errors import UserError
from beholder.images.resize import weights
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import Preprocessing


def prepare_tensors(images: torch.Tensor, preprocessing: Preprocessing) -> torch.Tensor:
    """Images (n, 3, height, width) with values from 0 to 1, as (n, 3, side, side)."""
    if images.ndim != 4 or images.shape[1] != 3 or not images.is_floating_point():
        raise ValueError(f"images (n, 3, height, width) of 0 to 1 are expected; found {tuple(images.shape)}")
    if preprocessing.method == "tf1":
        raise ValueError("the resize of TensorFlow 1 is not made for gradients")
    height, width = preprocessing.target(images.shape[2], images.shape[3])
    rows, columns = (
        resize_matrix(before, after, preprocessing.method).to(images.dtype).to(images.device)
        for before, after in ((images.shape[3], width), (images.shape[2], height))
    )
    resized = columns @ (images @ rows.T)
    cut = _crop_centre(resized, preprocessing.crop) if preprocessing.crop else resized
    if preprocessing.fit == "longest":
        cut = _pad_to_square(cut, preprocessing.size)
    mean, std = (
        torch.tensor(channels).to(images)[:, None, None] for channels in (preprocessing.mean, preprocessing.std)
    )
    return (cut * (255 * preprocessing.scale) - mean) / std


def prepare_with_gradients(
    images: torch.Tensor, encoders: Sequence[Encoder], preprocessing: Preprocessing
) -> torch.Tensor:
    """What a model is fed, of images (n, 3, height, width) of 0 to 1: pixels, or the vectors of frozen encoders.

    Gradients flow through the encoders, whose own weights stay as they are.
    """
    if not encoders:
        return prepare_tensors(images, preprocessing)
    vectors = []
    for encoder in encoders:
        if encoder.gradients is None:
            raise UserError(f"encoder '{encoder.name}' has no gradients, so the model on it has none either")
        vectors.append(encoder.gradients(prepare_tensors(images, encoder.preprocessing)))
    return torch.cat(vectors, 1)


@lru_cache(maxsize=64)
def resize_matrix(size_in: int, size_out: int, filter_name: str) -> torch.Tensor:
    """The weights of a resize along one side (out, in); the same pixels where the size stays."""
    if size_in == size_out:
        return torch.eye(size_in, dtype=torch.float64)
    first, filter_weights = weights(size_in, size_out, filter_name)
    matrix = np.zeros((size_out, size_in))
    columns = np.minimum(
        first[:, None] + np.arange(filter_weights.shape[1]), size_in - 1
    )  # beyond the end the weight is 0
    np.add.at(matrix, (np.arange(size_out)[:, None], columns), filter_weights)
    return torch.from_numpy(matrix)


def _crop_centre(images: torch.Tensor, side: int) -> torch.Tensor:
    top, left = (images.shape[2] - side) // 2, (images.shape[3] - side) // 2
    return images[:, :, top : top + side, left : left + side]


def _pad_to_square(images: torch.Tensor, side: int) -> torch.Tensor:
    top, left = (side - images.shape[2]) // 2, (side - images.shape[3]) // 2
    bottom, right = side - images.shape[2] - top, side - images.shape[3] - left
    return torch.nn.functional.pad(images, (left, right, top, bottom))
