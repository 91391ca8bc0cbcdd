"""The network: image tokens and the prompt through one encoder in both directions, then heads and a decoder."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import transformers
from torch import nn

from beholder.models.encoders.grid_features import grid_channels
from beholder.models.rich_feedback.grounding import Grounding
from beholder.models.rich_feedback.heads import HeatmapHead, ScoreHead
from beholder.models.rich_feedback.pieces import Pieces
from beholder.models.rich_feedback.settings import ImageTower, RichFeedbackSettings, TextModel
from beholder.models.rich_feedback.stems import GridStem, Stem

SHARED = "shared"
"""Name of the one head that serves all outputs of its kind, in the augmented-prompt variant."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """What the encoder made of images and prompts."""

    states: torch.Tensor  # (n, image tokens + prompt tokens, width)
    mask: torch.Tensor  # (n, the same), 1 where there is a token
    seen: torch.Tensor  # (n, image tokens, width), the image tokens before they met the prompt

    @property
    def image(self) -> torch.Tensor:
        """The states of the image tokens."""
        return self.states[:, : self.seen.shape[1]]

    def of(self, rows: torch.Tensor) -> "Encoded":
        """Some rows of the batch."""
        there = rows.to(self.states.device)
        return Encoded(self.states[there], self.mask[there], self.seen[there])


class RichFeedbackNetwork(nn.Module):
    """All weights of the model."""

    def __init__(self, settings: RichFeedbackSettings, size: int) -> None:
        super().__init__()
        self.settings = settings
        image, text, heads = settings.image, settings.text, settings.heads
        self.tower = image_tower(image)
        named = settings.losses.naming > 0
        self.grounding = Grounding(size, text.width, image.grid) if named else None
        self.bridge = nn.Linear(image.width, text.width) if image.width != text.width else nn.Identity()
        self.text = text_model(text, size)
        together = settings.variant == "augmented-prompt"
        self.heatmaps = nn.ModuleDict(
            {
                name: HeatmapHead(image.grid, text.width, heads.heatmap)
                for name in ([SHARED] if together and settings.heatmaps else settings.heatmaps)
            }
        )
        self.scores = nn.ModuleDict(
            {
                name: ScoreHead(image.grid, text.width, heads.score, heads.dense)
                for name in ([SHARED] if together and settings.scores else settings.scores)
            }
        )

    def look(self, pixels: torch.Tensor) -> torch.Tensor:
        """Image tokens (n, grid², width) of images (n, 3, side, side), or of what the frozen encoder sees."""
        image = self.settings.image
        if image.encoder is not None:
            pixels = pixels.reshape(len(pixels), -1, image.places, image.places)
        tokens: torch.Tensor = self.bridge(self.tower(pixel_values=pixels).last_hidden_state[:, 1:])
        return tokens

    def named(self, tokens: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that image tokens (n, tokens, width) show words: their likeness to any token will do.

        The words are told by their numbers, the same for all images (words,) or some for each (n, words).
        """
        if self.grounding is None:
            raise TypeError("the network was not built to name words")
        return self.grounding.named(tokens, self.text.shared(numbers), numbers)

    def encode(self, tokens: torch.Tensor, numbers: torch.Tensor, read: torch.Tensor) -> Encoded:
        """Image tokens and prompts (n, longest), ``read`` where a prompt has a token, in one sequence.

        Where images name words, each word of the prompt is told how its image shows it.
        """
        both = torch.cat([tokens, self._words(tokens, numbers, read)], 1)
        mask = torch.cat([read.new_ones(tokens.shape[:2]), read], 1)
        states = self.text.encoder(inputs_embeds=both, attention_mask=mask).last_hidden_state
        return Encoded(states, mask, tokens)

    def _words(
        self, tokens: torch.Tensor, numbers: torch.Tensor, read: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Words by their numbers (n, length), (n, length, width), and what they are told of their image."""
        words: torch.Tensor = self.text.shared(numbers)
        return words if self.grounding is None else words + self.grounding.told(tokens, words, numbers, read)

    def heatmap(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The map (n, map side, map side) of an aspect, before the sigmoid."""
        maps: torch.Tensor = _head(self.heatmaps, aspect)(encoded.image)
        return maps

    def score(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The score (n,) of an aspect, before the sigmoid."""
        scores: torch.Tensor = _head(self.scores, aspect)(encoded.image)
        return scores

    def write(self, encoded: Encoded, given: torch.Tensor) -> torch.Tensor:
        """Logits (n, length, size) of the number after each of those given to the decoder."""
        logits: torch.Tensor = self.text.lm_head(self.decode(encoded, given))
        return logits

    def decode(
        self, encoded: Encoded, given: torch.Tensor, seen: transformers.EncoderDecoderCache | None = None
    ) -> torch.Tensor:
        """What the decoder makes of the numbers given to it, (n, length, width), before it chooses the next.

        ``seen`` keeps what it made of the encoder's states.
        """
        decoded: torch.Tensor = self.text.decoder(
            inputs_embeds=self._words(encoded.seen, given),
            encoder_hidden_states=encoded.states,
            encoder_attention_mask=encoded.mask,
            past_key_values=seen,
            use_cache=seen is not None,
        ).last_hidden_state
        return decoded * self.text.model_dim**-0.5 if self.text.config.scale_decoder_outputs else decoded


def image_tower(settings: ImageTower) -> nn.Module:
    """A vision transformer with random weights; a frozen encoder's places are to it what pixels are to others."""
    config = transformers.ViTConfig(
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=4 * settings.width,
        image_size=settings.places,
        patch_size=settings.places // settings.grid,
        num_channels=grid_channels(settings.encoder) if settings.encoder else 3,
    )
    tower: nn.Module = transformers.ViTModel(config, add_pooling_layer=False)
    if settings.encoder is not None:
        tower.embeddings.patch_embeddings.projection = GridStem(  # type: ignore[union-attr]
            config.num_channels, settings.width, config.patch_size, settings.dropout
        )
    elif settings.stem == "convolutions":
        tower.embeddings.patch_embeddings.projection = Stem(settings.width, settings.patch)  # type: ignore[union-attr]
    return tower


def text_model(settings: TextModel, size: int) -> transformers.T5ForConditionalGeneration:
    """A T5 with random weights and so many numbers in its vocabulary."""
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=size,
            d_model=settings.width,
            d_kv=settings.head_width,
            d_ff=settings.inner,
            num_layers=settings.layers,
            num_decoder_layers=settings.decoder_layers,
            num_heads=settings.heads,
            dropout_rate=settings.dropout,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
    )


def padded(rows: Sequence[Sequence[int]], pieces: Pieces) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompts of different lengths as one tensor, and 1 where there is a token."""
    longest = max(map(len, rows))
    numbers = torch.full((len(rows), longest), pieces.pad)
    read = torch.zeros(len(rows), longest, dtype=torch.int64)
    for row, one in enumerate(rows):
        numbers[row, : len(one)] = torch.tensor(one)
        read[row, : len(one)] = 1
    return numbers, read


def _head(heads: nn.ModuleDict, aspect: str) -> nn.Module:
    return heads[SHARED] if SHARED in heads else heads[aspect]
