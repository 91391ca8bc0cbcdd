"""The network: image tokens and the prompt in one bidirectional encoder, then heads and a decoder."""

from dataclasses import dataclass

import torch
import transformers
from torch import nn

from beholder.models.encoders.grid_features import grid_channels
from beholder.models.rich_feedback.calibration import OutputScales
from beholder.models.rich_feedback.grounding import Grounding
from beholder.models.rich_feedback.heads import HeatmapHead, ScoreHead
from beholder.models.rich_feedback.settings import ImageTower, RichFeedbackSettings, TextModel
from beholder.models.rich_feedback.stems import GridStem, Stem

SHARED = "shared"
"""Name of the head that serves all outputs of its kind, in the augmented-prompt variant."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """The encoder's output for images and prompts."""

    states: torch.Tensor  # (n, image tokens + prompt tokens, width)
    mask: torch.Tensor  # (n, the same), 1 where there is a token
    image_tokens: torch.Tensor  # (n, image tokens, width), before the encoder

    @property
    def image(self) -> torch.Tensor:
        """The states of the image tokens."""
        return self.states[:, : self.image_tokens.shape[1]]

    def select(self, rows: torch.Tensor) -> "Encoded":
        """The given rows of the batch."""
        there = rows.to(self.states.device)
        return Encoded(self.states[there], self.mask[there], self.image_tokens[there])


class RichFeedbackNetwork(nn.Module):
    """All weights of the model, and the calibration of its outputs."""

    def __init__(self, settings: RichFeedbackSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.settings = settings
        self.scales = OutputScales(len(settings.scores), len(settings.heatmaps))
        image, text, heads = settings.image, settings.text, settings.heads
        self.tower = image_tower(image)
        grounded = settings.losses.naming > 0
        self.grounding = Grounding(vocabulary_size, text.width, image.grid) if grounded else None
        self.bridge = nn.Linear(image.width, text.width) if image.width != text.width else nn.Identity()
        self.text = text_model(text, vocabulary_size)
        shared_head = settings.variant == "augmented-prompt"
        self.heatmaps = nn.ModuleDict(
            {
                name: HeatmapHead(image.grid, text.width, heads.heatmap)
                for name in ([SHARED] if shared_head and settings.heatmaps else settings.heatmaps)
            }
        )
        self.scores = nn.ModuleDict(
            {
                name: ScoreHead(image.grid, text.width, heads.score, heads.dense)
                for name in ([SHARED] if shared_head and settings.scores else settings.scores)
            }
        )

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """Image tokens (n, grid², width) of images (n, 3, side, side), or of features of the frozen encoder."""
        image = self.settings.image
        if image.encoder is not None:
            pixels = pixels.reshape(len(pixels), -1, image.places, image.places)
        tokens: torch.Tensor = self.bridge(self.tower(pixel_values=pixels).last_hidden_state[:, 1:])
        return tokens

    def naming_logits(self, tokens: torch.Tensor, token_ids: torch.Tensor) -> torch.Tensor:
        """Logits (n, words) that images (n, tokens, width) show words, by the similarity to any image token.

        The words are given by token ids, the same for all images (words,) or different ones (n, words).
        """
        if self.grounding is None:
            raise TypeError("the network was not built to name words")
        return self.grounding.naming_logits(tokens, self.text.shared(token_ids), token_ids)

    def encode(self, tokens: torch.Tensor, token_ids: torch.Tensor, prompt_mask: torch.Tensor) -> Encoded:
        """Encode image tokens and prompts (n, longest) in one sequence.

        ``prompt_mask`` is 1 where a prompt has a token. With grounding, evidence of how the image shows it is
        added to each word of the prompt.
        """
        both = torch.cat([tokens, self._words(tokens, token_ids, prompt_mask)], 1)
        mask = torch.cat([prompt_mask.new_ones(tokens.shape[:2]), prompt_mask], 1)
        states = self.text.encoder(inputs_embeds=both, attention_mask=mask).last_hidden_state
        return Encoded(states, mask, tokens)

    def _words(
        self, tokens: torch.Tensor, token_ids: torch.Tensor, prompt_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Embeddings (n, length, width) of token ids (n, length), plus the evidence of their image."""
        words: torch.Tensor = self.text.shared(token_ids)
        return (
            words
            if self.grounding is None
            else words + self.grounding.word_evidence(tokens, words, token_ids, prompt_mask)
        )

    def heatmap(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The map (n, map side, map side) of an aspect before the sigmoid, calibrated."""
        return self.scales.heatmap(self.settings.heatmaps.index(aspect), self.heatmap_logits(encoded, aspect))

    def score(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The score (n,) of an aspect before the sigmoid, calibrated."""
        return self.scales.score(self.settings.scores.index(aspect), self.score_logits(encoded, aspect))

    def heatmap_logits(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The map before the sigmoid and before calibration, as it is trained."""
        maps: torch.Tensor = _head(self.heatmaps, aspect)(encoded.image)
        return maps

    def score_logits(self, encoded: Encoded, aspect: str) -> torch.Tensor:
        """The score before the sigmoid and before calibration, as it is trained."""
        scores: torch.Tensor = _head(self.scores, aspect)(encoded.image)
        return scores

    def next_token_logits(self, encoded: Encoded, decoder_ids: torch.Tensor) -> torch.Tensor:
        """Logits (n, length, vocabulary size) of the token after each of ``decoder_ids``."""
        logits: torch.Tensor = self.text.lm_head(self.decode(encoded, decoder_ids))
        return logits

    def decode(
        self, encoded: Encoded, decoder_ids: torch.Tensor, cache: transformers.EncoderDecoderCache | None = None
    ) -> torch.Tensor:
        """The decoder's states (n, length, width) for its input, before the output layer.

        ``cache`` keeps keys and values of the encoder's states.
        """
        decoded: torch.Tensor = self.text.decoder(
            inputs_embeds=self._words(encoded.image_tokens, decoder_ids),
            encoder_hidden_states=encoded.states,
            encoder_attention_mask=encoded.mask,
            past_key_values=cache,
            use_cache=cache is not None,
        ).last_hidden_state
        return decoded * self.text.model_dim**-0.5 if self.text.config.scale_decoder_outputs else decoded


def image_tower(settings: ImageTower) -> nn.Module:
    """A vision transformer with random weights; it takes the grid of a frozen encoder in place of pixels."""
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


def text_model(settings: TextModel, vocabulary_size: int) -> transformers.T5ForConditionalGeneration:
    """A T5 with random weights."""
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=vocabulary_size,
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


def _head(heads: nn.ModuleDict, aspect: str) -> nn.Module:
    return heads[SHARED] if SHARED in heads else heads[aspect]
