"""Three kinds of models that each score every metric; the mean counts.

The kinds err differently. Fine-tuned networks contain what raters look for and the pretraining did not ask for;
they see the image alone, and score by the exponential moving average of their weights over the training. Metric
Transformers (:mod:`beholder.models.metric_transformer.model`) read frozen features of all stages, which keep
textures that fine-tuning on a few thousand images would lose, and the prompt, whose meaning they have to learn
from the training images. The third kind (:mod:`beholder.models.tuned_metrics.fitted_kind`) is fitted to all of
these at once: Gaussian processes go by similarity to single images, and a regression compares the prompt with what
a network with named classes sees.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.early_maps import size_and_side
from beholder.models.encoders.efficientnet_lite import SIZES, EfficientNetLite, load_network
from beholder.models.encoders.encoder import Encoder
from beholder.models.generator_task import generator_loss
from beholder.models.metric_transformer import model as metric_transformer
from beholder.models.metric_transformer.model import MetricSettings, MetricTransformer
from beholder.models.recipe_settings import validate_settings
from beholder.models.trainable import Batch, Config, Groups, decayed_groups
from beholder.models.tuned_metrics.fitted_kind import DescribedImages, FittedKind, join_images
from beholder.models.tuned_metrics.network import TunedNetwork
from beholder.models.tuned_metrics.settings import TunedSettings
from beholder.tables.provenance import Plain


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
    support = int(str(config.get(SUPPORT, 0)))
    fitted = (
        FittedKind(chosen.process, chosen, names, support)
        if chosen.process and chosen.process_metrics(names)
        else None
    )
    model = TunedMetrics(frozen, networks, fitted, names, chosen, config)
    if fresh and chosen.averaging:
        model.average_weights(chosen.averaging)
    return model


SUPPORT = "support"
"""Key of the configuration with the number of images that the Gaussian processes were fitted to."""


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
        fitted: FittedKind | None,
        metrics: tuple[str, ...],
        settings: TunedSettings,
        config: Config,
    ) -> None:
        self._frozen = frozen
        self._networks = networks
        self._averaged: list[AveragedModel] = []
        self._fitted = fitted
        self._module = nn.ModuleDict({"frozen": frozen.module, "tuned": nn.ModuleList(networks)})
        if fitted is not None:
            self._module.update(fitted.modules)
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
        compared = (self._settings.comparison.network,) if self._settings.comparison else ()
        others = [load_encoder(name) for name in dict.fromkeys((*of_process, *compared)) if name not in frozen]
        return (*(load_encoder(name) for name in self._settings.tuned), *frozen.values(), *others)

    @property
    def compares_images(self) -> bool:
        """True: Metric Transformers standardise over batches; what is fitted after them, over all images."""
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
            [
                self._settings.prompt_weight if self._settings.reads_prompt(metric) else 1.0
                for metric in self._metrics
            ]
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
            for metric, scores in self._fitted_scores(batch).items():
                kinds[metric].append(scores)
        return {metric: torch.stack(scores).mean(0) for metric, scores in kinds.items()}

    def after_step(self) -> None:
        """The averages of the weights follow."""
        for averaged, network in zip(self._averaged, self._networks, strict=False):
            averaged.update_parameters(network)

    def complete(self, batches: Iterable[Batch]) -> None:
        """After the last step: the averages take the place of the weights, and the third kind is fitted."""
        for averaged, network in zip(self._averaged, self._networks, strict=False):
            if averaged.n_averaged > 0:
                network.load_state_dict(averaged.module.state_dict())
        self._averaged = []
        if "averaged" in self._module:
            self._module.pop("averaged")
        if self._fitted is None:
            return
        images, ratings = zip(*((self._described(batch), self._ratings(batch)) for batch in batches), strict=True)
        self._config = {**self._config, SUPPORT: self._fitted.fit(join_images(images), torch.cat(ratings))}

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
        vectors = [batch.pixels[:, self._columns[name]] for name in names] or [batch.pixels[:, :0]]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, 1)

    def _frozen_batch(self, batch: Batch) -> Batch:
        return replace(batch, pixels=self._vectors(batch, self._settings.frozen.encoders))

    def _described(self, batch: Batch) -> DescribedImages:
        """The images as the kind sees them that is fitted after the last step."""
        process, comparison = self._settings.process, self._settings.comparison
        vectors = self._vectors(batch, process.encoders if process else ())
        network = self._vectors(batch, (comparison.network,) if comparison else ())
        return DescribedImages(
            vectors, network, tuple(batch.prompts[number] for number in batch.prompt_of.tolist())
        )

    def _fitted_scores(self, batch: Batch) -> dict[str, torch.Tensor]:
        return {} if self._fitted is None else self._fitted.scores(self._described(batch))


def _in_full_precision(batch: Batch) -> torch.autocast:
    """A context without mixed precision: these parts cost little, and lose by it."""
    return torch.autocast(batch.pixels.device.type, enabled=False)
