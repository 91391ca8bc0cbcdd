"""The Metric Transformer's network: a token for each metric, and metrics that attend to each other.

How good a picture is and how well it fits its prompt are judged by the same eyes: where one is known, it says
something about the other. So each metric (quality, alignment, …) has a token, made of what the image shows, what
the metric's sentence says, and which metric it is; an encoder layer works on the tokens z; and at last metric i
looks at every metric j, with a query, a key and a value matrix that each metric has for its own:

    a(i, j)  = softmax over j of ⟨Q_i z_i, K_j z_j⟩ / √width
    score(i) = w_i · norm(z_i + Σ_j a(i, j) V_j z_j) + b_i

With ``cross`` off, i sees itself alone in both places: the same network, in which no metric knows of another.
"""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

OWN = frozenset({"token", "attention.query", "attention.key", "attention.value", "score", "bias"})
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


class MetricNetwork(nn.Module):
    """From features of images (n, image dims) and of sentences (n, metrics, text dims) to scores (n, metrics)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.cross = shape.cross
        self.shared_frozen = False
        self.standardise = nn.BatchNorm1d(shape.image_dims, affine=False)  # with numbers from training alone
        self.input_dropout = shape.input_dropout
        self.image = nn.Linear(shape.image_dims, width)
        self.text = nn.Linear(shape.text_dims, width)
        self.mix = nn.Linear(3 * width, width)
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

    def freeze_shared(self) -> None:
        """From now on only what each metric has for itself learns."""
        for name, parameter in self.named_parameters():
            parameter.requires_grad = name in OWN
        self.shared_frozen = True

    def train(self, mode: bool = True) -> "MetricNetwork":
        """As of every module; but numbers to standardise with that are frozen are not estimated again."""
        super().train(mode)
        self.standardise.train(mode and not self.shared_frozen)
        return self

    def forward(self, images: torch.Tensor, sentences: torch.Tensor) -> torch.Tensor:
        """The scores."""
        hidden = self._hidden(self._tokens(images, sentences))
        return (hidden * self.score).sum(2) + self.bias

    def _tokens(self, images: torch.Tensor, sentences: torch.Tensor) -> torch.Tensor:
        """The shared feature of image and sentence, and which metric it is for; (n, metrics, width)."""
        shown = self.dropout(functional.gelu(self.image(self._dropped(self.standardise(images)))))
        said = self.dropout(functional.gelu(self.text(sentences)))
        shown = shown[:, None].expand_as(said)
        mixed: torch.Tensor = self.mix(torch.cat([shown, said, shown * said], 2))
        return mixed + self.token

    def _dropped(self, images: torch.Tensor) -> torch.Tensor:
        """Without some of the features, in training; the same ones for the whole batch, which is much cheaper."""
        kept = functional.dropout(images.new_ones(images.shape[1]), self.input_dropout, self.training)
        return images * kept if self.training else images

    def _hidden(self, tokens: torch.Tensor) -> torch.Tensor:
        unseen = None if self.cross else others(tokens.shape[1], tokens.device)
        z = self.encoder(tokens, src_mask=unseen)
        hidden: torch.Tensor = self.norm(z + self.attention(z, unseen))
        return hidden


class MetricAttention(nn.Module):
    """Attention from metric to metric, with matrices of each metric's own; (n, metrics, width) both ways."""

    def __init__(self, metrics: int, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value = (
            nn.Parameter(scale * torch.randn(metrics, width, width) / math.sqrt(width)) for scale in (1, 1, SMALL)
        )

    def forward(self, z: torch.Tensor, unseen: torch.Tensor | None) -> torch.Tensor:
        """What each metric takes from those it sees; ``unseen`` (metrics, metrics) is true where it is blind."""
        queries, keys, values = (_by_metric(z, one) for one in (self.query, self.key, self.value))
        return metric_weights(queries, keys, unseen) @ values


def metric_weights(queries: torch.Tensor, keys: torch.Tensor, unseen: torch.Tensor | None) -> torch.Tensor:
    """How much metric i looks at metric j, (n, i, j); each row sums to 1."""
    alike = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[2])
    return (alike if unseen is None else alike.masked_fill(unseen, -math.inf)).softmax(2)


def others(metrics: int, device: torch.device) -> torch.Tensor:
    """True for every metric but oneself, (metrics, metrics)."""
    return ~torch.eye(metrics, dtype=torch.bool, device=device)


def _by_metric(z: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """Each metric's token times its own matrix."""
    return torch.einsum("nmd,mde->nme", z, matrices)
