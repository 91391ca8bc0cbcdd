"""Fine-tuned networks, Metric Transformers and Gaussian processes: each kind scores every metric; the mean counts.

The kinds err differently. Frozen features of all stages keep textures that fine-tuning on a few thousand images
would lose, and fine-tuned ones contain what raters look for and the pretraining did not ask for. A Gaussian
process (:mod:`beholder.models.gaussian_process.process`) goes by similarity to single training images, a Metric
Transformer (:mod:`beholder.models.metric_transformer.model`) by what they have in common. Fine-tuned networks see
the image alone; the others also read the prompt. A fine-tuned network scores by the exponential moving average of
its weights over the training.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, field_validator
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from beholder.models.encoders.catalogue import ENCODERS, faults_of_encoders, load_encoder
from beholder.models.encoders.early_maps import size_and_side
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite, load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.gaussian_process.process import GaussianProcess
from beholder.models.generator_task import generator_loss
from beholder.models.metric_transformer import model as metric_transformer
from beholder.models.metric_transformer.model import MetricSettings, MetricTransformer
from beholder.models.recipe_settings import validate_settings
from beholder.models.text.sentence_encoder import load_sentence_encoder
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.models.tuned_metrics.network import TunedNetwork
from beholder.study.question import Settings
from beholder.tables.provenance import Plain


class ProcessSettings(Settings):
    """The ``[model.process]`` table of a recipe: the Gaussian processes."""

    encoders: tuple[str, ...] = Field(
        ("efficientnet-lite0-stages", "efficientnet-lite2-stages"),
        min_length=1,
        description="frozen encoders whose features, and the prompt, measure similarity",
    )
    steps: int = Field(90, ge=1, description="steps of the search for hyperparameters")
    rate: float = Field(0.1, gt=0, description="learning rate of that search")
    images: int = Field(
        2000, ge=2, description="training images at most; of more, as many are chosen at random (seed 0)"
    )

    @field_validator("encoders")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := faults_of_encoders(names, {}):
            raise ValueError("; ".join(wrong))
        return names


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
    process: ProcessSettings | None = Field(
        None,
        description="Gaussian processes on frozen features as the third kind, for metrics that do not depend on "
        "the prompt; none by default",
    )
    averaging: float = Field(
        0.99,
        ge=0,
        lt=1,
        description="decay of the moving average of a fine-tuned network's weights; 0: the last ones",
    )
    width: int = Field(128, ge=4, description="of the hidden layer of a fine-tuned network")
    dropout: float = Field(0.3, ge=0, lt=1)
    input_dropout: float = Field(0.5, ge=0, lt=1, description="proportion of features dropped at each step")
    rate: float = Field(
        0.5, gt=0, description="learning rate of pretrained parameters, in proportion to that of new ones"
    )
    prompt_weight: float = Field(
        0.5,
        ge=0,
        description="weight of metrics that depend on the prompt, which the fine-tuned networks do not see",
    )
    generator_weight: float = Field(
        0.5, ge=0, description="weight of the auxiliary loss of recognising the generator; 0: none"
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
    """Build the model from its configuration; without ``fresh``, one whose training has ended."""
    frozen_config, metrics = config["frozen"], config["metrics"]
    if not isinstance(frozen_config, dict) or not isinstance(metrics, list):
        raise TypeError("the configuration of a model of fine-tuned networks lacks its frozen part or its metrics")
    settings = {key: value for key, value in config.items() if key in TunedSettings.model_fields}
    of_frozen = {key: value for key, value in frozen_config.items() if key in MetricSettings.model_fields}
    chosen = TunedSettings.model_validate({**settings, "frozen": of_frozen})
    frozen = metric_transformer.build(frozen_config, fresh=fresh)
    networks = [_network(name, chosen, len(metrics), fresh=fresh) for name in chosen.tuned]
    names = tuple(str(metric) for metric in metrics)
    scored = len(process_metrics(names, chosen))
    process = _process(chosen.process, scored, int(str(config.get(SUPPORT, 0)))) if chosen.process else None
    model = TunedMetrics(frozen, networks, process if scored else None, names, chosen, config)
    if fresh and chosen.averaging:
        model.average_weights(chosen.averaging)
    return model


SUPPORT = "support"
"""Key of the configuration with the number of images that the Gaussian processes were fitted to."""


def process_metrics(metrics: Sequence[str], settings: TunedSettings) -> list[str]:
    """The metrics that Gaussian processes score: those that do not depend on the prompt.

    Images of other prompts are no evidence on how well an image matches its own.
    """
    return [metric for metric in metrics if metric in settings.frozen.sentences]


def _process(settings: ProcessSettings, metrics: int, support: int) -> GaussianProcess:
    encoders = [load_encoder(name) for name in settings.encoders]
    groups = [size for encoder in encoders for size in encoder.groups or (encoder.dims,)]
    return GaussianProcess([*groups, load_sentence_encoder().dims], metrics, support)


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
    """All parts with their losses and their scores; a ``Trainable`` that ``UsesEncoders`` and is ``Completed``."""

    def __init__(
        self,
        frozen: MetricTransformer,
        networks: Sequence[TunedNetwork],
        process: GaussianProcess | None,
        metrics: tuple[str, ...],
        settings: TunedSettings,
        config: Config,
    ) -> None:
        self._frozen = frozen
        self._networks = networks
        self._averaged: list[AveragedModel] = []
        self._process = process
        self._module = nn.ModuleDict({"frozen": frozen.module, "tuned": nn.ModuleList(networks)})
        if process is not None:
            self._module["process"] = process
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
        """The early stages of the fine-tuned networks, then the frozen encoders, each once."""
        frozen = {encoder.name: encoder for encoder in self._frozen.encoders}
        of_process = self._settings.process.encoders if self._settings.process else ()
        others = [load_encoder(name) for name in of_process if name not in frozen]
        return (*(load_encoder(name) for name in self._settings.tuned), *frozen.values(), *others)

    @property
    def compares_images(self) -> bool:
        """True: the Metric Transformers standardise over batches, and the processes over all images."""
        return True

    @property
    def clipped_apart(self) -> Sequence[Sequence[nn.Parameter]]:
        """Each Metric Transformer and each fine-tuned network."""
        modules = [*self._frozen.module, *self._networks]
        return [[each for each in module.parameters() if each.requires_grad] for module in modules]

    def measure(self, batches: Iterable[Batch]) -> None:
        """Before the first step: the fine-tuned networks standardise by the features of these images."""
        some = list(batches)
        for name, network in zip(self._settings.tuned, self._networks, strict=True):
            network.measure(self._vectors(batch, [name]) for batch in some)

    def average_weights(self, decay: float) -> None:
        """Average the weights of the fine-tuned networks over the steps to come, exponentially."""
        averaging = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        self._averaged = [AveragedModel(network, multi_avg_fn=averaging) for network in self._networks]
        self._module["averaged"] = nn.ModuleList(self._averaged).requires_grad_(requires_grad=False)

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
        """The squared errors of all networks, and the cross entropy of the generators."""
        with _in_full_precision(batch):
            total = self._frozen.loss(self._frozen_batch(batch))
        rated = self._ratings(batch)
        labelled = ~rated.isnan()
        weights = rated.new_tensor(
            [self._settings.prompt_weight if self._reads_prompt(metric) else 1.0 for metric in self._metrics]
        )
        for name, network in zip(self._settings.tuned, self._networks, strict=True):
            scores, logits = network(self._vectors(batch, [name]))
            errors = (scores - rated.nan_to_num()).square() * labelled
            total = total + (errors.sum(0) / labelled.sum(0).clamp_min(1) * weights).sum()
            total = total + self._settings.generator_weight * generator_loss(logits, batch)
        return total

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """Each metric's scores: the mean over the kinds of models that score it, of which each counts alike."""
        networks = zip(self._settings.tuned, self._scoring_networks(), strict=True)
        tuned = torch.stack([network(self._vectors(batch, [name]))[0] for name, network in networks]).mean(0)
        with _in_full_precision(batch):
            kinds = {
                metric: [scores, tuned[:, self._metrics.index(metric)].float()]
                for metric, scores in self._frozen.predict(self._frozen_batch(batch)).items()
            }
            if self._process is not None and self._process.is_fitted:
                by_process = self._process(self._process_features(batch))
                for metric, scores in zip(self._process_metrics, by_process.T, strict=True):
                    kinds[metric].append(scores)
        return {metric: torch.stack(scores).mean(0) for metric, scores in kinds.items()}

    def after_step(self) -> None:
        """The averages of the weights follow."""
        for averaged, network in zip(self._averaged, self._networks, strict=False):
            averaged.update_parameters(network)

    def complete(self, batches: Iterable[Batch]) -> None:
        """After the last step: the averages take the place of the weights, and the processes are fitted."""
        for averaged, network in zip(self._averaged, self._networks, strict=False):
            if averaged.n_averaged > 0:
                network.load_state_dict(averaged.module.state_dict())
        self._averaged = []
        if "averaged" in self._module:
            self._module.pop("averaged")
        if self._process is None or self._settings.process is None:
            return
        features, ratings, prompts = [], [], []
        for batch in batches:
            features.append(self._process_features(batch).float())
            ratings.append(self._ratings(batch)[:, [self._metrics.index(each) for each in self._process_metrics]])
            prompts += [batch.prompts[number] for number in batch.prompt_of.tolist()]
        rows = _choose_rows(len(prompts), self._settings.process.images)
        numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
        prompt_of = torch.tensor([numbers[prompt] for prompt in prompts])
        self._process.fit(
            torch.cat(features)[rows],
            torch.cat(ratings)[rows].float(),
            prompt_of[rows].to(features[0].device),
            steps=self._settings.process.steps,
            rate=self._settings.process.rate,
        )
        self._config = {**self._config, SUPPORT: len(rows)}

    @property
    def _process_metrics(self) -> list[str]:
        return process_metrics(self._metrics, self._settings)

    def _reads_prompt(self, metric: str) -> bool:
        return metric not in self._settings.frozen.sentences

    def _ratings(self, batch: Batch) -> torch.Tensor:
        """(images, metrics), nan where there is none."""
        return batch.ratings[:, [batch.aspects.index(metric) for metric in self._metrics]]

    def _scoring_networks(self) -> Sequence[nn.Module]:
        """The fine-tuned networks, or their averages while they are trained."""
        if self._averaged and not self._module.training:
            return self._averaged
        return self._networks

    @cached_property
    def _columns(self) -> dict[str, slice]:
        """The columns of each encoder."""
        ends = accumulate((encoder.dims for encoder in self.encoders), initial=0)
        return {
            encoder.name: slice(start, end)
            for encoder, (start, end) in zip(self.encoders, pairwise(ends), strict=True)
        }

    def _vectors(self, batch: Batch, names: Sequence[str]) -> torch.Tensor:
        """The concatenated vectors of these encoders."""
        vectors = [batch.pixels[:, self._columns[name]] for name in names]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, 1)

    def _frozen_batch(self, batch: Batch) -> Batch:
        return replace(batch, pixels=self._vectors(batch, self._settings.frozen.encoders))

    def _process_features(self, batch: Batch) -> torch.Tensor:
        """Vectors of the images, then of their prompts, of about unit variance."""
        text, names = load_sentence_encoder(), self._settings.process.encoders if self._settings.process else ()
        vectors = torch.from_numpy(text.encode(list(batch.prompts)).astype(np.float32)) * text.dims**0.5
        return torch.cat([self._vectors(batch, names), vectors.to(batch.pixels.device)[batch.prompt_of]], 1)


def _in_full_precision(batch: Batch) -> torch.autocast:
    """A context without mixed precision: these parts cost little, and lose by it."""
    return torch.autocast(batch.pixels.device.type, enabled=False)


def _choose_rows(count: int, most: int) -> NDArray[np.int64]:
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
