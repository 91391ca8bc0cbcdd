"""Fine-tuned networks and Metric Transformers on frozen features: each scores all metrics, and the mean counts.

The two kinds err differently: frozen features of all stages keep textures that fine-tuning on a few thousand
images would lose, and fine-tuned ones contain what raters look for and ImageNet's classes did not ask for.
Fine-tuned networks see the image alone; the Metric Transformers
(:mod:`beholder.models.metric_transformer.model`) also read the prompt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, field_validator
from torch import nn

from beholder.models.division import part_weight
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.early_maps import size_and_side
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite, load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.generator_task import generator_loss
from beholder.models.metric_transformer import model as metric_transformer
from beholder.models.metric_transformer.model import MetricSettings, MetricTransformer
from beholder.models.recipe_settings import validate_settings
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.models.tuned_metrics.network import TunedNetwork
from beholder.study.question import Settings
from beholder.tables.provenance import Plain


class TunedSettings(Settings):
    """The ``[model]`` table of a recipe."""

    tuned: tuple[str, ...] = Field(
        ("efficientnet-lite0-early",),
        min_length=1,
        description="encoders of the early stages of the networks that are fine-tuned",
    )
    frozen: MetricSettings = Field(
        MetricSettings(members=4, generator_weight=0.2),
        description="the Metric Transformers beside them, as in the recipe metric-transformer",
    )
    width: int = Field(128, ge=4, description="of the hidden layer of a fine-tuned network")
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="proportion of features dropped at each step")
    rate: float = Field(
        0.5, gt=0, description="learning rate of pretrained parameters, in proportion to that of new ones"
    )
    generator_weight: float = Field(
        0.25, ge=0, description="weight of the auxiliary loss of recognising the generator; 0: none"
    )
    generators: int = Field(
        64, ge=2, description="classes of the auxiliary task; of more generators, several count as the same"
    )

    @field_validator("tuned")
    @classmethod
    def _early(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        early = [name for name, entry in ENCODERS.items() if entry.module == EARLY]
        wrong = [name for name in names if name not in early]
        if wrong:
            raise ValueError(f"{', '.join(wrong)}: not early stages of a network; known: {', '.join(early)}")
        return names


EARLY = "early_maps"
"""The module of the encoders whose networks can be fine-tuned."""


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(TunedSettings, settings)
    frozen = metric_transformer.configure(chosen.frozen.model_dump(mode="json"), prompts, aspects)
    return {
        **chosen.model_dump(mode="json"),
        "frozen": dict(frozen),
        "metrics": list(aspects),
        "identities": [load_encoder(name).identity for name in chosen.tuned],
    }


def build(config: Config, *, fresh: bool) -> "TunedMetrics":
    """Build the model from its configuration."""
    names = [key for key in config if key in TunedSettings.model_fields and key != "frozen"]
    chosen = TunedSettings.model_validate({key: config[key] for key in names})
    frozen_config, metrics = config["frozen"], config["metrics"]
    if not isinstance(frozen_config, dict) or not isinstance(metrics, list):
        raise TypeError("the configuration of a model of fine-tuned networks lacks its frozen part or its metrics")
    frozen = metric_transformer.build(frozen_config, fresh=fresh)
    networks = [_network(name, chosen, len(metrics), fresh=fresh) for name in chosen.tuned]
    return TunedMetrics(frozen, networks, tuple(str(metric) for metric in metrics), chosen, config)


def _network(name: str, settings: TunedSettings, metrics: int, *, fresh: bool) -> TunedNetwork:
    size, side = size_and_side(name)
    pretrained = load_network(name, size, ENCODERS[name].weights)[0] if fresh else EfficientNetLite(SIZES[size])
    return TunedNetwork(
        pretrained,
        size=size,
        side=side,
        metrics=metrics,
        width=settings.width,
        dropout=settings.dropout,
        input_dropout=settings.input_dropout,
        generators=settings.generators,
    )


class TunedMetrics:
    """All networks with their losses and their scores; a ``Trainable`` that ``UsesEncoders``."""

    def __init__(
        self,
        frozen: MetricTransformer,
        networks: Sequence[TunedNetwork],
        metrics: tuple[str, ...],
        settings: TunedSettings,
        config: Config,
    ) -> None:
        self._frozen = frozen
        self._networks = networks
        self._module = nn.ModuleDict({"frozen": frozen.module, "tuned": nn.ModuleList(networks)})
        self._metrics = metrics
        self._settings = settings
        self._config = config

    @property
    def module(self) -> nn.ModuleDict:
        """The networks; the early stages and the frozen encoders are no part of a checkpoint."""
        return self._module

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The early stages of the fine-tuned networks, then the frozen encoders."""
        return (*(load_encoder(name) for name in self._settings.tuned), *self._frozen.encoders)

    @property
    def compares_images(self) -> bool:
        """True: features are standardised by the first batches of a single process."""
        return True

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:  # noqa: ARG002 - mirrored by the networks
        """The vectors of all encoders, (dims,)."""
        pixels = np.asarray(image)
        return np.concatenate([encoder.encode([pixels])[0] for encoder in self.encoders])

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """New matrices decay; pretrained parameters do not, and learn more slowly."""
        new = [*self._frozen.module.named_parameters()]
        for network in self._networks:
            new += network.new_parameters()
        tuned = [parameter for network in self._networks for parameter in network.tuned_parameters()]
        slow: Groups = [{"params": tuned, "lr": learning_rate * self._settings.rate, "weight_decay": 0.0}]
        return slow + decayed_groups(new, learning_rate, weight_decay)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean squared errors of all networks, and the cross entropy of the generators of the tuned ones."""
        frozen_batch, vectors = self._parts(batch)
        total = self._frozen.loss(frozen_batch)
        columns = [batch.aspects.index(metric) for metric in self._metrics]
        rated = batch.ratings[:, columns]
        labelled = ~rated.isnan()
        weight = part_weight(batch, lambda labels: float((~labels.ratings[:, columns].isnan()).sum()))
        for network, of_network in zip(self._networks, vectors, strict=True):
            scores, logits = network(of_network)
            errors = (scores - rated.nan_to_num()).square() * labelled
            total = total + errors.sum() / labelled.sum().clamp_min(1) * weight
            total = total + self._settings.generator_weight * generator_loss(logits, batch)
        return total

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """Each metric's scores: half of them by the Metric Transformers, half by the fine-tuned networks."""
        frozen_batch, vectors = self._parts(batch)
        frozen = self._frozen.predict(frozen_batch)
        pairs = zip(self._networks, vectors, strict=True)
        tuned = torch.stack([network(of_network)[0] for network, of_network in pairs]).mean(0)
        return {metric: (frozen[metric] + tuned[:, column]) / 2 for column, metric in enumerate(self._metrics)}

    def after_step(self) -> None:
        """Nothing is clamped."""

    def _parts(self, batch: Batch) -> tuple[Batch, list[torch.Tensor]]:
        """The batch of the frozen features, and the vectors of each fine-tuned network."""
        ends = np.cumsum([0, *(encoder.dims for encoder in self.encoders[: len(self._networks)])]).tolist()
        vectors = [batch.pixels[:, start:end] for start, end in pairwise(ends)]
        return replace(batch, pixels=batch.pixels[:, ends[-1] :]), vectors
