"""The realism predictor: which share of people would call an image generated.

It looks at the image alone, by a small convolutional network of its own or through encoders that stay as they
are, and gives a logit z. The predicted share is σ(slope · z + offset). It learns from counts: k of the n people
who were asked about an image said *generated*, and the loss is the negative log-likelihood of the beta-binomial
(see :mod:`beholder.stats.prediction.beta_binomial`), whose dispersion θ is learnt along with the weights. So an
image that ten people judged counts for more than one that two judged, but not five times as much where the model
is unsure.

After training, slope, offset and θ are fitted to the images by which training was watched: a network is
too certain of images that it was taught with.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, ValidationError, model_validator
from torch import nn
from torch.nn import functional

from beholder.errors import LabelsError, RecipeError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import IMAGENET_MEAN, IMAGENET_STD, Preprocessing
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.stats.prediction.beta_binomial import DISPERSIONS, fit_line
from beholder.study.faults import faults_of
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

FIRST_DISPERSION = 0.1


class RealismSettings(Settings):
    """The ``[model]`` table of a recipe."""

    encoders: tuple[str, ...] = Field(
        (),
        description="what the image is seen with, side by side; none: with a network of its own",
    )
    side: int = Field(96, ge=16, description="of its own network: side to which images are brought, in pixels")
    widths: tuple[int, ...] = Field(
        (16, 32, 64, 128), min_length=2, description="of its own network: channels after each halving of the side"
    )
    hidden: int = Field(128, ge=1, description="width of the layer before the logit")
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="of encoders: share of features left out of a step")

    @model_validator(mode="after")
    def _sensible(self) -> "RealismSettings":
        wrong = [f"encoder '{one}' is not known" for one in self.encoders if one not in ENCODERS]
        if min(self.widths) < 1:
            wrong.append("widths must be 1 or more")
        if self.side % 2 ** len(self.widths):
            wrong.append(f"side ({self.side}) must be halved {len(self.widths)} times, once for each of widths")
        if wrong:
            raise ValueError("; ".join(wrong))
        return self


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:  # noqa: ARG001 - as every architecture
    """All that is needed to build the model; see :mod:`beholder.models.architectures`."""
    try:
        chosen = RealismSettings.model_validate(dict(settings))
    except ValidationError as error:
        raise RecipeError("[model]", faults_of(error, RealismSettings)) from error
    loaded = [load_encoder(name) for name in chosen.encoders]
    return {
        **chosen.model_dump(mode="json"),
        "aspects": list(aspects),
        "dims": sum(one.dims for one in loaded),
        "identities": [one.identity for one in loaded],
    }


def build(config: Config, *, fresh: bool) -> "Realism":  # noqa: ARG001 - there are no weights to start from
    """The model of a configuration."""
    names = [key for key in config if key in RealismSettings.model_fields]
    chosen = RealismSettings.model_validate({key: config[key] for key in names})
    aspects = config["aspects"]
    if not isinstance(aspects, list):
        raise TypeError(f"aspects: a list is expected, not {aspects!r}")
    return Realism(tuple(str(one) for one in aspects), chosen, config)


class Realism:
    """The network with its loss, its predictions, and what it takes in; a ``Trainable`` that ``Calibrates``."""

    def __init__(self, aspects: tuple[str, ...], settings: RealismSettings, config: Config) -> None:
        self._aspects = aspects
        self._settings = settings
        self._config = config
        self._network = ShareNetwork(settings, int(str(config["dims"])), len(aspects))
        self._preprocessing = Preprocessing(
            "exact", settings.side, "bicubic", mean=IMAGENET_MEAN, std=IMAGENET_STD
        )

    @property
    def module(self) -> "ShareNetwork":
        """The network with its dispersion and calibration; encoders are no part of it."""
        return self._network

    @property
    def config(self) -> Config:
        """What the model is built from."""
        return self._config

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """What images are seen through; none where the network looks at them itself."""
        return tuple(load_encoder(name) for name in self._settings.encoders)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        """The pixels (3, side, side), mirrored half of the time in training; or the features (dims,)."""
        if self.encoders:
            pixels = np.asarray(image)
            return np.concatenate([one.encode([pixels])[0] for one in self.encoders])
        found = self._preprocessing.prepare(image)
        mirrored = rng is not None and rng.random() < 0.5
        return np.ascontiguousarray(found[:, :, ::-1]) if mirrored else found

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay; norms, biases and the dispersion do not."""
        return decayed_groups(self._network, learning_rate, weight_decay)

    def loss(self, batch: Batch) -> torch.Tensor:
        """The negative log-likelihood of the answers, as a mean over labels."""
        places, mine = self._places(batch)
        logits = self._network(batch.pixels)[:, mine]
        said, asked = _counts(batch, places)
        likelihood = log_likelihood(said, asked, logits, self._network.log_dispersion[mine])
        return -likelihood.sum() / (asked > 0).sum()

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """The share of people who would call each image generated, 0 to 1; of each aspect, (images,)."""
        shares = self._network.shares(self._network(batch.pixels))
        return {aspect: shares[:, place] for place, aspect in enumerate(self._aspects)}

    def calibrate(self, batches: Iterable[Batch]) -> None:
        """Fit slope, offset and dispersion of each aspect to labelled images."""
        seen: dict[int, list[torch.Tensor]] = {}
        for batch in batches:
            places, mine = self._places(batch)
            with torch.no_grad():
                logits = self._network.eval()(batch.pixels)[:, mine]
            rows = torch.stack([logits, *_counts(batch, places)])  # (3, images, aspects)
            for column, aspect in enumerate(mine):
                seen.setdefault(aspect, []).append(rows[:, rows[2, :, column] > 0, column])
        for aspect, parts in seen.items():
            line = fit_line(*torch.cat(parts, 1).double().cpu().numpy())
            self._network.set_line(aspect, line.slope, line.offset, line.dispersion)

    def after_step(self) -> None:
        """Keep the dispersion within bounds; at the lower one the likelihood is the binomial."""
        low, high = np.log(DISPERSIONS)
        with torch.no_grad():
            self._network.log_dispersion.clamp_(low, high)

    def _places(self, batch: Batch) -> tuple[list[int], list[int]]:
        """Where aspects are in a batch and in the network: those that both know and people were asked about."""
        both = [(batch.aspects.index(one), mine) for mine, one in enumerate(self._aspects) if one in batch.aspects]
        asked = [(place, mine) for place, mine in both if batch.answers[:, place].any()]
        if not asked:
            names = ", ".join(self._aspects)
            fault = f"of a batch, nobody was asked about {names}; shares need the number of answers"
            raise LabelsError("labels", [fault])
        return [place for place, _ in asked], [mine for _, mine in asked]


