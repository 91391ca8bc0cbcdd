"""The cross-attention reward model of ImageReward: a BLIP whose text encoder attends to the image.

An image encoder (a ViT) turns the image into tokens; a text encoder like BERT's attends to them at every layer;
the state of its first token goes through a head of linear layers to the reward r. The score is (r −
mean)/(standard deviation) over the authors' images. Of two images of a prompt, the better one is preferred with
probability σ(r_better − r_worse).
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field, model_validator
from torch import nn
from torch.nn import functional
from transformers.models.blip.modeling_blip_text import BlipTextModel

from beholder.errors import LabelsError, RecipeError
from beholder.models.division import part_weight
from beholder.models.encoders.preprocessing import CLIP_MEAN, CLIP_STD, Preprocessing
from beholder.models.preference.image_reward_state import FILES, rename_tensors
from beholder.models.recipe_settings import MULTIPLES, check_multiples, validate_settings
from beholder.models.text.prompt_tokens import SPECIAL, Tokens, bert_tokens, split_tokens, word_tokens
from beholder.models.trainable import Batch, Config, Groups, decayed_groups, last_blocks
from beholder.models.weights.files import fit_state, read_state
from beholder.models.weights.location import find_weights
from beholder.study.question import Settings
from beholder.tables.provenance import Plain

REWARD_MEAN, REWARD_STD = 0.16717362830052426, 1.0333394966054072
"""Mean and standard deviation of the published model's rewards; scores are in units of the latter."""

LONGEST = 35
BERT_SIZE = 30524
"""BERT's word pieces, and two that BLIP added."""

HEAD = (1024, 128, 64, 16, 1)
DROPOUT = (0.2, 0.2, 0.1, 0.0)
"""After each layer of the head but the last; there are no activations in between."""

TRAINED_IMAGE, TRAINED_TEXT = (8, 24), (4, 12)
"""Blocks that the authors train: the last 8 of 24 of the image encoder, the last 4 of 12 of the text encoder."""


class RewardSizes(Settings):
    """Sizes of the parts of a network."""

    image_size: int = Field(224, ge=8)
    patch_size: int = Field(16, ge=1)
    image_width: int = Field(1024, ge=8)
    image_layers: int = Field(24, ge=1)
    image_heads: int = Field(16, ge=1)
    text_width: int = Field(768, ge=8)
    text_layers: int = Field(12, ge=1)
    text_heads: int = Field(12, ge=1)
    positions: int = Field(
        512, ge=LONGEST, description="tokens for which the text encoder has position embeddings"
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="of the text encoder")

    @model_validator(mode="after")
    def _divisible(self) -> "RewardSizes":
        check_multiples(self, MULTIPLES)
        return self


class ImageRewardSettings(Settings):
    """The ``[model]`` table of a recipe."""

    architecture: Literal["image-reward"] = "image-reward"
    start: str | None = Field(
        None, description="folder, file or hub name of the published ImageReward; by default random weights"
    )
    sizes: RewardSizes = Field(RewardSizes(), description="where there is nothing to start from")
    vocabulary: Literal["bert", "words"] | None = Field(
        None,
        description="BERT's word pieces, or the words of the training prompts; by default words if sizes count",
    )
    text_blocks: int | None = Field(
        None, ge=0, description="last text layers that are trained; by default 4/12, or all"
    )
    image_blocks: int | None = Field(
        None, ge=0, description="last image blocks that are trained; by default 8/24, or all"
    )
    freeze: bool | None = Field(None, description="whether the others are frozen; by default if there is a start")
    mean: float = Field(0.0, description="of rewards, subtracted from the score; the published model has its own")
    deviation: float = Field(1.0, gt=0, description="standard deviation of rewards, by which the score is divided")


