"""Layers over the words of a prompt: attention with a learned bias by distance, and pairs of positions."""

import torch
from torch import nn
from torch.nn import functional

FARTHEST = 12
"""Distance between two words beyond which it makes no difference."""
MASKED = -100.0
"""Added to the logits of padding; finite, so that a row of nothing else has no nan."""


class WordLayer(nn.Module):
    """Self-attention and a feed-forward layer over words (n, words, width), each after a layer norm."""

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.distance = DistanceBias(heads)
        self.before_attention, self.before_mixing = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.mixing = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The words after the layer; ``mask`` (n, words) is 1 where there is a word."""
        n, length, width = words.shape
        split = self.queries_keys_values(self.before_attention(words)).reshape(n, length, 3, self.heads, -1)
        queries, keys, values = split.permute(2, 0, 3, 1, 4)  # each (n, heads, words, width / heads)
        bias = self.distance(length) + padding_bias(mask)[:, None]
        attended = functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
        words = words + self.dropout(self.output(attended.transpose(1, 2).reshape(n, length, width)))
        mixed: torch.Tensor = words + self.dropout(self.mixing(self.before_mixing(words)))
        return mixed


class DistanceBias(nn.Module):
    """A learned logit by the distance from one word to another, clamped, for each head."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(heads, 2 * FARTHEST + 1))

    def forward(self, length: int) -> torch.Tensor:
        """Logits (heads, words, words)."""
        positions = torch.arange(length, device=self.logits.device)
        distance = (positions[None] - positions[:, None]).clamp(-FARTHEST, FARTHEST) + FARTHEST
        return self.logits[:, distance]


class Offsets(nn.Module):
    """Evidence of relations: how the positions of two other words differ, weighed by the word itself.

    Each word points to one word before it and one after it. The offset between their positions in the image is
    multiplied with a projection of the word, so that "left" and "right" can weigh the same offset with opposite
    signs from the first step on.
    """

    def __init__(self, width: int, pointers: int, inner: int = 32) -> None:
        super().__init__()
        self.before, self.after = DistanceBias(1), DistanceBias(1)
        self.keys = nn.Linear(width, 2)
        self.offset = nn.Linear(2 * pointers, inner, bias=False)
        self.word = nn.Linear(width, inner)
        self.evidence = nn.Linear(inner, width)

    def forward(self, words: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Evidence (n, words, width) from words (n, words, width) and positions (n, words, 2 × pointers)."""
        keys = self.keys(words).movedim(-1, 0)[:, :, None] + padding_bias(mask)  # (2, n, 1, words)
        order = torch.ones(words.shape[1], words.shape[1], device=words.device)
        sides = []
        for side, distance, allowed in ((0, self.before, order.tril(-1)), (1, self.after, order.triu(1))):
            logits = keys[side] + distance(words.shape[1]) + (1 - allowed) * MASKED
            sides.append(logits.softmax(-1) @ positions)
        evidence: torch.Tensor = self.evidence(self.offset(sides[0] - sides[1]) * self.word(words))
        return evidence


def padding_bias(mask: torch.Tensor) -> torch.Tensor:
    """Logits (n, 1, words) that keep attention away from padding."""
    return (1 - mask[:, None].float()) * MASKED
