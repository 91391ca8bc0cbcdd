"""The Metric Transformer (AAPMT): all metrics of an image at once, from frozen features of image and sentence.

What learns is small: the network of :mod:`beholder.models.metric_transformer.attention` on top of encoders that
stay as they are. So features are computed once an image, and a model of two thousand images is taught in a
minute or two on a processor. A metric that the prompt has no say in, such as quality, gets a fixed sentence in
its place.

One metric can be learnt alone (name one aspect), several together, or one after another: ``start`` takes over what
a model for other metrics has learnt, and ``frozen`` says how much of it stays.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, ValidationError, model_validator
from torch import nn

from beholder.errors import LabelsError, RecipeError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.metric_transformer.attention import MetricNetwork, Shape
from beholder.models.metric_transformer.transfer import take_over
from beholder.models.text.sentence_encoder import SentenceEncoder, load_sentence_encoder
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.study.faults import faults_of
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

SENTENCES: dict[str, str] = {
    "quality": "an image of extremely high quality, with vivid details",
    "authenticity": "an image that looks very authentic",
}
"""What a metric is asked with where the prompt has no say in it."""


class MetricSettings(Settings):
    """The ``[model]`` table of a recipe."""

    encoders: tuple[str, ...] = Field(
        ("efficientnet-lite0-stages", "efficientnet-lite2-stages"),
        min_length=1,
        description="what the image is seen with; their features stand beside each other",
    )
    text: str | None = Field(None, description="folder of the sentence encoder; left out: MiniLM of the package")
    sentences: dict[str, str] = Field(SENTENCES, description="metric -> the sentence that stands for the prompt")
    cross: bool = Field(True, description="whether metrics attend to each other; off for the ablation")
    members: int = Field(1, ge=1, description="networks that learn beside each other; the score is their mean")
    width: int = Field(128, ge=4)
    heads: int = Field(4, ge=1, description="of the encoder layer")
    feedforward: int = Field(256, ge=1)
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="share of image features left out of a step")
    start: str | None = Field(None, description="folder of a model for other metrics to go on from")
    frozen: Literal["nothing", "shared"] = Field(
        "nothing", description="of what was taken over: all learns on, or only what each metric has for itself"
    )

    @model_validator(mode="after")
    def _sensible(self) -> "MetricSettings":
        wrong = [f"encoder '{one}' is not known" for one in self.encoders if one not in ENCODERS]
        if self.width % self.heads:
            wrong.append(f"width ({self.width}) must be a multiple of heads ({self.heads})")
        if self.frozen == "shared" and self.start is None:
            wrong.append("frozen: there is nothing to freeze without a start")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:  # noqa: ARG001 - as every architecture
    """All that is needed to build the model; see :mod:`beholder.models.architectures`."""
    try:
        chosen = MetricSettings.model_validate(dict(settings))
    except ValidationError as error:
        raise RecipeError("[model]", faults_of(error, MetricSettings)) from error
    loaded = [load_encoder(name) for name in chosen.encoders]
    text = _sentence_encoder(chosen.text)
    return {
        **chosen.model_dump(mode="json"),
        "metrics": list(aspects),
        "image_dims": sum(one.dims for one in loaded),
        "text_dims": text.dims,
        "identities": [*(one.identity for one in loaded), text.identity],
    }


def build(config: Config, *, fresh: bool) -> "MetricTransformer":
    """The model of a configuration."""
    names = [key for key in config if key in MetricSettings.model_fields]
    chosen = MetricSettings.model_validate({key: config[key] for key in names})
    metrics = tuple(str(one) for one in _list(config["metrics"]))
    shape = Shape(
        metrics=len(metrics),
        image_dims=int(str(config["image_dims"])),
        text_dims=int(str(config["text_dims"])),
        width=chosen.width,
        heads=chosen.heads,
        feedforward=chosen.feedforward,
        dropout=chosen.dropout,
        input_dropout=chosen.input_dropout,
        cross=chosen.cross,
    )
    networks = [MetricNetwork(shape) for _ in range(chosen.members)]
    model = MetricTransformer(networks, metrics, chosen, config)
    if fresh and chosen.start:
        take_over(model.module, metrics, Path(chosen.start))
    if chosen.frozen == "shared":
        for network in networks:
            network.freeze_shared()
    return model


class MetricTransformer:
    """The networks with their loss, their scores, and what they take in; a ``Trainable``."""

    def __init__(
        self,
        networks: Sequence[MetricNetwork],
        metrics: tuple[str, ...],
        settings: MetricSettings,
        config: Config,
    ) -> None:
        self._networks = nn.ModuleList(networks)
        self._metrics = metrics
        self._settings = settings
        self._config = config

    @property
    def module(self) -> nn.ModuleList:
        """The networks; the encoders stay as they are, and are no part of a checkpoint."""
        return self._networks

    @property
    def config(self) -> Config:
        """What the model is built from."""
        return self._config

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """What images are seen through."""
        return tuple(load_encoder(name) for name in self._settings.encoders)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:  # noqa: ARG002 - nothing is varied
        """The features of an image, (image dims,)."""
        pixels = np.asarray(image)
        return np.concatenate([one.encode([pixels])[0] for one in self.encoders])

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay, and with them what each metric has for itself."""
        return decayed_groups(self._networks, learning_rate, weight_decay)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean squared error over all ratings that there are, summed over the networks."""
        places = [batch.aspects.index(one) for one in self._metrics if one in batch.aspects]
        mine = [place for place, one in enumerate(self._metrics) if one in batch.aspects]
        rated = batch.ratings[:, places]
        known = ~rated.isnan()
        if not known.any():
            raise LabelsError("labels", [f"none of a batch rates {', '.join(self._metrics)}"])
        scores = self._scores(batch)[:, :, mine]  # (members, images, metrics)
        wrong = (scores - rated.nan_to_num()) ** 2 * known
        return wrong.sum((1, 2)).div(known.sum()).sum()

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """Each metric's scores, the mean over the networks."""
        scores = self._scores(batch).mean(0)
        return {metric: scores[:, place] for place, metric in enumerate(self._metrics)}

    def after_step(self) -> None:
        """Nothing follows a step."""

    def _scores(self, batch: Batch) -> torch.Tensor:
        sentences = self._sentences(batch)
        return torch.stack([network(batch.pixels, sentences) for network in self._networks])

    def _sentences(self, batch: Batch) -> torch.Tensor:
        """What each metric is asked with for each image, (images, metrics, text dims), of about unit variance."""
        fixed = self._settings.sentences
        asked = [[fixed.get(metric, prompt) for metric in self._metrics] for prompt in batch.prompts]
        flat = self._text.encode([one for row in asked for one in row]) * np.sqrt(self._text.dims)
        vectors = torch.from_numpy(flat.astype(np.float32)).to(batch.pixels.device)
        return vectors.reshape(len(asked), len(self._metrics), -1)[batch.prompt_of]

    @cached_property
    def _text(self) -> SentenceEncoder:
        return _sentence_encoder(self._settings.text)


def _sentence_encoder(folder: str | None) -> SentenceEncoder:
    return load_sentence_encoder(Path(folder) if folder else None)


def _list(value: Plain) -> list[Plain]:
    if not isinstance(value, list):
        raise TypeError(f"a list is expected, not {value!r}")
    return value
