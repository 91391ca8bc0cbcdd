"""The two-tower preference model of HPS v2 and PickScore: a CLIP trained on raters' preferences between images.

Image and prompt become unit vectors; the score is their inner product, optionally times the learned temperature
e^τ. Of two images of a prompt, the first is preferred with probability

    σ(e^τ ⟨text, first⟩ − e^τ ⟨text, second⟩),

which is a softmax over the two, and the loss is the cross-entropy to the proportion of raters who preferred it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, model_validator
from torch import nn
from torch.nn import functional

from beholder.errors import LabelsError, RecipeError
from beholder.models.division import part_weight
from beholder.models.encoders.preprocessing import CLIP_MEAN, CLIP_STD, Preprocessing
from beholder.models.preference.clip import Clip
from beholder.models.preference.clip_config import ClipConfig, clip_config_of, plain_config
from beholder.models.preference.clip_folder import fetch_clip, read_clip
from beholder.models.random_crop import random_crop
from beholder.models.recipe_settings import MULTIPLES, check_multiples, validate_settings
from beholder.models.text.prompt_tokens import CLIP_SIZE, SPECIAL, Tokens, clip_tokens, split_tokens, word_tokens
from beholder.models.trainable import Batch, Config, Groups, decayed_groups, last_blocks
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

LARGEST_SCALE = math.log(100)
"""The temperature τ is clamped to 0 and this, as in CLIP and HPS v2."""

HPS_TEXT, HPS_IMAGE = (11, 24), (19, 32)
"""Blocks that HPS v2 trains, the last 11 of 24 of the text tower and the last 19 of 32 of the image tower."""

Score = Literal["cosine", "scaled"]


class Sizes(Settings):
    """Sizes of a network that starts from random weights."""

    image_size: int = Field(64, ge=8, description="side of the images, in pixels")
    patch_size: int = Field(8, ge=1)
    image_width: int = Field(128, ge=8)
    image_layers: int = Field(4, ge=1)
    image_heads: int = Field(4, ge=1)
    text_width: int = Field(128, ge=8)
    text_layers: int = Field(2, ge=1)
    text_heads: int = Field(4, ge=1)
    embedding: int = Field(64, ge=2, description="dims of the space that images and prompts share")
    dropout: float = Field(0.0, ge=0, lt=1, description="of attention")

    @model_validator(mode="after")
    def _divisible(self) -> "Sizes":
        check_multiples(self, MULTIPLES)
        return self


class TwoTowerSettings(Settings):
    """The ``[model]`` table of a recipe."""

    architecture: Literal["two-tower"] = "two-tower"
    start: str | None = Field(None, description="a folder or hub name of a CLIP; by default random weights")
    sizes: Sizes = Field(Sizes(), description="where there is nothing to start from")
    vocabulary: Literal["clip", "words"] | None = Field(
        None,
        description="CLIP's byte pairs, or the words of the training prompts; by default words if sizes count",
    )
    context: int = Field(77, ge=3, description="tokens of a prompt; the rest is cut")
    text_blocks: int | None = Field(
        None,
        ge=0,
        description="last text blocks that are trained; by default 11/24 as HPS v2, all from random weights",
    )
    image_blocks: int | None = Field(
        None, ge=0, description="last image blocks that are trained; by default 19/32, or all"
    )
    freeze: bool | None = Field(
        None, description="whether the other parameters are frozen; by default if there is a start"
    )
    score: Score = Field("scaled", description="cosine, or cosine times the temperature (PickScore)")
    reduction: Literal["sum", "mean"] = Field("sum", description="over the pairs of a batch; HPS v2 sums")
    crop: tuple[float, float] = Field(
        (0.9, 1.0), description="proportion of an image's area that a random crop shows in training"
    )


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(TwoTowerSettings, settings)
    dumped = chosen.model_dump(mode="json")
    vocabulary = chosen.vocabulary or ("clip" if chosen.start else "words")
    if chosen.start and vocabulary == "words":
        raise RecipeError("[model]", ["vocabulary: a CLIP to start from has its own; leave 'words' out"])
    words = sorted({word for prompt in prompts for word in split_tokens(prompt)}) if vocabulary == "words" else []
    freeze_others = chosen.freeze if chosen.freeze is not None else chosen.start is not None
    clip = fetch_clip(chosen.start).config if chosen.start else _clip_config(chosen, words)
    if chosen.start and clip.text_config.vocab_size != CLIP_SIZE:
        raise RecipeError(
            "[model]", [f"start: {clip.text_config.vocab_size} tokens; CLIP's {CLIP_SIZE} are expected"]
        )
    aspect = aspects[0] if len(aspects) == 1 else "preference"
    return {
        **dumped,
        **{"vocabulary": vocabulary, "words": words, "freeze": freeze_others, "aspect": aspect},
        "clip": plain_config(clip),
    }


def build(config: Config, *, fresh: bool) -> "TwoTower":
    """Build the model from its configuration."""
    start = config.get("start")
    clip_config = clip_config_of(_as_table(config["clip"]))
    clip = read_clip(fetch_clip(str(start))) if fresh and start else Clip(clip_config)
    longest = clip_config.text_config.max_position_embeddings
    if config["vocabulary"] == "words":
        words = [str(word) for word in _as_list(config["words"])]
        tokens = word_tokens(words, longest)
    else:
        tokens = clip_tokens(None, longest)
    model = TwoTower(clip, tokens, clip_preprocessing(clip), config)
    if config["freeze"]:
        freeze(clip, _blocks(config, "text_blocks"), _blocks(config, "image_blocks"))
    return model


class TwoTower:
    """The model with its loss, its scores and its preprocessing; a ``Trainable`` and a ``ScoringNetwork``."""

    def __init__(self, clip: Clip, tokens: Tokens, preprocessing: Preprocessing, config: Config) -> None:
        self._clip = clip
        self._tokens = tokens
        self._preprocessing = preprocessing
        self._config = config

    @property
    def module(self) -> nn.Module:
        """Both towers and the temperature."""
        return self._clip

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @property
    def preprocessing(self) -> Preprocessing:
        """How an image is resized and normalised for the image tower."""
        return self._preprocessing

    @property
    def temperature(self) -> torch.Tensor:
        """e^τ, with its gradient."""
        return self._clip.logit_scale.exp()

    @property
    def scale(self) -> float:
        """Factor of differences of scores as they enter the loss: the temperature, if the score is without it."""
        return 1.0 if self._config["score"] == "scaled" else float(self._clip.logit_scale.exp())

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:
        """The image as input of the image tower; in training a random crop of it."""
        if rng is None:
            return self._preprocessing.prepare(image)
        low, high = (float(str(bound)) for bound in _as_list(self._config["crop"]))
        side = self._preprocessing.side
        part = random_crop(image, rng, (low, high))
        preprocessing = Preprocessing(
            "exact", side, "bicubic", mean=self._preprocessing.mean, std=self._preprocessing.std
        )
        return preprocessing.prepare(part)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay; norms, biases and the temperature do not."""
        return decayed_groups(self.module, learning_rate, weight_decay)

    def encode_prompts(self, prompts: Sequence[str]) -> torch.Tensor:
        """The unit vectors of prompts (prompts, dims)."""
        tokens = self._tokens(prompts).to(self._clip.logit_scale.device)
        return functional.normalize(self._clip.encode_text(tokens), dim=1)

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """The unit vectors of prepared images (images, dims)."""
        return functional.normalize(self._clip.encode_image(pixels), dim=1)

    def score(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """The score of each image for the prompt in the same row."""
        cosine = (images * texts).sum(dim=1)
        return cosine * self._clip.logit_scale.exp() if self._config["score"] == "scaled" else cosine

    def loss(self, batch: Batch) -> torch.Tensor:
        """The cross-entropy over the pairs of a batch, weighted."""
        if not len(batch.pairs):
            raise LabelsError("labels", ["no two images were compared; a two-tower model learns from comparisons"])
        cosine = (self.encode_images(batch.pixels) * self.encode_prompts(batch.prompts)[batch.prompt_of]).sum(
            dim=1
        )
        logits = self._clip.logit_scale.exp() * cosine
        losses = pair_losses(logits[batch.pairs], batch.soft_labels) * batch.pair_weights
        if self._config["reduction"] == "sum":
            return losses.sum() * (batch.division.parts if batch.division else 1)
        return losses.sum() / batch.pair_weights.sum() * part_weight(batch, _weight_of_pairs)

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """The scores of the images."""
        texts = self.encode_prompts(batch.prompts)[batch.prompt_of]
        return {str(self._config["aspect"]): self.score(self.encode_images(batch.pixels), texts)}

    def after_step(self) -> None:
        """Clamp the temperature."""
        with torch.no_grad():
            self._clip.logit_scale.clamp_(0, LARGEST_SCALE)


def pair_losses(logits: torch.Tensor, soft_labels: torch.Tensor) -> torch.Tensor:
    """−p log q − (1 − p) log(1 − q) with q the softmax of the pair's logits: (pairs, 2), (pairs,) → (pairs,).

    ``soft_labels`` p are the proportions of votes for the first: 1 or 0 where the label is hard, ½ for a tie.
    """
    difference = logits[:, 0] - logits[:, 1]
    return functional.softplus(-difference) * soft_labels + functional.softplus(difference) * (1 - soft_labels)


def _weight_of_pairs(labels: Batch) -> float:
    return float(labels.pair_weights.sum())


def freeze(clip: Clip, text_blocks: int | None = None, image_blocks: int | None = None) -> None:
    """HPS v2's rule: only the last blocks of each tower are trained, with the norm and projection after them.

    So is the temperature. Where no numbers are given, HPS v2's proportions (11 of 24, 19 of 32) are rounded up.
    """
    clip.requires_grad_(requires_grad=False)
    learning: list[nn.Module] = [
        *last_blocks(clip.text_model.encoder.layers, text_blocks, HPS_TEXT),
        *last_blocks(clip.vision_model.encoder.layers, image_blocks, HPS_IMAGE),
        *(clip.text_model.final_layer_norm, clip.text_projection),
        *(clip.vision_model.post_layernorm, clip.visual_projection),
    ]
    for part in learning:
        part.requires_grad_(requires_grad=True)
    clip.logit_scale.requires_grad_(True)


def clip_preprocessing(clip: Clip) -> Preprocessing:
    """CLIP's own: centre crop, bicubic, with its mean and standard deviation."""
    side = clip.config.vision_config.image_size
    return Preprocessing("shortest", side, "bicubic", side, mean=CLIP_MEAN, std=CLIP_STD)


def _clip_config(chosen: TwoTowerSettings, words: Sequence[str]) -> ClipConfig:
    sizes = chosen.sizes
    clip = chosen.vocabulary == "clip"
    _, _, begin, end = range(len(SPECIAL))
    text = {
        **_tower(sizes.text_width, sizes.text_layers, sizes.text_heads, sizes.dropout),
        "vocab_size": CLIP_SIZE if clip else len(SPECIAL) + len(words),
        "max_position_embeddings": chosen.context,
        **({} if clip else {"bos_token_id": begin, "eos_token_id": end, "pad_token_id": 0}),
    }
    vision = {
        **_tower(sizes.image_width, sizes.image_layers, sizes.image_heads, sizes.dropout),
        "image_size": sizes.image_size,
        "patch_size": sizes.patch_size,
    }
    return clip_config_of({"text_config": text, "vision_config": vision, "projection_dim": sizes.embedding})


def _tower(width: int, layers: int, heads: int, dropout: float) -> dict[str, int | float | str]:
    return {
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "hidden_act": "gelu",
        "attention_dropout": dropout,
    }


def _blocks(config: Config, key: str) -> int | None:
    count = config[key]
    return int(count) if isinstance(count, int) else None


def _as_table(entry: Plain) -> dict[str, Plain]:
    if not isinstance(entry, dict):
        raise TypeError(f"a table is expected, not {entry!r}")
    return entry


def _as_list(entry: Plain) -> list[Plain]:
    if not isinstance(entry, list):
        raise TypeError(f"a list is expected, not {entry!r}")
    return entry
