"""The text part of a network of images and captions: CLIP, SigLIP or BLIP, as ``transformers`` saved it.

Its vectors are in the space of the vectors that the image part of the same folder gives, so that their cosine says
how well a text describes an image. Tokens come from the folder's own tokenizer, padded as each family was trained.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tokenizers
import torch
import transformers
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Vectors
from beholder.models.encoders.hub import read_network
from beholder.models.text.prompt_tokens import Tokens, bert_tokens, clip_tokens, folder_tokens
from beholder.models.weights.files import hash_files, hash_network

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.json", "merges.txt", "vocab.txt")
PAD = 0
"""What tokenizers pad with; no token of a text has this id in any of the families."""


class CaptionNetwork:
    """From texts to unit vectors in a space shared with images."""

    def __init__(self, folder: Path, kind: str) -> None:
        """From a folder with ``config.json``, weights and tokenizer; ``kind`` is its ``model_type``."""
        family = FAMILIES[kind]
        self._family = family
        self._model = read_network(folder, family.network, (kind,), "sentence encoder")
        self._model.eval().requires_grad_(requires_grad=False)
        config = getattr(self._model.config, "text_config", self._model.config)
        self._longest = int(config.max_position_embeddings)
        self._tokens = family.tokens(folder, self._longest)
        self._padding = _padding_id(folder, int(config.pad_token_id or PAD)) if family.fixed_length else PAD
        self.space: str | None = hash_network(folder)
        """The weights of the image encoder of the same space, as it records them."""
        tokenizer = [folder / name for name in TOKENIZER if (folder / name).is_file()]
        self.weights = hash_files([*tokenizer, folder / "config.json", *folder.glob("*.safetensors")])
        self.name = f"{kind}-text"
        self.dims = self(["a"]).shape[1]

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, (texts, dims)."""
        ids = self._tokens(texts)
        if self._family.fixed_length:
            ids = functional.pad(ids, (0, self._longest - ids.shape[1]), value=PAD)
            ids = ids.masked_fill(ids == PAD, self._padding)
        with torch.inference_mode():
            vectors: Vectors = functional.normalize(self._family.output(self._model, ids), dim=1).numpy()
        return vectors


@dataclass(frozen=True)
class Family:
    """How the text part of a family of networks is read."""

    network: type[transformers.PreTrainedModel]
    output: Callable[[transformers.PreTrainedModel, torch.Tensor], torch.Tensor]
    """From token ids (n, tokens) to vectors (n, dims)."""
    tokens: Callable[[Path, int], Tokens]
    """The tokenizer of a folder, for so many tokens."""
    fixed_length: bool = False
    """Whether texts are padded to the longest length, and the padding is read like a text."""


def _clip_vectors(model: transformers.PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """The state of the last token, projected; a token sees those before it, and no padding."""
    vectors: torch.Tensor = model(input_ids=ids).text_embeds
    return vectors


def _siglip_vectors(model: transformers.PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    vectors: torch.Tensor = model(input_ids=ids).pooler_output
    return vectors


def _blip_vectors(model: transformers.PreTrainedModel, ids: torch.Tensor) -> torch.Tensor:
    """The projected first token, with padding masked."""
    states = model.text_encoder(input_ids=ids, attention_mask=(ids != PAD).long()).last_hidden_state
    vectors: torch.Tensor = model.text_proj(states[:, 0])
    return vectors


def _clip_tokens(folder: Path, longest: int) -> Tokens:
    return folder_tokens(folder, longest) or clip_tokens(folder, longest, mended=False)


def _siglip_tokens(folder: Path, longest: int) -> Tokens:
    tokens = folder_tokens(folder, longest)
    if tokens is None:
        raise WeightsError(f"sentence encoder: {folder} holds no tokenizer.json, which SigLIP needs")
    return tokens


def _blip_tokens(folder: Path, longest: int) -> Tokens:
    return folder_tokens(folder, longest) or bert_tokens(folder, longest)


def _padding_id(folder: Path, usual: int) -> int:
    """The id of the padding that the tokenizer's configuration names, or else the network's."""
    path = folder / "tokenizer_config.json"
    token = json.loads(path.read_text(encoding="utf-8")).get("pad_token") if path.is_file() else None
    text = token.get("content") if isinstance(token, dict) else token
    number = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")).token_to_id(text) if text else None
    return usual if number is None else number


FAMILIES = {
    "clip": Family(transformers.CLIPTextModelWithProjection, _clip_vectors, _clip_tokens),
    "siglip": Family(transformers.SiglipTextModel, _siglip_vectors, _siglip_tokens, fixed_length=True),
    "blip": Family(transformers.BlipForImageTextRetrieval, _blip_vectors, _blip_tokens),
}
