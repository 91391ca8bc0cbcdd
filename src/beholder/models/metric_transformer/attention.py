"""The Metric Transformer's network: a token for each metric, and metrics that attend to each other.

Quality and alignment are judged by the same raters and are correlated: one is informative about the other. So each
metric (quality, alignment, …) has a token, computed from the image, the metric's sentence and an embedding of the
metric; an encoder layer works on the tokens z; finally metric i attends to every metric j, with query, key and
value matrices of its own:

    a(i, j)  = softmax over j of ⟨Q_i z_i, K_j z_j⟩ / √width
    score(i) = w_i · norm(z_i + Σ_j a(i, j) V_j z_j) + b_i

With ``cross`` off, i attends only to itself in both layers: the same network without exchange between metrics.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

PER_METRIC = frozenset({"token", "attention.query", "attention.key", "attention.value", "score", "bias"})
"""Parameters with a slice for each metric; all others are shared."""

SMALL = 0.1
"""Values and scores start small, so that training starts from each metric's own token and its mean."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the network."""

    metrics: int
    image_dims: int
    text_dims: int
    width: int
    heads: int
    feedforward: int
    dropout: float
    input_dropout: float
    cross: bool
    generators: int = 0
    """Classes of the auxiliary task of recognising the generator; 0: without it."""
    cosines: int = 0
    """Cosines of image and sentence, where encoders share a space with sentences."""


class MetricNetwork(nn.Module):
    """From features of images (n, image dims) and of sentences (n, metrics, text dims) to scores (n, metrics).

    With cosines of both (n, metrics, cosines) where encoders have a space in common.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.cross = shape.cross
        self.shared_frozen = False
        self.standardise = nn.BatchNorm1d(shape.image_dims, affine=False)  # with moments of the training images
        self.input_dropout = shape.input_dropout
        self.image = nn.Linear(shape.image_dims, width)
        self.text = nn.Linear(shape.text_dims, width)
        self.mix = nn.Linear(3 * width, width)
        self.standardise_cosines = nn.BatchNorm1d(shape.cosines, affine=False) if shape.cosines else nn.Identity()
        self.cosines = nn.Linear(shape.cosines, width, bias=False) if shape.cosines else None
        self.dropout = nn.Dropout(shape.dropout)
        self.token = nn.Parameter(torch.randn(shape.metrics, width) / math.sqrt(width))
        self.encoder = nn.TransformerEncoderLayer(
            width,
            shape.heads,
            shape.feedforward,
            shape.dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.attention = MetricAttention(shape.metrics, width)
        self.norm = nn.LayerNorm(width)
        self.score = nn.Parameter(SMALL * torch.randn(shape.metrics, width) / math.sqrt(width))
        self.bias = nn.Parameter(torch.zeros(shape.metrics))
        self.generators = nn.Linear(width, shape.generators) if shape.generators else None

    def freeze_shared(self) -> None:
        """From now on only the parameters of single metrics are trained."""
        for name, parameter in self.named_parameters():
            parameter.requires_grad = name in PER_METRIC
        self.shared_frozen = True

    def train(self, mode: bool = True) -> "MetricNetwork":
        """As for every module, except that frozen moments of the features are not estimated again."""
        super().train(mode)
        for standardised in (self.standardise, self.standardise_cosines):
            standardised.train(mode and not self.shared_frozen)
        return self

    def forward(
        self, images: torch.Tensor, sentences: torch.Tensor, cosines: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The scores."""
        return self.scores_and_logits(images, sentences, cosines)[0]

    def scores_and_logits(
        self, images: torch.Tensor, sentences: torch.Tensor, cosines: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """The scores, and the logits of the generators (n, generators) where the network has that task."""
        tokens = self._tokens(images, sentences)
        if self.cosines is not None and cosines is not None:
            flat = self.standardise_cosines(cosines.flatten(0, 1))  # (n · metrics, cosines)
            tokens = tokens + self.cosines(flat).unflatten(0, cosines.shape[:2])
        hidden = self._hidden(tokens)
        scores = (hidden * self.score).sum(2) + self.bias
        return scores, None if self.generators is None else self.generators(hidden.mean(1))

    def _tokens(self, images: torch.Tensor, sentences: torch.Tensor) -> torch.Tensor:
        """Joint features of image and sentence plus the metric's embedding, (n, metrics, width)."""
        image = self.dropout(functional.gelu(self.image(self._dropped(self.standardise(images)))))
        text = self.dropout(functional.gelu(self.text(sentences)))
        image = image[:, None].expand_as(text)
        mixed: torch.Tensor = self.mix(torch.cat([image, text, image * text], 2))
        return mixed + self.token

    def _dropped(self, images: torch.Tensor) -> torch.Tensor:
        """Dropout of features, the same ones for the whole batch, which is much cheaper."""
        mask = functional.dropout(images.new_ones(images.shape[1]), self.input_dropout, self.training)
        return images * mask if self.training else images

    def _hidden(self, tokens: torch.Tensor) -> torch.Tensor:
        unseen = None if self.cross else off_diagonal(tokens.shape[1], tokens.device)
        z = self.encoder(tokens, src_mask=unseen)
        hidden: torch.Tensor = self.norm(z + self.attention(z, unseen))
        return hidden


class MetricAttention(nn.Module):
    """Attention from metric to metric, with each metric's own matrices; (n, metrics, width) in and out."""

    def __init__(self, metrics: int, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (
            nn.Parameter(scale * torch.randn(metrics, width, width) / math.sqrt(width)) for scale in (1, 1, SMALL)
        )

    def forward(self, z: torch.Tensor, unseen: torch.Tensor | None) -> torch.Tensor:
        """The attended values of each metric; ``unseen`` (metrics, metrics) is true where attention is masked."""
        queries, keys, values = (_by_metric(z, matrices) for matrices in (self.query, self.key, self.value))
        return metric_weights(queries, keys, unseen) @ values


def metric_weights(queries: torch.Tensor, keys: torch.Tensor, unseen: torch.Tensor | None) -> torch.Tensor:
    """Attention weights of metric i on metric j, (n, i, j); each row sums to 1."""
    logits = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[2])
    return (logits if unseen is None else logits.masked_fill(unseen, -math.inf)).softmax(2)


def off_diagonal(metrics: int, device: torch.device) -> torch.Tensor:
    """True everywhere but on the diagonal, (metrics, metrics)."""
    return ~torch.eye(metrics, dtype=torch.bool, device=device)


def _by_metric(z: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """Each metric's token times its own matrix."""
    return torch.einsum("nmd,mde->nme", z, matrices)