def _counts(batch: Batch, places: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """How many people said *generated*, and how many were asked, both (images, aspects)."""
    asked = batch.answers[:, places]
    shares = torch.where(asked > 0, batch.ratings[:, places], 0.0)
    if not bool(((shares >= 0) & (shares <= 1)).all()):
        low, high = shares.min().item(), shares.max().item()
        fault = f"shares from 0 to 1 are expected; found {low:g} to {high:g}. Set data.labels to 'shares'"
        raise LabelsError("labels", [fault])
    return torch.round(shares * asked), asked


def log_likelihood(
    said: torch.Tensor, asked: torch.Tensor, logits: torch.Tensor, log_dispersion: torch.Tensor
) -> torch.Tensor:
    """The logarithm of P of :mod:`beholder.stats.prediction.beta_binomial`, with gradients, from logarithms.

    ``said`` of ``asked`` people and ``logits`` of the shares, (images, aspects), ``log_dispersion`` (aspects,) →
    (images, aspects); 0 where nobody was asked.
    """
    steps = torch.arange(int(asked.max()), device=asked.device)  # (most people,)
    spread = torch.log(steps.to(logits.dtype)) + log_dispersion[:, None]  # (aspects, most people); −∞ at first
    yes = torch.logaddexp(functional.logsigmoid(logits)[..., None], spread)  # (images, aspects, most people)
    no = torch.logaddexp(functional.logsigmoid(-logits)[..., None], spread)
    each = (steps < said[..., None]) * yes + (steps < (asked - said)[..., None]) * no
    return (each - (steps < asked[..., None]) * functional.softplus(spread)).sum(-1)


class ShareNetwork(nn.Module):
    """From pixels (n, 3, side, side) or features (n, dims) to logits (n, aspects), and from them to shares."""

    slope: torch.Tensor
    offset: torch.Tensor

    def __init__(self, settings: RealismSettings, dims: int, aspects: int) -> None:
        super().__init__()
        self.eye = features_eye(dims, settings.input_dropout) if dims else OwnEye(settings.widths)
        seen = dims or 2 * sum(settings.widths)
        self.head = nn.Sequential(
            nn.Linear(seen, settings.hidden),
            nn.GELU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, aspects),
        )
        self.log_dispersion = nn.Parameter(torch.full((aspects,), float(np.log(FIRST_DISPERSION))))
        self.register_buffer("slope", torch.ones(aspects))
        self.register_buffer("offset", torch.zeros(aspects))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """The logits, before calibration."""
        found: torch.Tensor = self.head(self.eye(images))
        return found

    def shares(self, logits: torch.Tensor) -> torch.Tensor:
        """The predicted shares, calibrated."""
        return torch.sigmoid(self.slope * logits + self.offset)

    def set_line(self, aspect: int, slope: float, offset: float, dispersion: float) -> None:
        """Take over a calibration."""
        with torch.no_grad():
            self.slope[aspect], self.offset[aspect] = slope, offset
            self.log_dispersion[aspect] = float(np.log(dispersion))


def features_eye(dims: int, dropout: float) -> nn.Sequential:
    """Features standardised, by numbers from training alone, some of them left out."""
    return nn.Sequential(nn.BatchNorm1d(dims, affine=False), nn.Dropout(dropout))


class OwnEye(nn.Module):
    """From pixels (n, 3, side, side) to means and maxima of the channels of every stage, (n, 2 · all widths).

    A stage halves the side. What is too smooth shows in early stages, and everywhere: in means. A flaw shows at
    one place: in maxima. Channels lie last in memory, which is faster on a processor.
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
        found: torch.Tensor = self.standardise(torch.cat(pooled, 1))
        return found


def _stage(before: int, after: int) -> nn.Sequential:
    """A convolution that halves the side; beyond the first stage, another that keeps it."""
    halving = _convolution(before, after, 2)
    return nn.Sequential(*halving, *(_convolution(after, after, 1) if before > 3 else ()))


def _convolution(before: int, after: int, stride: int) -> tuple[nn.Module, ...]:
    return nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True)
