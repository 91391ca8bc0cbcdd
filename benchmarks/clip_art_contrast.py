"""A small projection of images and texts into one space, trained on pairs by a symmetric InfoNCE loss."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

Vectors = NDArray[np.float32]
BATCH, LEARNING_RATE = 512, 1e-3
FIRST_TEMPERATURE = 0.07


@dataclass(frozen=True, slots=True)
class ContrastSettings:
    """What is chosen on held-out pairs."""

    dims: int = 128
    hidden: int = 0
    """Width of the hidden layer of images; 0: a linear map."""
    frozen_text: bool = False
    """Whether texts stay as they are; the space is then theirs."""
    dropout: float = 0.5
    """Of the image's features."""
    decay: float = 0.1
    epochs: int = 60
    keywords: bool = False
    """Whether the text is the title with the keywords, not the title alone."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Vectors of pictures and of their texts, and which texts are the same."""

    images: Tensor  # (pairs, image dims)
    texts: Tensor  # (pairs, text dims)
    groups: Tensor  # (pairs,)

    def select(self, rows: Tensor) -> "Pairs":
        return Pairs(self.images[rows], self.texts[rows], self.groups[rows])


class Projection(nn.Module):
    """Images, standardised by the training set, and texts in one space."""

    mean: Tensor
    deviation: Tensor
    text_mean: Tensor

    def __init__(self, pairs: Pairs, settings: ContrastSettings) -> None:
        super().__init__()
        width, text_width = pairs.images.shape[1], pairs.texts.shape[1]
        dims = text_width if settings.frozen_text else settings.dims
        self.register_buffer("mean", pairs.images.mean(0))
        self.register_buffer("deviation", pairs.images.std(0) + 1e-6)
        self.register_buffer("text_mean", pairs.texts.mean(0))
        first = [nn.Linear(width, settings.hidden), nn.GELU()] if settings.hidden else []
        last = nn.Linear(settings.hidden or width, dims)
        self.of_images = nn.Sequential(nn.Dropout(settings.dropout), *first, last)
        self.of_texts = nn.Identity() if settings.frozen_text else nn.Linear(text_width, dims, bias=False)
        self.scale = nn.Parameter(torch.tensor(1 / FIRST_TEMPERATURE).log())

    def project_images(self, images: Tensor) -> Tensor:
        """Unit vectors of images: (images, dims)."""
        return functional.normalize(self.of_images((images - self.mean) / self.deviation), dim=1)

    def project_texts(self, texts: Tensor) -> Tensor:
        """Unit vectors of texts: (texts, dims)."""
        return functional.normalize(self.of_texts(texts - self.text_mean), dim=1)


def train_projection(pairs: Pairs, settings: ContrastSettings, seed: int) -> Projection:
    """Train by AdamW with a cosine schedule."""
    torch.manual_seed(seed)
    projection = Projection(pairs, settings).train()
    optimiser = torch.optim.AdamW(projection.parameters(), LEARNING_RATE, weight_decay=settings.decay)
    batches = max(1, len(pairs.images) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, settings.epochs * batches)
    for _ in range(settings.epochs):
        for rows in torch.randperm(len(pairs.images)).tensor_split(batches):
            loss = _contrast(projection, pairs.select(rows))
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return projection.eval()


def _contrast(projection: Projection, pairs: Pairs) -> Tensor:
    """Mean of both directions; other pairs of the same text are no negatives."""
    products = projection.project_images(pairs.images) @ projection.project_texts(pairs.texts).T
    logits = products * projection.scale.exp().clamp(max=100)
    same = pairs.groups[:, None] == pairs.groups[None]
    logits = logits.masked_fill(same & ~torch.eye(len(same), dtype=torch.bool), -torch.inf)
    targets = torch.arange(len(logits))
    return (functional.cross_entropy(logits, targets) + functional.cross_entropy(logits.T, targets)) / 2


@torch.inference_mode()
def recalls(projection: Projection, pairs: Pairs) -> dict[str, float]:
    """Recall@k among the pairs, of which each text occurs once."""
    products = projection.project_images(pairs.images) @ projection.project_texts(pairs.texts).T
    own = products.diagonal()
    ranks = {"title": (products > own[:, None]).sum(1), "picture": (products > own[None]).sum(0)}
    return {f"{name}@{k}": float((rank < k).float().mean()) for name, rank in ranks.items() for k in (1, 10)}
