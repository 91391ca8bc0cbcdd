"""The Metric Transformer (AAPMT): all metrics of an image at once, from frozen features of image and sentence.

Only the small network of :mod:`beholder.models.metric_transformer.attention` is trained, on top of frozen
encoders. So features are computed once per image, and a model of two thousand images is trained in a minute or two
on a CPU. A metric that does not depend on the prompt, such as quality, gets a fixed sentence in its place. Where
an image encoder and the sentence encoder are the two parts of one CLIP, SigLIP or BLIP, the cosine of image and
sentence is a feature as well.

One metric can be trained alone (name one aspect), several together, or one after another: ``start`` names a model
for other metrics whose weights are transferred, and ``frozen`` which of them are not trained further.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, model_validator
from torch import nn

from beholder.errors import LabelsError
from beholder.models.division import part_weight
from beholder.models.encoders.catalogue import faults_of_encoders, load_encoders
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.trained_weights import refuse_other_weights
from beholder.models.generator_task import generator_loss
from beholder.models.metric_transformer.attention import MetricNetwork, Shape
from beholder.models.metric_transformer.cosines import Columns, cosines, shared_columns
from beholder.models.metric_transformer.transfer import transfer_weights
from beholder.models.recipe_settings import validate_settings
from beholder.models.text.sentence_encoder import SentenceEncoder, load_sentence_encoder
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

SENTENCES: dict[str, str] = {
    "quality": "an image of extremely high quality, with vivid details",
    "authenticity": "an image that looks very authentic",
}
"""Sentences of metrics that do not depend on the prompt."""


class MetricSettings(Settings):
    """The ``[model]`` table of a recipe."""

    encoders: tuple[str, ...] = Field(
        ("efficientnet-lite0-stages", "efficientnet-lite2-stages"),
        min_length=1,
        description="frozen encoders whose features are concatenated",
    )
    weights: dict[str, str] = Field(
        {}, description="encoder -> folder of its weights, or name on the hub; by default those of the catalogue"
    )
    text: str | None = Field(
        None,
        description="folder of a sentence encoder: MiniLM, CLIP, SigLIP, BLIP; by default MiniLM of the package",
    )
    sentences: dict[str, str] = Field(SENTENCES, description="metric -> the sentence that stands for the prompt")
    cross: bool = Field(True, description="whether metrics attend to each other; off for the ablation")
    members: int = Field(
        1, ge=1, description="networks of the ensemble, trained side by side; the score is their mean"
    )
    width: int = Field(128, ge=4)
    heads: int = Field(4, ge=1, description="of the encoder layer")
    feedforward: int = Field(256, ge=1)
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="proportion of image features dropped at each step")
    generator_weight: float = Field(
        0.0, ge=0, description="weight of the auxiliary loss of recognising the generator; 0: none"
    )
    generators: int = Field(
        64, ge=2, description="classes of the auxiliary task; of more generators, several count as the same"
    )
    start: str | None = Field(
        None, description="folder of a model for other metrics whose weights are transferred"
    )
    frozen: Literal["nothing", "shared"] = Field(
        "nothing",
        description="of the transferred weights: train all, or only those that each metric has for itself",
    )

    @model_validator(mode="after")
    def _sensible(self) -> "MetricSettings":
        wrong = faults_of_encoders(self.encoders, self.weights)
        if self.width % self.heads:
            wrong.append(f"width ({self.width}) must be a multiple of heads ({self.heads})")
        if self.frozen == "shared" and self.start is None:
            wrong.append("frozen: there is nothing to freeze without a start")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:  # noqa: ARG001 - as every architecture
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(MetricSettings, settings)
    loaded, text = load_encoders(chosen.encoders, chosen.weights), _sentence_encoder(chosen.text)
    return {
        **chosen.model_dump(mode="json"),
        "metrics": list(aspects),
        "image_dims": sum(encoder.dims for encoder in loaded),
        "text_dims": text.dims,
        "shared": [list(columns) for columns in shared_columns(loaded, text)],
        "identities": [*(encoder.identity for encoder in loaded), text.identity],
    }


def build(config: Config, *, fresh: bool) -> "MetricTransformer":
    """Build the model from its configuration."""
    names = [key for key in config if key in MetricSettings.model_fields]
    chosen = MetricSettings.model_validate({key: config[key] for key in names})
    metrics = tuple(str(metric) for metric in _as_list(config["metrics"]))
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
        generators=chosen.generators if chosen.generator_weight else 0,
        cosines=len(_shared(config)),
    )
    networks = [MetricNetwork(shape) for _ in range(chosen.members)]
    model = MetricTransformer(networks, metrics, chosen, config)
    if fresh and chosen.start:
        transfer_weights(model.module, metrics, Path(chosen.start))
    if chosen.frozen == "shared":
        for network in networks:
            network.freeze_shared()
    return model


class MetricTransformer:
    """The networks with their loss and their scores; a ``Trainable`` that ``UsesEncoders``."""

    def __init__(
        self,
        networks: Sequence[MetricNetwork],
        metrics: tuple[str, ...],
        settings: MetricSettings,
        config: Config,
    ) -> None:
        self._networks = networks
        self._module = nn.ModuleList(networks)
        self._metrics = metrics
        self._settings = settings
        self._config = config
        self._shared = _shared(config)

    @property
    def module(self) -> nn.ModuleList:
        """The networks; the frozen encoders are no part of a checkpoint."""
        return self._module

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The frozen encoders of images."""
        loaded = load_encoders(self._settings.encoders, self._settings.weights)
        with_weights = [encoder for encoder in loaded if encoder.name in self._settings.weights]
        refuse_other_weights(with_weights, self._config.get("identities"))
        return loaded

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:  # noqa: ARG002 - nothing is varied
        """The features of an image, (image dims,)."""
        pixels = np.asarray(image)
        return np.concatenate([encoder.encode([pixels])[0] for encoder in self.encoders])

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay, the parameters of single metrics included."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean squared error over all available ratings, and the auxiliary loss, summed over the networks."""
        columns = [batch.aspects.index(metric) for metric in self._metrics if metric in batch.aspects]
        outputs = [output for output, metric in enumerate(self._metrics) if metric in batch.aspects]

        def count(labels: Batch) -> float:
            return float((~labels.ratings[:, columns].isnan()).sum())

        if not count(batch.division.batch_labels if batch.division else batch):
            raise LabelsError("labels", [f"none of a batch rates {', '.join(self._metrics)}"])
        rated = batch.ratings[:, columns]
        labelled = ~rated.isnan()
        total = batch.ratings.new_zeros(())
        for scores, logits in self._scores_and_logits(batch):
            errors = (scores[:, outputs] - rated.nan_to_num()) ** 2 * labelled
            total = total + errors.sum() / labelled.sum().clamp_min(1) * part_weight(batch, count)
            if logits is not None:
                total = total + self._settings.generator_weight * generator_loss(logits, batch)
        return total

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """Each metric's scores, the mean over the networks."""
        scores = self._scores(batch).mean(0)
        return {metric: scores[:, output] for output, metric in enumerate(self._metrics)}

    def after_step(self) -> None:
        """Nothing is clamped."""

    def _scores(self, batch: Batch) -> torch.Tensor:
        return torch.stack([scores for scores, _ in self._scores_and_logits(batch)])

    def _scores_and_logits(self, batch: Batch) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
        """Of each network: scores (images, metrics), and logits of the generators where it has that task."""
        sentences = self._sentences(batch)
        alike = cosines(batch.pixels, sentences, self._shared)
        return [network.scores_and_logits(batch.pixels, sentences, alike) for network in self._networks]

    def _sentences(self, batch: Batch) -> torch.Tensor:
        """Sentence vectors per image and metric, (images, metrics, text dims), of about unit variance."""
        fixed = self._settings.sentences
        sentences = [[fixed.get(metric, prompt) for metric in self._metrics] for prompt in batch.prompts]
        flat = self._text.encode([sentence for row in sentences for sentence in row]) * np.sqrt(self._text.dims)
        vectors = torch.from_numpy(flat.astype(np.float32)).to(batch.pixels.device)
        return vectors.reshape(len(sentences), len(self._metrics), -1)[batch.prompt_of]

    @cached_property
    def _text(self) -> SentenceEncoder:
        text = _sentence_encoder(self._settings.text)
        refuse_other_weights([text] if self._settings.text else [], self._config.get("identities"))
        return text


def _sentence_encoder(folder: str | None) -> SentenceEncoder:
    return load_sentence_encoder(Path(folder) if folder else None)


def _shared(config: Config) -> list[Columns]:
    """Columns of the encoders that share a space with sentences; models from before there were any have none."""
    pairs = [[int(str(number)) for number in _as_list(pair)] for pair in _as_list(config.get("shared", []))]
    return [(first, end) for first, end in pairs]


def _as_list(entry: Plain) -> list[Plain]:
    if not isinstance(entry, list):
        raise TypeError(f"a list is expected, not {entry!r}")
    return entry
