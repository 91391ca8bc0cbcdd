"""The rich-feedback model as it is trained and asked."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.preprocessing import HALF, Preprocessing
from beholder.models.rich_feedback.batch import RichBatch
from beholder.models.rich_feedback.decoding import Decoding
from beholder.models.rich_feedback.judge import RichFeedback
from beholder.models.rich_feedback.keywords import following, misaligned_chances, targets, written
from beholder.models.rich_feedback.losses import (
    choice_loss,
    heatmap_loss,
    naming_loss,
    score_loss,
    writing_loss,
)
from beholder.models.rich_feedback.network import Encoded, RichFeedbackNetwork, padded
from beholder.models.rich_feedback.pieces import (
    TOKENIZER,
    Pieces,
    folder_tokenizer,
    tokenizer_pieces,
    word_pieces,
)
from beholder.models.rich_feedback.settings import KEYWORDS, RichFeedbackSettings
from beholder.models.trainable import Config, Groups, decayed_groups
from beholder.models.weights.location import fetched
from beholder.models.weights.saved_network import FILES
from beholder.study.words import split_words

PORTION = 16
"""Images that go through the network together on a processor: what lies between its layers stays in the cache."""


class RichFeedbackModel:
    """A network with its vocabulary."""

    def __init__(self, settings: RichFeedbackSettings, pieces: Pieces | None = None) -> None:
        self.settings = _with_tokenizer(settings)
        self.pieces = pieces or _pieces(self.settings)
        self._module = RichFeedbackNetwork(settings, self.pieces.size)
        side = settings.image.side
        self.preprocessing = Preprocessing("exact", side, "bicubic", mean=HALF, std=HALF)

    @property
    def module(self) -> RichFeedbackNetwork:
        """Everything with weights."""
        return self._module

    @property
    def config(self) -> Config:
        """What the same model is built from again."""
        return self.settings.model_dump(mode="json")

    @cached_property
    def encoders(self) -> tuple[Encoder, ...]:
        """The frozen one that images are seen through; none where the tower sees pixels."""
        name = self.settings.image.encoder
        return () if name is None else (load_encoder(name),)

    def prepare(self, image: Image.Image, rng: np.random.Generator | None = None) -> NDArray[np.float32]:
        """The image at the size of the tower; augmentation moves maps too, and comes before."""
        del rng
        if self.encoders:
            seen: NDArray[np.float32] = self.encoders[0].encode([np.asarray(image)])[0]
            return seen
        return self.preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """All parameters learn: with a frozen tower, heatmaps stay poor."""
        return decayed_groups(self._module, learning_rate, weight_decay)

    def after_step(self) -> None:
        """Nothing is clamped."""

    def loss(self, batch: RichBatch) -> torch.Tensor:
        """The weighted sum of the losses of all outputs."""
        tokens = self._module.look(batch.pixels)
        naming = self.settings.losses.naming
        total = naming * self._naming_loss(tokens, batch) if naming else torch.zeros((), device=tokens.device)
        if batch.only_naming:
            return total
        for task, rows, encoded in self._encoded(tokens, batch, draw=self._module.training):
            total = total + self._loss(task, rows, encoded, batch)
        return total

    def predict(self, batch: RichBatch) -> Mapping[str, torch.Tensor]:
        """The scores by aspect."""
        return {
            task.removesuffix(" score"): self._module.score(encoded, task.removesuffix(" score")).sigmoid()
            for task, _, encoded in self._encoded(
                self._module.look(batch.pixels), batch, draw=False, tasks=self._score_tasks()
            )
        }

    @torch.inference_mode()
    def feedback(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        """Everything the model says of prepared images; the image tower looks at each once."""
        self._module.eval()
        size = PORTION if pixels.device.type == "cpu" else len(prompts)
        starts = range(0, len(prompts), size)
        parts = [self._said(pixels[at : at + size], prompts[at : at + size]) for at in starts]
        return RichFeedback(
            {aspect: np.concatenate([part.heatmaps[aspect] for part in parts]) for aspect in parts[0].heatmaps},
            {aspect: np.concatenate([part.scores[aspect] for part in parts]) for aspect in parts[0].scores},
            tuple(chances for part in parts for chances in part.misaligned),
        )

    def _said(self, pixels: torch.Tensor, prompts: Sequence[str]) -> RichFeedback:
        maps: dict[str, NDArray[np.float32]] = {}
        scores: dict[str, NDArray[np.float32]] = {}
        misaligned: tuple[NDArray[np.float64], ...] = ()
        tokens = self._module.look(pixels)
        encoded = self._encode(tokens, prompts, None) if self.settings.variant == "multi-head" else None
        for task in self.settings.tasks:
            here = encoded or self._encode(tokens, prompts, task)
            if task == KEYWORDS:
                misaligned = self._chances(here, prompts)
            elif task in self._score_tasks():
                aspect = task.removesuffix(" score")
                scores[aspect] = self._module.score(here, aspect).sigmoid().float().cpu().numpy()
            else:
                aspect = task.removesuffix(" heatmap")
                maps[aspect] = self._module.heatmap(here, aspect).sigmoid().float().cpu().numpy()
        return RichFeedback(maps, scores, misaligned)

    def _encoded(
        self, tokens: torch.Tensor, batch: RichBatch, *, draw: bool, tasks: Sequence[str] | None = None
    ) -> Iterator[tuple[str, torch.Tensor, Encoded]]:
        """Each task with the rows it is asked for, and what the encoder made of these."""
        tasks = self.settings.tasks if tasks is None else tasks
        every = torch.arange(len(batch))
        if self.settings.variant == "multi-head":
            encoded = self._encode(tokens, batch.prompts, None)
            yield from ((task, every, encoded) for task in tasks)
            return
        asked = torch.ones(len(batch), len(tasks), dtype=torch.bool)
        if draw and self.settings.tasks_per_image and self.settings.tasks_per_image < len(tasks):
            asked = torch.rand(asked.shape).argsort(1) < self.settings.tasks_per_image
        for place, task in enumerate(tasks):
            rows = every[asked[:, place]]
            if len(rows):
                prompts = [batch.prompts[int(row)] for row in rows]
                yield task, rows, self._encode(tokens[rows.to(tokens.device)], prompts, task)

    def _encode(self, tokens: torch.Tensor, prompts: Sequence[str], task: str | None) -> Encoded:
        longest = self.settings.text.longest
        told = [number for word in split_words(task or "") for number in self.pieces.of(word)]
        rows = [told + self.pieces.read(prompt, longest)[0] for prompt in prompts]
        numbers, read = padded(rows, self.pieces)
        return self._module.encode(tokens, numbers.to(tokens.device), read.to(tokens.device))

    def _loss(self, task: str, rows: torch.Tensor, encoded: Encoded, batch: RichBatch) -> torch.Tensor:
        weights = self.settings.losses
        there = rows.to(batch.pixels.device)
        if task == KEYWORDS:
            return weights.keywords * self._writing_loss(rows, encoded, batch)
        if task in self._score_tasks():
            aspect = task.removesuffix(" score")
            wanted = batch.scores[there, self.settings.scores.index(aspect)]
            encoded, wanted = _told(encoded, wanted)
            return weights.score * score_loss(self._module.score(encoded, aspect), wanted)
        aspect = task.removesuffix(" heatmap")
        marked = batch.heatmaps[there, self.settings.heatmaps.index(aspect)]
        encoded, marked = _told(encoded, marked)
        return weights.heatmap * heatmap_loss(self._module.heatmap(encoded, aspect), marked, weights.floor)

    def _naming_loss(self, tokens: torch.Tensor, batch: RichBatch) -> torch.Tensor:
        """Of each image: it shows the words that people found in it, and none of the other images' words.

        What becomes of words that people missed is open.
        """
        words = [self.pieces.read(prompt, self.settings.text.longest)[1] for prompt in batch.prompts]
        numbers = sorted({number for prompt in words for word in prompt for number in word})
        if not numbers:
            return tokens.sum() * 0
        place = {number: at for at, number in enumerate(numbers)}
        shown = torch.zeros(len(batch), len(numbers))
        for row, (prompt, missed) in enumerate(zip(words, batch.misaligned, strict=True)):
            flags = (True,) * len(prompt) if missed is None else missed
            told = [(place[one], flag) for word, flag in zip(prompt, flags, strict=False) for one in word]
            shown[row, [at for at, flag in told if flag]] = torch.nan
            shown[row, [at for at, flag in told if not flag]] = 1  # found once, it is shown
        found = self._module.named(tokens, torch.tensor(numbers, device=tokens.device))
        return naming_loss(found, shown.to(tokens.device))

    def _writing_loss(self, rows: torch.Tensor, encoded: Encoded, batch: RichBatch) -> torch.Tensor:
        known = [place for place, row in enumerate(rows.tolist()) if batch.misaligned[row] is not None]
        if not known:
            return encoded.states.sum() * 0
        texts, others, flags = [], list[int](), list[float]()
        for place in known:
            row = int(rows[place])
            words = self.pieces.read(batch.prompts[row], self.settings.text.longest)[1]
            marked = (batch.misaligned[row] or ())[: len(words)]
            texts.append(written(words, marked, self.pieces))
            others += following(words, self.pieces)
            flags += map(float, marked)
        device = encoded.states.device
        given, wanted = (one.to(device) for one in targets(texts, self.pieces))
        logits = self._module.write(encoded.of(torch.tensor(known)), given)
        if self.settings.losses.writing == "all" or not flags:
            return writing_loss(logits, wanted)
        ends = [(row, after) for row, text in enumerate(texts) for after in text.after]
        chosen = logits[tuple(torch.tensor(ends, device=device).T)]
        unmarked = chosen.gather(1, torch.tensor(others, device=device)[:, None])[:, 0]
        return choice_loss(chosen[:, self.pieces.mark[0]] - unmarked, torch.tensor(flags, device=device))

    def _chances(self, encoded: Encoded, prompts: Sequence[str]) -> tuple[NDArray[np.float64], ...]:
        words = [self.pieces.read(prompt, self.settings.text.longest)[1] for prompt in prompts]
        decoding = Decoding(self._module, encoded, self.pieces.mark[0])
        found = misaligned_chances(words, self.pieces, decoding.leads)
        counts = [len(split_words(prompt)) for prompt in prompts]
        return tuple(
            np.concatenate([chances, np.full(count - len(chances), np.nan)])
            for chances, count in zip(found, counts, strict=True)
        )

    def _score_tasks(self) -> tuple[str, ...]:
        return tuple(f"{aspect} score" for aspect in self.settings.scores)


def _told(encoded: Encoded, wanted: torch.Tensor) -> tuple[Encoded, torch.Tensor]:
    """The rows of which people said something, or all where that is none: heads need not look at the others."""
    known = ~wanted.isnan().flatten(1).any(1) if wanted.ndim > 1 else ~wanted.isnan()
    return (encoded.of(known), wanted[known]) if known.any() and not known.all() else (encoded, wanted)


def _with_tokenizer(settings: RichFeedbackSettings) -> RichFeedbackSettings:
    """The settings with the tokenizer of the pretrained text model, unless a checkpoint brought it along."""
    if settings.text.weights is None or settings.tokenizer is not None:
        return settings
    folder = fetched(settings.text.weights, (*FILES, TOKENIZER))
    return settings.model_copy(update={"tokenizer": folder_tokenizer(folder)})


def _pieces(settings: RichFeedbackSettings) -> Pieces:
    if settings.tokenizer is None:
        return word_pieces(settings.words)
    return tokenizer_pieces(settings.tokenizer, f"the {TOKENIZER} of {settings.text.weights}")
