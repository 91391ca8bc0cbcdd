"""The realism predictor: the proportion of raters who would call an image generated.

It sees the image alone, through a small convolutional network of its own or through frozen encoders, and gives a
logit z. The predicted proportion is σ(slope · z + offset). It is trained on counts: k of the n raters who judged
an image said *generated*, and the loss is the negative log-likelihood of the beta-binomial (see
:mod:`beholder.stats.prediction.beta_binomial`), whose dispersion θ is learned along with the weights. So an image
with ten answers counts for more than one with two, but not five times as much where the model is unsure.

After training, slope, offset and θ are fitted to the validation images: a network is overconfident on the images
that it was trained on.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, model_validator
from torch import nn
from torch.nn import functional

from beholder.errors import LabelsError
from beholder.models.division import part_weight
from beholder.models.encoders.catalogue import faults_of_encoders, load_encoders
from beholder.models.encoders.differentiable import prepare_with_gradients
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from beholder.models.encoders.trained_weights import refuse_other_weights
from beholder.models.recipe_settings import validate_settings
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.stats.prediction.beta_binomial import DISPERSIONS, fit_line
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

FIRST_DISPERSION = 0.1


class RealismSettings(Settings):
    """The ``[model]`` table of a recipe."""

    encoders: tuple[str, ...] = Field(
        (),
        description="frozen encoders whose features are concatenated; none: a network of its own",
    )
    weights: dict[str, str] = Field(
        {}, description="encoder -> folder of its weights, or name on the hub; by default those of the catalogue"
    )
    side: int = Field(96, ge=16, description="of its own network: side to which images are resized, in pixels")
    widths: tuple[int, ...] = Field(
        (16, 32, 64, 128), min_length=2, description="of its own network: channels after each halving of the side"
    )
    hidden: int = Field(128, ge=1, description="width of the layer before the logit")
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(
        0.5, ge=0, lt=1, description="of encoders: proportion of features dropped at each step"
    )

    @model_validator(mode="after")
    def _sensible(self) -> "RealismSettings":
        wrong = faults_of_encoders(self.encoders, self.weights)
        if min(self.widths) < 1:
            wrong.append("widths must be 1 or more")
        if self.side % 2 ** len(self.widths):
            wrong.append(f"side ({self.side}) must be halved {len(self.widths)} times, once for each of widths")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:  # noqa: ARG001 - as every architecture
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(RealismSettings, settings)
    loaded = load_encoders(chosen.encoders, chosen.weights)
    return {
        **chosen.model_dump(mode="json"),
        "aspects": list(aspects),
        "dims": sum(encoder.dims for encoder in loaded),
        "identities": [encoder.identity for encoder in loaded],
    }


def build(config: Config, *, fresh: bool) -> "Realism":  # noqa: ARG001 - there are no weights to start from
    """Build the model from its configuration."""
    names = [key for key in config if key in RealismSettings.model_fields]
    chosen = RealismSettings.model_validate({key: config[key] for key in names})
    aspects = config["aspects"]
    if not isinstance(aspects, list):
        raise TypeError(f"aspects: a list is expected, not {aspects!r}")
    return Realism(tuple(str(aspect) for aspect in aspects), chosen, config)


class Realism:
    """The network with its loss, predictions and preprocessing; a ``Trainable`` that is ``Calibratable``."""

    def __init__(self, aspects: tuple[str, ...], settings: RealismSettings, config: Config) -> None:
        self._aspects = aspects
        self._settings = settings
        self._config = config
        self._network = RealismNetwork(settings, int(str(config["dims"])), len(aspects))
        self._preprocessing = Preprocessing(
            "exact", settings.side, "bicubic", mean=IMAGENET_MEAN, std=IMAGENET_STD
        )

    @property
    def module(self) -> "RealismNetwork":
        """The network with its dispersion and calibration, without the encoders."""
        return self._network

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The frozen encoders; none where the network takes pixels."""
        loaded = load_encoders(self._settings.encoders, self._settings.weights)
        with_weights = [encoder for encoder in loaded if encoder.name in self._settings.weights]
        refuse_other_weights(with_weights, self._config.get("identities"))
        return loaded

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        """The pixels (3, side, side), mirrored half of the time in training; or the features (dims,)."""
        if self.encoders:
            pixels = np.asarray(image)
            return np.concatenate([encoder.encode([pixels])[0] for encoder in self.encoders])
        prepared = self._preprocessing.prepare(image)
        mirrored = rng is not None and rng.random() < 0.5
        return np.ascontiguousarray(prepared[:, :, ::-1]) if mirrored else prepared

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay; norms, biases and the dispersion do not."""
        return decayed_groups(self._network, learning_rate, weight_decay)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The negative log-likelihood of the answers, averaged over labels."""
        self._shared_aspects(batch.division.batch_labels if batch.division else batch)
        columns, outputs = self._shared_aspects(batch, may_lack=True)
        logits = self._network(batch.pixels)[:, outputs]
        generated, answers = _counts(batch, columns)
        likelihood = log_likelihood(generated, answers, logits, self._network.log_dispersion[outputs])
        return -likelihood.sum() / (answers > 0).sum().clamp_min(1) * part_weight(batch, self._labelled)

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """For each aspect the proportion of raters who would call each image generated, (images,)."""
        proportions = self._network.proportions(self._network(batch.pixels))
        return {aspect: proportions[:, output] for output, aspect in enumerate(self._aspects)}

    def with_gradients(self, images: torch.Tensor) -> Mapping[str, torch.Tensor]:
        """The proportions for images (n, 3, height, width) of 0 to 1, with gradients towards the pixels."""
        prepared = prepare_with_gradients(images, self.encoders, self._preprocessing)
        proportions = self._network.proportions(self._network(prepared))
        return {aspect: proportions[:, output] for output, aspect in enumerate(self._aspects)}

    def calibrate(self, batches: Iterable[Batch]) -> None:
        """Fit slope, offset and dispersion of each aspect to labelled images."""
        observed: dict[int, list[torch.Tensor]] = {}
        for batch in batches:
            columns, outputs = self._shared_aspects(batch)
            with torch.no_grad():
                logits = self._network.eval()(batch.pixels)[:, outputs]
            rows = torch.stack([logits, *_counts(batch, columns)])  # (3, images, aspects)
            for column, output in enumerate(outputs):
                observed.setdefault(output, []).append(rows[:, rows[2, :, column] > 0, column])
        for output, parts in observed.items():
            line = fit_line(*torch.cat(parts, 1).double().cpu().numpy())
            self._network.set_line(output, line.slope, line.offset, line.dispersion)

    def after_step(self) -> None:
        """Clamp the dispersion to its bounds; at the lower one the likelihood is the binomial."""
        low, high = np.log(DISPERSIONS)
        with torch.no_grad():
            self._network.log_dispersion.clamp_(low, high)

    def _labelled(self, labels: Batch) -> float:
        columns = [labels.aspects.index(aspect) for aspect in self._aspects if aspect in labels.aspects]
        return float((labels.answers[:, columns] > 0).sum())

    def _shared_aspects(self, batch: Batch, *, may_lack: bool = False) -> tuple[list[int], list[int]]:
        """Columns of a batch and outputs of the network, for the aspects that both have and raters answered.

        A part of a batch may have none.
        """
        both = [
            (batch.aspects.index(aspect), output)
            for output, aspect in enumerate(self._aspects)
            if aspect in batch.aspects
        ]
        answered = [(column, output) for column, output in both if batch.answers[:, column].any()]
        if not answered and not may_lack:
            names = ", ".join(self._aspects)
            fault = f"of a batch, nobody was asked about {names}; shares need the number of answers"
            raise LabelsError("labels", [fault])
        return [column for column, _ in answered], [output for _, output in answered]


