"""Grounding of words in the image, before the joint encoder: whether, where and as what the image shows a word."""

from math import log

import torch
from torch import nn
from torch.nn import functional

INITIAL_LOGIT = -2.0
"""Initial logit that an image shows a word: most words of the vocabulary are not shown."""
THRESHOLDS = (-8.0, -6.0, -4.0, -2.0, 0.0, 2.0)
"""Thresholds of the logit that an image shows a word; each gives one feature, tanh of half the difference.

Most words of a prompt are shown, so strong evidence is needed that one is not: most thresholds are low.
"""
POSITION_FEATURES = 4
"""Features of the position at which the image shows a word: mean and variance, across and down."""


class Grounding(nn.Module):
    """Image tokens (n, grid², width), compared with the embeddings of words."""

    places: torch.Tensor

    def __init__(self, vocabulary_size: int, width: int, grid: int) -> None:
        super().__init__()
        self.rareness = nn.Parameter(torch.full((vocabulary_size,), INITIAL_LOGIT))
        self.evidence = nn.Linear(len(THRESHOLDS) + POSITION_FEATURES, width)
        self.glimpse = nn.Linear(width, width, bias=False)
        self.weight = nn.Linear(width, 1)
        self.direction = nn.Linear(width, 2)
        self.relation = nn.Linear(1, width)
        for layer in (self.evidence, self.relation):
            nn.init.normal_(layer.weight)  # as large as the embeddings that they are added to
        self.register_buffer("places", _token_positions(grid), persistent=False)

    def naming_logits(self, tokens: torch.Tensor, words: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that images show words, by the similarity to any image token.

        The words are given by embeddings (…, words, width) and token ids (…, words), the same for all images or
        different ones for each.
        """
        return self._naming_logits(_similarity(tokens, words), token_ids)

    def word_evidence(
        self,
        tokens: torch.Tensor,
        words: torch.Tensor,
        token_ids: torch.Tensor,
        prompt_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Evidence of the image for each word, (n, words, width), to be added to the word's embedding.

        It encodes whether the image shows the word (thresholds of the logit), where (mean and variance of the
        positions of similar tokens), and as what (these tokens). Where the prompt is complete, ``prompt_mask``
        being 1 for each of its words, it also encodes the offset between the positions of the words before and
        after it, along a learned direction: whether "above" is wrong depends on the words on either side of it.
        """
        similarity = _similarity(tokens, words)
        above = self._naming_logits(similarity, token_ids)[..., None] - words.new_tensor(THRESHOLDS)
        attention = similarity.softmax(1).transpose(1, 2)  # (n, words, tokens)
        middle = attention @ self.places
        extent = (attention @ self.places.square() - middle.square()).clamp(min=0)
        evidence: torch.Tensor = self.evidence(torch.cat([(above / 2).tanh(), middle, extent], -1))
        evidence = evidence + self.glimpse(attention @ tokens)
        if prompt_mask is not None:
            weights = functional.softplus(self.weight(words)) * prompt_mask[..., None]
            offset = _mean_before(middle, weights) - _mean_before(middle.flip(1), weights.flip(1)).flip(1)
            evidence = evidence + self.relation((self.direction(words) * offset).sum(-1, keepdim=True).tanh())
        return evidence

    def _naming_logits(self, similarity: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = similarity.logsumexp(1) - log(similarity.shape[1]) + self.rareness[token_ids]
        return logits


def _similarity(tokens: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """Scaled inner products (n, tokens, words) of image tokens (n, tokens, width) and words (…, words, width)."""
    similarity: torch.Tensor = tokens @ words.transpose(-1, -2) * tokens.shape[-1] ** -0.5
    return similarity


def _mean_before(middle: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean (n, words, 2) of the positions of the words before each; 0 for the first."""
    sums, totals = ((each.cumsum(1) - each) for each in (middle * weights, weights))
    return sums / totals.clamp(min=1e-6)


def _token_positions(grid: int) -> torch.Tensor:
    """Positions of image tokens, (grid², 2): across and down, from −1 to 1."""
    steps = (torch.arange(grid) + 0.5) / grid * 2 - 1
    return torch.stack(torch.meshgrid(steps, steps, indexing="xy"), -1).reshape(-1, 2)
