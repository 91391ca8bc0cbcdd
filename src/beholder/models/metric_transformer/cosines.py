"""How similar an image is to each metric's sentence, where encoders of images and sentences share a space.

CLIP, SigLIP and BLIP have both: of one folder, the cosine of the vectors of image and sentence is a feature by
itself, which says how well the prompt is met, or, of a fixed sentence, how well that describes the image.
"""

from collections.abc import Sequence

import torch
from torch.nn import functional

from beholder.models.encoders.encoder import Encoder
from beholder.models.text.sentence_encoder import SentenceEncoder

Columns = tuple[int, int]
"""First column of an encoder's vector among those of all encoders, and the first one after it."""


def shared_columns(encoders: Sequence[Encoder], text: SentenceEncoder) -> list[Columns]:
    """The columns of the encoders whose vectors are in the space of the sentences: same weights, same dims."""
    columns, first = [], 0
    for encoder in encoders:
        if encoder.weights == text.space and encoder.dims == text.dims:
            columns.append((first, first + encoder.dims))
        first += encoder.dims
    return columns


def cosines(images: torch.Tensor, sentences: torch.Tensor, columns: Sequence[Columns]) -> torch.Tensor:
    """Cosines (n, metrics, encoders) of images (n, image dims) and their sentences (n, metrics, text dims)."""
    unit_sentences = functional.normalize(sentences, dim=2)
    alike = [
        torch.einsum("nd,nmd->nm", functional.normalize(images[:, first:end], dim=1), unit_sentences)
        for first, end in columns
    ]
    return torch.stack(alike, 2) if alike else sentences.new_empty(*sentences.shape[:2], 0)
