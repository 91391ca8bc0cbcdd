"""A convolutional network fine-tuned from its fourth stage on: from the maps of the third to a score per metric.

Each metric is a linear function of a hidden layer on the moments (means and standard deviations) of the maps of
all stages and of the head. Two things make a few thousand rated images enough: only the convolutions that mix
channels are trained, not those that filter each channel; and the hidden layer also has to recognise the generator
(:mod:`beholder.models.generator_task`).
"""

from collections.abc import Iterable

import torch
from torch import nn
from torch.nn import functional

from beholder.models.encoders.early_maps import DEPTH, moment_dims, split_vectors
from beholder.models.encoders.efficientnet_lite import FEATURES, SIZES, Block, EfficientNetLite
from beholder.models.encoders.stage_features import moments

SMALL = 0.01
"""Standard deviation of the first weights of the scores, so that training starts from the mean of the labels."""


class TunedNetwork(nn.Module):
    """From vectors of the early stages to scores (n, metrics) and logits of the generators (n, generators)."""

    def __init__(
        self,
        pretrained: EfficientNetLite,
        *,
        size: str,
        side: int,
        metrics: int,
        width: int,
        dropout: float,
        input_dropout: float,
        generators: int,
    ) -> None:
        super().__init__()
        self.size, self.side = SIZES[size], side
        self.stages = nn.ModuleList(list(pretrained.stages())[DEPTH:])
        self.head = pretrained.head
        for block in self.stages.modules():
            if isinstance(block, Block):
                block.depthwise.requires_grad_(requires_grad=False)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        dims = moment_dims(self.size) + 2 * sum(self.size.channels[DEPTH:]) + 2 * FEATURES
        self.standardise = Standardise(dims)
        self.hidden = nn.Linear(dims, width)
        self.dropout = nn.Dropout(dropout)
        self.input_dropout = input_dropout
        self.scores = nn.Linear(width, metrics)
        self.generators = nn.Linear(width, generators)
        nn.init.normal_(self.scores.weight, std=SMALL)
        nn.init.zeros_(self.scores.bias)

    def forward(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores and logits; in training each image may be mirrored, otherwise both ways are averaged."""
        maps, early = split_vectors(vectors, self.size, self.side)
        maps = maps.contiguous(memory_format=torch.channels_last)
        if self.training:
            mirrored = torch.rand(len(maps), device=maps.device) < 0.5
            maps = torch.where(mirrored[:, None, None, None], maps.flip(3), maps)
            return self._judge(maps.contiguous(memory_format=torch.channels_last), early)
        ways = [self._judge(way, early) for way in (maps, maps.flip(3))]
        scores, logits = (torch.stack(both).mean(0) for both in zip(*ways, strict=True))
        return scores, logits

    def measure(self, batches: Iterable[torch.Tensor]) -> None:
        """Standardise by the features that the pretrained network has on these vectors."""
        features = []
        for vectors in batches:
            maps, early = split_vectors(vectors, self.size, self.side)
            features.append(self._features(maps.contiguous(memory_format=torch.channels_last), early))
        self.standardise.measure(torch.cat(features))

    def tuned_parameters(self) -> list[nn.Parameter]:
        """The pretrained parameters that are fine-tuned."""
        modules = (*self.stages, self.head)
        return [each for module in modules for each in module.parameters() if each.requires_grad]

    def new_parameters(self) -> list[tuple[str, nn.Parameter]]:
        """The others, by name."""
        tuned = {id(each) for each in self.parameters() if not each.requires_grad}
        tuned |= {id(each) for each in self.tuned_parameters()}
        return [(name, each) for name, each in self.named_parameters() if id(each) not in tuned]

    def _judge(self, maps: torch.Tensor, early: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.standardise(self._features(maps, early))
        if self.training:  # the same features are dropped for the whole batch
            features = features * functional.dropout(features.new_ones(features.shape[1]), self.input_dropout)
        hidden = self.dropout(functional.gelu(self.hidden(features)))
        return self.scores(hidden).float(), self.generators(hidden).float()

    def _features(self, maps: torch.Tensor, early: torch.Tensor) -> torch.Tensor:
        """Moments of every stage and of the head, (n, dims), in full precision."""
        described = [early.float()]
        for stage in self.stages:
            maps = stage(maps)
            described += moments(maps.float())
        described += moments(self.head(maps).float())
        return torch.cat(described, 1)


class Standardise(nn.Module):
    """Standardises features by their moments before the first step, which are kept.

    Features change while a network is fine-tuned. Moments that followed them would undo part of what was learned.
    """

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, dims: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(dims))
        self.register_buffer("spread", torch.ones(dims))

    def measure(self, features: torch.Tensor) -> None:
        """Keep the moments of these features, (n, dims)."""
        spread = features.std(0, correction=0)
        self.mean = features.mean(0)
        self.spread = spread + 0.01 * spread.mean() + 1e-6

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """The standardised features."""
        return (features - self.mean) / self.spread