def configure(settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> Config:
    """Everything needed to build the model; see :mod:`beholder.models.architectures`."""
    chosen = validate_settings(ImageRewardSettings, settings)
    vocabulary = chosen.vocabulary or ("bert" if chosen.start else "words")
    if chosen.start and vocabulary == "words":
        raise RecipeError("[model]", ["vocabulary: the published network has its own; leave 'words' out"])
    words = sorted({word for prompt in prompts for word in split_tokens(prompt)}) if vocabulary == "words" else []
    return {
        **chosen.model_dump(mode="json"),
        "vocabulary": vocabulary,
        "words": list(words),
        "freeze": chosen.freeze if chosen.freeze is not None else chosen.start is not None,
        "aspect": aspects[0] if len(aspects) == 1 else "preference",
    }


def published_config() -> Config:
    """The configuration of the published model."""
    return configure({"vocabulary": "bert", "mean": REWARD_MEAN, "deviation": REWARD_STD}, (), ("preference",))


def build(config: Config, *, fresh: bool, folder: Path | None = None) -> "ImageReward":
    """Build the model from its configuration; ``folder`` may hold BERT's vocabulary."""
    sizes = RewardSizes.model_validate(config["sizes"])
    words = config["words"] if isinstance(config["words"], list) else []
    bert = config["vocabulary"] == "bert"
    network = RewardNetwork(sizes, BERT_SIZE if bert else len(SPECIAL) + len(words))
    if fresh and config["start"]:
        _, weights = find_weights(str(config["start"]), FILES)
        fit_state(network, rename_tensors(read_state(weights)), str(weights))
    if config["freeze"]:
        text, image = config["text_blocks"], config["image_blocks"]
        freeze(network, text if isinstance(text, int) else None, image if isinstance(image, int) else None)
    tokens = bert_tokens(folder, LONGEST) if bert else word_tokens([str(word) for word in words], LONGEST)
    return ImageReward(network, tokens, config)


class RewardNetwork(nn.Module):
    """Image encoder, text encoder with cross-attention, head."""

    def __init__(self, sizes: RewardSizes, vocabulary: int) -> None:
        super().__init__()
        vision = transformers.BlipVisionConfig(
            hidden_size=sizes.image_width,
            intermediate_size=4 * sizes.image_width,
            num_hidden_layers=sizes.image_layers,
            num_attention_heads=sizes.image_heads,
            image_size=sizes.image_size,
            patch_size=sizes.patch_size,
            layer_norm_eps=1e-6,
        )
        text = transformers.BlipTextConfig(
            vocab_size=vocabulary,
            hidden_size=sizes.text_width,
            encoder_hidden_size=sizes.image_width,
            intermediate_size=4 * sizes.text_width,
            num_hidden_layers=sizes.text_layers,
            num_attention_heads=sizes.text_heads,
            max_position_embeddings=sizes.positions,
            hidden_dropout_prob=sizes.dropout,
            attention_probs_dropout_prob=sizes.dropout,
            pad_token_id=0,
            **{"bos_token_id": 0, "eos_token_id": 0, "sep_token_id": 0},  # no text is generated
        )
        self.image = transformers.BlipVisionModel(vision)
        self.text = BlipTextModel(text, add_pooling_layer=False)
        self.head = _head(sizes.text_width)

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """The tokens of images (images, 1 + patches, width)."""
        tokens: torch.Tensor = self.image(pixel_values=pixels).last_hidden_state
        return tokens

    def forward(self, images: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Rewards (n,) of image tokens for the prompts of the same rows, as token ids (n, longest)."""
        mask = (tokens != 0).long()
        text_output = self.text(input_ids=tokens, attention_mask=mask, encoder_hidden_states=images)
        reward: torch.Tensor = self.head(text_output.last_hidden_state[:, 0])
        return reward[:, 0]


class ImageReward:
    """The model with its loss, its scores and its preprocessing; a ``Trainable`` and a ``ScoringNetwork``."""

    def __init__(self, network: RewardNetwork, tokens: Tokens, config: Config) -> None:
        sizes = RewardSizes.model_validate(config["sizes"])
        self._network = network
        self._tokens = tokens
        self._config = config
        self._preprocessing = Preprocessing(
            "shortest", sizes.image_size, "bicubic", sizes.image_size, mean=CLIP_MEAN, std=CLIP_STD
        )
        self._mean, self._std = float(str(config["mean"])), float(str(config["deviation"]))

    @property
    def module(self) -> nn.Module:
        """Both encoders and the head."""
        return self._network

    @property
    def config(self) -> Config:
        """The configuration that :func:`build` takes."""
        return self._config

    @property
    def preprocessing(self) -> Preprocessing:
        """Centre crop, with CLIP's mean and standard deviation."""
        return self._preprocessing

    @property
    def scale(self) -> float:
        """Factor of differences of scores that gives differences of rewards, which enter the loss."""
        return self._std

    def prepare(self, image: Image.Image, rng: np.random.Generator | None) -> NDArray[np.float32]:  # noqa: ARG002
        """The image as input of the image encoder; the authors do not augment."""
        return self._preprocessing.prepare(image)

    def parameter_groups(self, learning_rate: float, weight_decay: float) -> Groups:
        """Matrices decay; norms and biases do not."""
        return decayed_groups(self._network, learning_rate, weight_decay)

    def encode_prompts(self, prompts: Sequence[str]) -> torch.Tensor:
        """Token ids of prompts (prompts, 35): the text encoder needs the image to go further."""
        tokens = self._tokens(prompts)
        return functional.pad(tokens, (0, LONGEST - tokens.shape[1])).to(next(self._network.parameters()).device)

    def encode_images(self, pixels: torch.Tensor) -> torch.Tensor:
        """The tokens of prepared images."""
        return self._network.encode_images(pixels)

    def score(self, images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """The score of each image for the prompt in the same row, in standard deviations of rewards."""
        longest = max(int((texts != 0).sum(dim=1).max()), 1)
        rewards: torch.Tensor = self._network(images, texts[:, :longest])
        return (rewards - self._mean) / self._std

    def loss(self, batch: Batch) -> torch.Tensor:
        """The mean of −log σ(r_better − r_worse) over the pairs of a batch without ties, weighted."""
        if not _weight_of_decided(batch.division.batch_labels if batch.division else batch):
            raise LabelsError(
                "labels", ["no two images of which one was preferred; this model is not trained on ties"]
            )
        texts = self.encode_prompts(batch.prompts)[batch.prompt_of]
        rewards: torch.Tensor = self._network(self.encode_images(batch.pixels), texts)
        decided = batch.soft_labels != 0.5
        if not bool(decided.any()):
            return rewards.sum() * 0
        losses = ranking_losses(rewards[batch.pairs[decided]], batch.soft_labels[decided])
        weights = batch.pair_weights[decided]
        return (losses * weights).sum() / weights.sum() * part_weight(batch, _weight_of_decided)

    def predict(self, batch: Batch) -> Mapping[str, torch.Tensor]:
        """The scores of the images."""
        texts = self.encode_prompts(batch.prompts)[batch.prompt_of]
        return {str(self._config["aspect"]): self.score(self.encode_images(batch.pixels), texts)}

    def after_step(self) -> None:
        """Nothing is clamped."""


def ranking_losses(rewards: torch.Tensor, soft_labels: torch.Tensor) -> torch.Tensor:
    """−log σ(better − worse) of each pair: (pairs, 2), (pairs,) → (pairs,); the first is better above ½."""
    difference = (rewards[:, 0] - rewards[:, 1]) * torch.sign(soft_labels - 0.5)
    return functional.softplus(-difference)


def _weight_of_decided(labels: Batch) -> float:
    """Sum of the weights of the pairs without ties."""
    return float(labels.pair_weights[labels.soft_labels != 0.5].sum())


def freeze(network: RewardNetwork, text_blocks: int | None = None, image_blocks: int | None = None) -> None:
    """The authors' rule: the last blocks of each encoder are trained, the image's last norm, and the head.

    Where no numbers are given, the published proportions (4 of 12, 8 of 24) are rounded up.
    """
    network.requires_grad_(requires_grad=False)
    learning = [
        *last_blocks(network.text.encoder.layer, text_blocks, TRAINED_TEXT),
        *last_blocks(network.image.encoder.layers, image_blocks, TRAINED_IMAGE),
    ]
    for part in (*learning, network.image.post_layernorm, network.head):
        part.requires_grad_(requires_grad=True)


def _head(width: int) -> nn.Sequential:
    """Linear layers with dropout in between, initialised with small weights as by the authors."""
    layers: list[nn.Module] = []
    for index, out in enumerate(HEAD):
        layer = nn.Linear(width if index == 0 else HEAD[index - 1], out)
        nn.init.normal_(layer.weight, std=1 / (width + 1))
        nn.init.zeros_(layer.bias)
        layers.append(layer)
        if index < len(DROPOUT) and DROPOUT[index]:
            layers.append(nn.Dropout(DROPOUT[index]))
    return nn.Sequential(*layers)
