"""Where words meet an image before any layer has read both: how far, where and as what the image shows a word."""

from math import log

import torch
from torch import nn
from torch.nn import functional

UNNAMED = -2.0
"""How far an image shows a word, before anything is learnt, as a logit: most words are not shown."""
TURNS = (-8.0, -6.0, -4.0, -2.0, 0.0, 2.0)
"""Logits that an image shows a word; what the word is told of it turns about each of them.

Most words of a prompt are shown, so it takes much to say that one is not: that is decided where the logit is low.
"""
PLACED = 4
"""What a word is told of the place where its image shows it: the middle and the extent, across and down."""


class Grounding(nn.Module):
    """Image tokens (n, grid², width), compared with the embeddings of words."""

    places: torch.Tensor

    def __init__(self, size: int, width: int, grid: int) -> None:
        super().__init__()
        self.rareness = nn.Parameter(torch.full((size,), UNNAMED))
        self.evidence = nn.Linear(len(TURNS) + PLACED, width)
        self.glimpse = nn.Linear(width, width, bias=False)
        self.weight = nn.Linear(width, 1)
        self.direction = nn.Linear(width, 2)
        self.relation = nn.Linear(1, width)
        for layer in (self.evidence, self.relation):
            nn.init.normal_(layer.weight)  # as large as the embeddings that they are added to
        self.register_buffer("places", _places(grid), persistent=False)

    def named(self, tokens: torch.Tensor, words: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that images show words: their likeness to any token will do.

        The words are told by their embeddings (…, words, width) and numbers (…, words), the same for all images or
        some for each.
        """
        return self._anywhere(_likeness(tokens, words), numbers)

    def told(
        self, tokens: torch.Tensor, words: torch.Tensor, numbers: torch.Tensor, read: torch.Tensor | None = None
    ) -> torch.Tensor:
        """What each word is told of its image, (n, words, width).

        That is how far the image shows it (steps of the logit), where (the middle and the extent of the tokens
        like it), and as what (these tokens). Where all of a prompt is there, 1 in ``read`` for each of its
        words, a word is also told how the places of the words before it lie to those of the words after it,
        along a direction of its own: that "above" is wrong takes a look at what stands on either side of it.
        """
        like = _likeness(tokens, words)
        above = self._anywhere(like, numbers)[..., None] - words.new_tensor(TURNS)
        there = like.softmax(1).transpose(1, 2)  # (n, words, tokens)
        middle = there @ self.places
        extent = (there @ self.places.square() - middle.square()).clamp(min=0)
        told: torch.Tensor = self.evidence(torch.cat([(above / 2).tanh(), middle, extent], -1))
        told = told + self.glimpse(there @ tokens)
        if read is not None:
            weights = functional.softplus(self.weight(words)) * read[..., None]
            apart = _before(middle, weights) - _before(middle.flip(1), weights.flip(1)).flip(1)
            told = told + self.relation((self.direction(words) * apart).sum(-1, keepdim=True).tanh())
        return told

    def _anywhere(self, like: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = like.logsumexp(1) - log(like.shape[1]) + self.rareness[numbers]
        return found


def _likeness(tokens: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """Of image tokens (n, tokens, width) and embeddings of words (…, words, width), (n, tokens, words)."""
    like: torch.Tensor = tokens @ words.transpose(-1, -2) * tokens.shape[-1] ** -0.5
    return like


def _before(middle: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean (n, words, 2) of the places before each; 0 before the first."""
    sums, shares = ((each.cumsum(1) - each) for each in (middle * weights, weights))
    return sums / shares.clamp(min=1e-6)


def _places(grid: int) -> torch.Tensor:
    """Where image tokens are, (grid², 2): across and down, from −1 to 1."""
    steps = (torch.arange(grid) + 0.5) / grid * 2 - 1
    return torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1).reshape(-1, 2)
