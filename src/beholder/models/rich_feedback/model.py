"""The rich-feedback model: its losses and its predictions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.differentiable import prepare_with_gradients
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import HALF, Preprocessing
from beholder.models.rich_feedback.cached_decoder import CachedDecoder
from beholder.models.rich_feedback.calibration import Calibration, rescale
from beholder.models.rich_feedback.keywords import (
    decoder_targets,
    mark_prompt,
    misaligned_probabilities,
    unmarked_successors,
)
from beholder.models.rich_feedback.losses import (
    choice_loss,
    heatmap_loss,
    naming_loss,
    score_loss,
    writing_loss,
)
from beholder.models.rich_feedback.naming import naming_task
from beholder.models.rich_feedback.network import Encoded, RichFeedbackNetwork
from beholder.models.rich_feedback.settings import KEYWORDS, RichFeedbackSettings
from beholder.models.rich_feedback.task_drawing import DrawnTasks, draw_tasks
from beholder.models.rich_feedback.tokenizer import (
    TOKENIZER,
    PromptTokenizer,
    pad_token_ids,
    parse_tokenizer,
    read_tokenizer,
    word_tokenizer,
)
from beholder.models.rich_feedback.trainable import FeedbackTensors, RichBatch, RichFeedback
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.models.weights.location import fetch
from beholder.models.weights.saved_config import FILES
from beholder.study.words import split_words

CERTAIN = 1e-12
"""Least distance from 0 and 1 of a probability that is calibrated."""

CPU_BATCH = 16
"""Images per forward pass on a CPU: activations stay in its cache."""


class RichFeedbackModel:
    """A network with its tokenizer; a ``RichTrainable`` that is ``RichCalibratable``."""

    def __init__(self, settings: RichFeedbackSettings, tokenizer: PromptTokenizer | None = None) -> None:
        self.settings = _with_tokenizer(settings)
        self.tokenizer = tokenizer or _build_tokenizer(self.settings)
        self._module = RichFeedbackNetwork(settings, self.tokenizer.vocabulary_size)
        side = settings.image.side
        self.preprocessing = Preprocessing("exact", side, "bicubic", mean=HALF, std=HALF)

    @property
    def module(self) -> RichFeedbackNetwork:
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
        """The frozen encoder; none where the tower takes pixels."""
        name = self.settings.image.encoder
        return () if name is None else (load_encoder(name),)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The image at the size of the tower; augmentation, which changes heatmaps as well, comes before."""
        del rng
        if self.encoders:
            features: NDArray[np.float32] = self.encoders[0].encode([np.asarray(image)])[0]
            return features
        return self.preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """All parameters are trained: with a frozen tower, heatmaps stay poor."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def after_step(self) -> None:
        """Nothing is clamped."""

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """The weighted sum of the losses of all outputs."""
        tokens = self._module.encode_images(batch.pixels)
        naming = self.settings.losses.naming
        total = naming * self._naming_loss(tokens, batch) if naming else torch.zeros((), device=tokens.device)
        if batch.only_naming:
            return total
        drawn = draw_tasks(batch, len(self.settings.tasks), self._tasks_drawn())
        for task, rows, encoded in self._encode_tasks(tokens, batch, drawn=drawn):
            total = total + self._loss(task, rows, encoded, batch) * self._task_weight(task, batch, drawn)
        return total

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        return {
            task.removesuffix(" score"): self._module.score(encoded, task.removesuffix(" score")).sigmoid()
            for task, _, encoded in self._encode_tasks(
                self._module.encode_images(batch.pixels), batch, tasks=self._score_tasks()
            )
        }

    @torch.inference_mode()
    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """All feedback on prepared images; the image tower encodes each once."""
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
        tokens = self._module.encode_images(prepare_with_gradients(images, self.encoders, self.preprocessing))
        together = self._encode(tokens, prompts, None) if self.settings.variant == "multi-head" else None
        scores = {
            aspect: self._module.score(
                together or self._encode(tokens, prompts, f"{aspect} score"), aspect
            ).sigmoid()
            for aspect in self.settings.scores
        }
        heatmaps = {
            aspect: self._module.heatmap(
                together or self._encode(tokens, prompts, f"{aspect} heatmap"), aspect
            ).sigmoid()
            for aspect in self.settings.heatmaps
        }
        return FeedbackTensors(scores, heatmaps)

    @torch.no_grad()
    def calibrate(self, batches: Iterable[RichBatch]) -> None:
        """Fit scale and shift of every output to labelled images held out of training."""
        self._module.eval()
        calibration = Calibration(self._module.scales)
        for batch in batches:
            for task, _, encoded in self._encode_tasks(self._module.encode_images(batch.pixels), batch):
                self._add_to(calibration, task, encoded, batch)
        calibration.fit()

    def _add_to(self, calibration: Calibration, task: str, encoded: Encoded, batch: RichBatch) -> None:
        """Add labels and logits of one task; the marks of words are those that are written one after another."""
        if task == KEYWORDS:
            for flags, words in zip(
                batch.misaligned, self._misaligned_probabilities(encoded, batch.prompts), strict=True
            ):
                logits = torch.from_numpy(words[~np.isnan(words)]).logit(CERTAIN)
                if flags is not None:
                    calibration.add_words(torch.tensor(flags[: len(logits)], dtype=logits.dtype), logits)
        elif task in self._score_tasks():
            aspect = task.removesuffix(" score")
            column = self.settings.scores.index(aspect)
            calibration.add_scores(column, batch.scores[:, column], self._module.score_logits(encoded, aspect))
        else:
            aspect = task.removesuffix(" heatmap")
            column = self.settings.heatmaps.index(aspect)
            logits = self._module.heatmap_logits(encoded, aspect)
            calibration.add_heatmaps(column, batch.heatmaps[:, column], logits)

    def _predict_feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        maps: dict[str, NDArray[np.float32]] = {}
        scores: dict[str, NDArray[np.float32]] = {}
        misaligned: tuple[NDArray[np.float64], ...] = ()
        tokens = self._module.encode_images(pixels)
        encoded = self._encode(tokens, prompts, None) if self.settings.variant == "multi-head" else None
        for task in self.settings.tasks:
            here = encoded or self._encode(tokens, prompts, task)
            if task == KEYWORDS:
                misaligned = self._misaligned_probabilities(here, prompts)
            elif task in self._score_tasks():
                aspect = task.removesuffix(" score")
                scores[aspect] = self._module.score(here, aspect).sigmoid().float().cpu().numpy()
            else:
                aspect = task.removesuffix(" heatmap")
                maps[aspect] = self._module.heatmap(here, aspect).sigmoid().float().cpu().numpy()
        return RichFeedback(maps, scores, misaligned)

    def _encode_tasks(
        self,
        tokens: torch.Tensor,
        batch: RichBatch,
        *,
        drawn: DrawnTasks | None = None,
        tasks: Sequence[str] | None = None,
    ) -> Iterator[tuple[str, torch.Tensor, Encoded]]:
        """Each task with the rows for which it is computed, and the encoder's output for them."""
        tasks = self.settings.tasks if tasks is None else tasks
        every = torch.arange(len(batch))
        if self.settings.variant == "multi-head":
            encoded = self._encode(tokens, batch.prompts, None)
            yield from ((task, every, encoded) for task in tasks)
            return
        for column, task in enumerate(tasks):
            rows = every if drawn is None else every[drawn.of_part[:, column]]
            if len(rows):
                prompts = [batch.prompts[int(row)] for row in rows]
                yield task, rows, self._encode(tokens[rows.to(tokens.device)], prompts, task)

    def _encode(self, tokens: torch.Tensor, prompts: Sequence[str], task: str | None) -> Encoded:
        longest = self.settings.text.longest
        task_ids = [token_id for word in split_words(task or "") for token_id in self.tokenizer.encode_word(word)]
        rows = [task_ids + self.tokenizer.encode_prompt(prompt, longest)[0] for prompt in prompts]
        token_ids, mask = pad_token_ids(rows, self.tokenizer)
        return self._module.encode(tokens, token_ids.to(tokens.device), mask.to(tokens.device))

    def _loss(self, task: str, rows: torch.Tensor, encoded: Encoded, batch: RichBatch) -> torch.Tensor:
        weights = self.settings.losses
        device_rows = rows.to(batch.pixels.device)
        if task == KEYWORDS:
            return weights.keywords * self._writing_loss(rows, encoded, batch)
        if task in self._score_tasks():
            aspect = task.removesuffix(" score")
            scores = batch.scores[device_rows, self.settings.scores.index(aspect)]
            encoded, scores = _labelled_rows(encoded, scores)
            return weights.score * score_loss(self._module.score_logits(encoded, aspect), scores)
        aspect = task.removesuffix(" heatmap")
        marked = batch.heatmaps[device_rows, self.settings.heatmaps.index(aspect)]
        encoded, marked = _labelled_rows(encoded, marked)
        return weights.heatmap * heatmap_loss(self._module.heatmap_logits(encoded, aspect), marked, weights.floor)

    def _tasks_drawn(self) -> int | None:
        """How many tasks are drawn for an image; None: it is trained on all."""
        draws = self.settings.variant != "multi-head" and self._module.training
        return self.settings.tasks_per_image if draws else None

    def _task_weight(self, task: str, batch: RichBatch, drawn: DrawnTasks) -> float:
        """The weight of the mean loss of a task over a part of a batch; as :func:`part_weight`."""
        division, column = batch.division, self.settings.tasks.index(task)
        if division is None:
            return 1.0
        labelled = self._count_labels(task, division.batch_labels, drawn.of_batch[:, column])
        in_part = self._count_labels(task, division.part_labels, drawn.of_part[:, column])
        return in_part * division.parts / labelled if labelled else 0.0

    def _count_labels(self, task: str, labels: RichBatch, rows: torch.Tensor) -> float:
        """How many labels of a task the rows have: images, or for keywords what is written."""
        if task == KEYWORDS:
            return float(sum(self._written_length(labels, row) for row in rows.nonzero()[:, 0].tolist()))
        if task in self._score_tasks():
            scores = labels.scores[:, self.settings.scores.index(task.removesuffix(" score"))]
            return float((~scores[rows].isnan()).sum())
        maps = labels.heatmaps[:, self.settings.heatmaps.index(task.removesuffix(" heatmap"))]
        return float((~maps[rows].isnan().flatten(1).any(1)).sum())

    def _written_length(self, labels: RichBatch, row: int) -> int:
        """How many tokens, or choices, the loss of the written prompt counts."""
        marked = labels.misaligned[row]
        if marked is None:
            return 0
        words = self._words(labels.prompts[row])
        if self.settings.losses.writing == "choices":
            return min(len(words), len(marked))
        return len(mark_prompt(words, marked[: len(words)], self.tokenizer).token_ids)

    def _words(self, prompt: str) -> list[tuple[int, ...]]:
        return self.tokenizer.encode_prompt(prompt, self.settings.text.longest)[1]

    def _naming_loss(self, tokens: torch.Tensor, batch: RichBatch) -> torch.Tensor:
        """Each image shows the words that raters did not mark, and none of the other images' words.

        Misaligned words are not labelled.
        """
        naming = naming_task(batch, self._words)
        if not naming.vocabulary:
            return tokens.sum() * 0
        logits = self._module.naming_logits(tokens, torch.tensor(naming.vocabulary, device=tokens.device))
        return naming_loss(logits, naming.labels.to(tokens.device)) * naming.weight

    def _writing_loss(self, rows: torch.Tensor, encoded: Encoded, batch: RichBatch) -> torch.Tensor:
        labelled = [index for index, row in enumerate(rows.tolist()) if batch.misaligned[row] is not None]
        if not labelled:
            return encoded.states.sum() * 0
        texts, successors, flags = [], list[int](), list[float]()
        for index in labelled:
            row = int(rows[index])
            words = self._words(batch.prompts[row])
            marked = (batch.misaligned[row] or ())[: len(words)]
            texts.append(mark_prompt(words, marked, self.tokenizer))
            successors += unmarked_successors(words, self.tokenizer)
            flags += map(float, marked)
        device = encoded.states.device
        decoder_ids, target_ids = (tensor.to(device) for tensor in decoder_targets(texts, self.tokenizer))
        logits = self._module.next_token_logits(encoded.select(torch.tensor(labelled)), decoder_ids)
        if self.settings.losses.writing == "all" or not flags:
            return writing_loss(logits, target_ids)
        ends = [(row, word_end) for row, text in enumerate(texts) for word_end in text.word_ends]
        chosen = logits[tuple(torch.tensor(ends, device=device).T)]
        unmarked = chosen.gather(1, torch.tensor(successors, device=device)[:, None])[:, 0]
        return choice_loss(chosen[:, self.tokenizer.mark[0]] - unmarked, torch.tensor(flags, device=device))

    def _misaligned_probabilities(
        self, encoded: Encoded, prompts: Sequence[str]
    ) -> tuple[NDArray[np.float64], ...]:
        words = [self._words(prompt) for prompt in prompts]
        decoder, (scale,) = CachedDecoder(self._module, encoded, self.tokenizer.mark[0]), self._module.scales.words

        def calibrated_margins(
            written: torch.Tensor, successors: torch.Tensor, rows: torch.Tensor
        ) -> torch.Tensor:
            return rescale(scale, decoder.mark_margins(written, successors, rows))

        probabilities = misaligned_probabilities(words, self.tokenizer, calibrated_margins)
        counts = [len(split_words(prompt)) for prompt in prompts]
        return tuple(
            np.concatenate([word_probabilities, np.full(count - len(word_probabilities), np.nan)])
            for word_probabilities, count in zip(probabilities, counts, strict=True)
        )

    def _score_tasks(self) -> tuple[str, ...]:
        return tuple(f"{aspect} score" for aspect in self.settings.scores)


def _labelled_rows(encoded: Encoded, labels: torch.Tensor) -> tuple[Encoded, torch.Tensor]:
    """The labelled rows, or all where there are none: heads need not be computed for the others."""
    labelled = ~labels.isnan().flatten(1).any(1) if labels.ndim > 1 else ~labels.isnan()
    return (
        (encoded.select(labelled), labels[labelled])
        if labelled.any() and not labelled.all()
        else (encoded, labels)
    )


def _with_tokenizer(settings: RichFeedbackSettings) -> RichFeedbackSettings:
    """The settings with the tokenizer of the pretrained text model, unless a checkpoint brought it along."""
    if settings.text.weights is None or settings.tokenizer is not None:
        return settings
    folder = fetch(settings.text.weights, (*FILES, TOKENIZER))
    return settings.model_copy(update={"tokenizer": read_tokenizer(folder)})


def _build_tokenizer(settings: RichFeedbackSettings) -> PromptTokenizer:
    if settings.tokenizer is None:
        return word_tokenizer(settings.words)
    return parse_tokenizer(settings.tokenizer, f"the {TOKENIZER} of {settings.text.weights}")
