"""The grounded rich-feedback model: its losses, its predictions and their calibration."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn import functional

from beholder.models.division import part_weight
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.differentiable import prepare_with_gradients
from beholder.models.encoders.encoder import Encoder
from beholder.models.recipe_settings import validate_settings
from beholder.models.rich_feedback.calibration import Calibration
from beholder.models.rich_feedback.grounded.image_expert import ExpertOutputs
from beholder.models.rich_feedback.grounded.network import Grounded, GroundedNetwork
from beholder.models.rich_feedback.grounded.settings import GroundedSettings
from beholder.models.rich_feedback.losses import (
    count_heatmaps,
    count_image_heatmaps,
    count_image_scores,
    count_scores,
    heatmap_loss,
    naming_loss,
    score_loss,
)
from beholder.models.rich_feedback.naming import naming_task
from beholder.models.rich_feedback.settings import SCORES
from beholder.models.rich_feedback.tokenizer import collect_vocabulary, pad_token_ids, word_tokenizer
from beholder.models.rich_feedback.trainable import FeedbackTensors, RichBatch, RichFeedback
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.study.words import split_words
from beholder.tables.provenance import Plain

CPU_BATCH = 32
"""Images per forward pass on a CPU: activations stay in its cache."""


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    scored = sorted(aspects, key=lambda aspect: SCORES.index(aspect) if aspect in SCORES else len(SCORES))
    chosen = validate_settings(GroundedSettings, {"scores": scored, **settings})
    words = chosen.words or collect_vocabulary(prompts)
    return chosen.model_copy(update={"words": words}).model_dump(mode="json")


def build(config: Config, *, fresh: bool) -> "GroundedModel":
    """Build the model from its configuration."""
    del fresh  # it starts from random weights; those of its frozen encoder come with a package
    return GroundedModel(GroundedSettings.model_validate(dict(config)))


class GroundedModel:
    """The network with its vocabulary; a ``RichTrainable``."""

    def __init__(self, settings: GroundedSettings) -> None:
        self.settings = settings
        self.tokenizer = word_tokenizer(settings.words)
        self._module = GroundedNetwork(settings, self.tokenizer.vocabulary_size)

    @property
    def module(self) -> GroundedNetwork:
        """All weights."""
        return self._module

    @property
    def config(self) -> Config:
        """The configuration that builds the same model."""
        return self.settings.model_dump(mode="json")

    @property
    def skips_heads(self) -> bool:
        """Heads of tasks that are not drawn, and all while only naming is trained."""
        return True

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The frozen encoder."""
        return (load_encoder(self.settings.encoder),)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The encoder's features of the image."""
        del rng
        features: NDArray[np.float32] = self.encoders[0].encode([np.asarray(image)])[0]
        return features

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """All parameters are trained, those of the image expert at a learning rate of their own."""
        named = list(self._module.named_parameters())
        of_expert = [(name, weight) for name, weight in named if name.startswith("expert.")]
        others = [(name, weight) for name, weight in named if not name.startswith("expert.")]
        groups = decayed_groups(others, learning_rate, weight_decay)
        if self.settings.image_expert is not None:
            factor = self.settings.image_expert.learning_rate
            groups += decayed_groups(of_expert, factor * learning_rate, weight_decay)
        return groups

    def after_step(self) -> None:
        """Nothing is clamped."""

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """The weighted sum of the losses of all outputs."""
        weights = self.settings.losses
        images = self._module.encode_images(batch.pixels)
        total = weights.naming * self._naming_loss(images.trunk, batch)
        if batch.only_naming:
            return total
        grounded = self._module.ground(images, *self._token_ids(batch.prompts))
        for column, aspect in enumerate(self.settings.heatmaps):
            weight = weights.heatmap * part_weight(batch, partial(count_heatmaps, column=column))
            total = total + weight * heatmap_loss(grounded.maps[aspect], batch.heatmaps[:, column], weights.floor)
            if aspect in grounded.image_maps:
                marked = batch.for_image_alone.heatmaps[:, column]
                loss = heatmap_loss(grounded.image_maps[aspect], marked, weights.floor)
                weight = weights.image * part_weight(batch, partial(count_image_heatmaps, column=column))
                total = total + weight * loss
        for column, aspect in enumerate(self.settings.scores):
            scores = self._module.scores[aspect](grounded)
            weight = weights.score * part_weight(batch, partial(count_scores, column=column))
            total = total + weight * score_loss(scores, batch.scores[:, column])
        if grounded.expert is not None:
            total = total + weights.image_expert * self._expert_loss(grounded.expert, batch)
        keywords = weights.keywords * part_weight(batch, self._count_words)
        return total + keywords * self._keyword_loss(grounded, batch)

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        grounded = self._ground(batch.pixels, batch.prompts)
        return {aspect: self._module.score(grounded, aspect).sigmoid() for aspect in self.settings.scores}

    @torch.inference_mode()
    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """All feedback on prepared images."""
        self._module.eval()
        size = CPU_BATCH if pixels.device.type == "cpu" else len(prompts)
        starts = range(0, len(prompts), size)
        parts = [self._predict_feedback(pixels[at : at + size], prompts[at : at + size]) for at in starts]
        return RichFeedback(
            {aspect: np.concatenate([part.heatmaps[aspect] for part in parts]) for aspect in parts[0].heatmaps},
            {aspect: np.concatenate([part.scores[aspect] for part in parts]) for aspect in parts[0].scores},
            tuple(probabilities for part in parts for probabilities in part.misaligned),
        )

    def with_gradients(self, images: torch.Tensor, prompts: Sequence[str]) -> FeedbackTensors:
        """Scores and heatmaps of images (n, 3, height, width) of 0 to 1, with gradients towards the pixels."""
        (encoder,) = self.encoders
        grounded = self._ground(prepare_with_gradients(images, (encoder,), encoder.preprocessing), prompts)
        return FeedbackTensors(
            {name: self._module.score(grounded, name).sigmoid() for name in self.settings.scores},
            {name: self._module.heatmap(grounded, name).sigmoid() for name in self.settings.heatmaps},
        )

    @torch.no_grad()
    def calibrate(self, batches: Iterable[RichBatch]) -> None:
        """Fit scale and shift of every output to labelled images held out of training."""
        self._module.eval()
        calibration = Calibration(self._module.scales)
        for batch in batches:
            grounded = self._ground(batch.pixels, batch.prompts)
            for column, name in enumerate(self.settings.scores):
                logits = self._module.score_logits(grounded, name)
                calibration.add_scores(column, batch.scores[:, column], *logits)
            for column, name in enumerate(self.settings.heatmaps):
                logits = self._module.heatmap_logits(grounded, name)
                calibration.add_heatmaps(column, batch.heatmaps[:, column], *logits)
            for word_logits, flags in self._word_logits(grounded, batch):
                calibration.add_words(flags, word_logits)
        calibration.fit()

    def _expert_loss(self, expert: ExpertOutputs, batch: RichBatch) -> torch.Tensor:
        """The losses of all scores and heatmaps of the image expert, with the labels for the image alone."""
        labels, floor = batch.for_image_alone, self.settings.losses.floor
        losses = [
            heatmap_loss(expert.maps[aspect], labels.heatmaps[:, column], floor)
            * part_weight(batch, partial(count_image_heatmaps, column=column))
            for column, aspect in enumerate(self.settings.heatmaps)
        ]
        losses += [
            score_loss(expert.scores[aspect], labels.scores[:, column])
            * part_weight(batch, partial(count_image_scores, column=column))
            for column, aspect in enumerate(self.settings.scores)
        ]
        return torch.stack(losses).sum()

    def _predict_feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        grounded = self._ground(pixels, prompts)
        probabilities = self._module.keyword_logits(grounded).sigmoid().double().cpu().numpy()
        counts = [len(split_words(prompt)) for prompt in prompts]
        misaligned = []
        for row, count in enumerate(counts):
            words = np.full(count, np.nan)
            read = min(count, self.settings.longest - 1)
            words[:read] = probabilities[row, :read]
            misaligned.append(words)
        return RichFeedback(
            {name: _as_array(self._module.heatmap(grounded, name)) for name in self.settings.heatmaps},
            {name: _as_array(self._module.score(grounded, name)) for name in self.settings.scores},
            tuple(misaligned),
        )

    def _ground(self, pixels: torch.Tensor, prompts: Sequence[str]) -> Grounded:
        return self._module.ground(self._module.encode_images(pixels), *self._token_ids(prompts))

    def _token_ids(self, prompts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids (n, longest) of prompts with their end token, and the mask of what is no padding."""
        rows = [self.tokenizer.encode_prompt(prompt, self.settings.longest)[0] for prompt in prompts]
        token_ids, mask = pad_token_ids(rows, self.tokenizer)
        device = self._module.scales.words.device
        return token_ids.to(device), mask.to(device)

    def _word_logits(self, grounded: Grounded, batch: RichBatch) -> Iterable[tuple[torch.Tensor, torch.Tensor]]:
        """Yield the logits of the labelled words of each prompt, and their labels."""
        logits = self._module.keyword_logits(grounded)
        for row, misaligned in enumerate(batch.misaligned):
            if misaligned is not None:
                flags = torch.tensor(misaligned[: self.settings.longest - 1], dtype=logits.dtype)
                yield logits[row, : len(flags)], flags.to(logits.device)

    def _count_words(self, labels: RichBatch) -> float:
        longest = self.settings.longest - 1
        return float(sum(min(len(flags), longest) for flags in labels.misaligned if flags is not None))

    def _keyword_loss(self, grounded: Grounded, batch: RichBatch) -> torch.Tensor:
        labelled = list(self._word_logits(grounded, batch))
        if not labelled:
            return self._module.keyword_logits(grounded).sum() * 0
        logits, flags = (torch.cat(column) for column in zip(*labelled, strict=True))
        return functional.binary_cross_entropy_with_logits(logits, flags)

    def _naming_loss(self, trunk: torch.Tensor, batch: RichBatch) -> torch.Tensor:
        """Each image shows the words that raters did not mark, and none of the other images' words."""
        naming = naming_task(batch, lambda prompt: self.tokenizer.encode_prompt(prompt, self.settings.longest)[1])
        if not naming.vocabulary:
            return trunk.sum() * 0
        logits = self._module.naming_logits(trunk, torch.tensor(naming.vocabulary, device=trunk.device))
        return naming_loss(logits, naming.labels.to(trunk.device)) * naming.weight


def _as_array(logits: torch.Tensor) -> NDArray[np.float32]:
    probabilities: NDArray[np.float32] = logits.sigmoid().float().cpu().numpy()
    return probabilities