def _counts(batch: Batch, columns: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """How many answers said *generated*, and how many there are, both (images, aspects)."""
    answers = batch.answers[:, columns]
    proportions = torch.where(answers > 0, batch.ratings[:, columns], 0.0)
    if not bool(((proportions >= 0) & (proportions <= 1)).all()):
        low, high = proportions.min().item(), proportions.max().item()
        fault = f"shares from 0 to 1 are expected; found {low:g} to {high:g}. Set data.labels to 'shares'"
        raise LabelsError("labels", [fault])
    return torch.round(proportions * answers), answers


def log_likelihood(
    generated: torch.Tensor, answers: torch.Tensor, logits: torch.Tensor, log_dispersion: torch.Tensor
) -> torch.Tensor:
    """The logarithm of P of :mod:`beholder.stats.prediction.beta_binomial`, with gradients, from logarithms.

    ``generated`` of ``answers`` and ``logits`` of the proportions, (images, aspects), ``log_dispersion``
    (aspects,) → (images, aspects); 0 where there are no answers.
    """
    steps = torch.arange(int(answers.max()), device=answers.device)  # (most answers,)
    spread = torch.log(steps.to(logits.dtype)) + log_dispersion[:, None]  # (aspects, most answers); −∞ at first
    yes = torch.logaddexp(functional.logsigmoid(logits)[..., None], spread)  # (images, aspects, most answers)
    no = torch.logaddexp(functional.logsigmoid(-logits)[..., None], spread)
    each = (steps < generated[..., None]) * yes + (steps < (answers - generated)[..., None]) * no
    return (each - (steps < answers[..., None]) * functional.softplus(spread)).sum(-1)


class RealismNetwork(nn.Module):
    """From pixels (n, 3, side, side) or features (n, dims) to logits (n, aspects), and on to proportions."""

    slope: torch.Tensor
    offset: torch.Tensor

    def __init__(self, settings: RealismSettings, dims: int, aspects: int) -> None:
        super().__init__()
        self.eye = standardise_features(dims, settings.input_dropout) if dims else StagePooling(settings.widths)
        features = dims or 2 * sum(settings.widths)
        self.head = nn.Sequential(
            nn.Linear(features, settings.hidden),
            nn.GELU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, aspects),
        )
        self.log_dispersion = nn.Parameter(torch.full((aspects,), float(np.log(FIRST_DISPERSION))))
        self.register_buffer("slope", torch.ones(aspects))
        self.register_buffer("offset", torch.zeros(aspects))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The logits, before calibration."""
        logits: torch.Tensor = self.head(self.eye(images))
        return logits

    def proportions(self, logits: torch.Tensor) -> torch.Tensor:
        """The predicted proportions, calibrated."""
        return torch.sigmoid(self.slope * logits + self.offset)

    def set_line(self, aspect: int, slope: float, offset: float, dispersion: float) -> None:
        """Set the calibration of one aspect."""
        with torch.no_grad():
            self.slope[aspect], self.offset[aspect] = slope, offset
            self.log_dispersion[aspect] = float(np.log(dispersion))


def standardise_features(dims: int, dropout: float) -> nn.Sequential:
    """Features standardised with moments of the training images, with dropout."""
    return nn.Sequential(nn.BatchNorm1d(dims, affine=False), nn.Dropout(dropout))


class StagePooling(nn.Module):
    """From pixels (n, 3, side, side) to means and maxima of the channels of every stage, (n, 2 · all widths).

    A stage halves the side. Smoothness shows in early stages and all over the image, so in means; a flaw shows at
    one position, so in maxima. Channels lie last in memory, which is faster on a CPU.
    """

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        steps = zip((3, *widths), widths, strict=False)
        self.stages = nn.ModuleList(_stage(before, after) for before, after in steps)
        self.standardise = nn.BatchNorm1d(2 * sum(widths), affine=False)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """All stages, pooled and standardised."""
        maps, pooled = images.contiguous(memory_format=torch.channels_last), []
        for stage in self.stages:
            maps = stage(maps)
            pooled += [maps.mean((2, 3)), maps.amax((2, 3))]
        standardised: torch.Tensor = self.standardise(torch.cat(pooled, 1))
        return standardised


def _stage(before: int, after: int) -> nn.Sequential:
    """A convolution that halves the side; beyond the first stage, another that keeps it."""
    halving = _convolution(before, after, 2)
    return nn.Sequential(*halving, *(_convolution(after, after, 1) if before > 3 else ()))


def _convolution(before: int, after: int, stride: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
