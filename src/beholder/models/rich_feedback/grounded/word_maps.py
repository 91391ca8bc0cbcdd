"""The map of each word: where the cells of an image match it, and the evidence that is read off the map."""

from math import log, sqrt

import torch
from torch import nn

INITIAL_LOGIT = -2.0
"""Initial logit that an image shows a word: most words of the vocabulary are not shown."""
NAMING_SCALE = 4.0
"""Divisor of naming logits, so that as features they are about as large as the others."""


class Naming(nn.Module):
    """Which words are shown: the similarity of an image's cells to embeddings of words without context."""

    def __init__(self, vocabulary_size: int, width: int) -> None:
        super().__init__()
        self.cells = nn.Conv2d(width, width, 1)
        self.words = nn.Linear(width, width)
        self.rareness = nn.Parameter(torch.full((vocabulary_size,), INITIAL_LOGIT))

    def similarity(self, trunk: torch.Tensor, embedded: torch.Tensor) -> torch.Tensor:
        """Similarity (n, words, cells) of cells (n, width, grid, grid) and embeddings (…, words, width)."""
        similarity: torch.Tensor = self.words(embedded) @ self.cells(trunk).flatten(2) / sqrt(trunk.shape[1])
        return similarity

    def logits(self, similarity: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that the images show the words of these ids (…, words)."""
        logits: torch.Tensor = similarity.logsumexp(-1) - log(similarity.shape[-1]) + self.rareness[token_ids]
        return logits


class WordMaps(nn.Module):
    """Maps of words in their context, and the evidence that is read off them."""

    cells: torch.Tensor

    def __init__(self, width: int, channels: int, pointers: int, grid: int) -> None:
        super().__init__()
        self.channels, self.grid = channels, grid
        self.keys, self.queries = nn.Conv2d(width, width, 1), nn.Linear(width, width)
        self.first = nn.Conv2d(channels + 1, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)
        self.pointers = nn.Conv2d(channels, pointers, 1)
        self.values = nn.Conv2d(width, width, 1)
        read = 2 * channels + 1 + 5 * pointers + width
        self.evidence = nn.Sequential(nn.Linear(read, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.register_buffer("cells", cell_positions(grid), persistent=False)

    def forward(
        self, trunk: torch.Tensor, words: torch.Tensor, naming: torch.Tensor, naming_logits: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The maps (n, words, channels, cells), the positions (n, words, 2 × pointers) and the evidence of words.

        ``trunk`` are the cells (n, width, grid, grid), ``words`` (n, words, width) are in their context;
        ``naming`` (n, words, cells) and ``naming_logits`` (n, words) come from :class:`Naming`.
        """
        n, length, width = words.shape
        keys = self.keys(trunk).reshape(n, self.channels, width // self.channels, -1)
        queries = self.queries(words).reshape(n, length, self.channels, -1).transpose(1, 2)
        matches = (queries @ keys).transpose(1, 2) / sqrt(width // self.channels)
        stacked = torch.cat([matches, naming[:, :, None]], 2).reshape(n * length, -1, self.grid, self.grid)
        maps = nn.functional.gelu(self.first(stacked))
        maps = maps + nn.functional.gelu(self.second(maps))
        pointed = self.pointers(maps).reshape(n, length, -1, self.grid**2) + naming[:, :, None]
        maps = maps.reshape(n, length, self.channels, -1)
        attention = pointed.softmax(-1)  # (n, words, pointers, cells)
        middle = attention @ self.cells
        extent = (attention @ self.cells.square() - middle.square()).clamp(min=0)
        values = self.values(trunk).reshape(n, attention.shape[2], -1, self.grid**2)
        glimpse = (attention.transpose(1, 2) @ values.transpose(2, 3)).transpose(1, 2)
        read = [
            maps.mean(-1),
            maps.amax(-1),
            naming_logits[..., None] / NAMING_SCALE,
            middle.flatten(2),
            extent.flatten(2),
            (pointed.logsumexp(-1) - log(self.grid**2)) / NAMING_SCALE,
            glimpse.flatten(2),
        ]
        return maps, middle.flatten(2), self.evidence(torch.cat(read, -1))


def cell_positions(grid: int) -> torch.Tensor:
    """Positions of cells, (grid², 2): across and down, from −1 to 1."""
    steps = (torch.arange(grid) + 0.5) / grid * 2 - 1
    return torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1).reshape(-1, 2)
