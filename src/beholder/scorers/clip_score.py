"""CLIPScore (Hessel et al. 2021): how similar an image and its prompt are in CLIP's joint embedding space.

    2.5 · max(cos(image, text), 0)

The prompt is used as it is, without the authors' "A photo depicts", as is usual in evaluations of generators.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import transformers
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.weights.quiet_transformers import quiet_transformers
from beholder.scorers.scorer import Scorer, ScorerInput

SCALE = 2.5
TOKENIZER = ["tokenizer*", "vocab.json", "merges.txt", "special_tokens_map.json"]


def load(name: str, clip: str | None) -> Scorer:
    """Load the scorer with the CLIP of a folder or hub name, or the default one."""
    encoder = load_encoder("clip", clip)
    text = _text_network(clip or ENCODERS["clip"].weights)

    def score(inputs: Sequence[ScorerInput]) -> NDArray[np.float64]:
        texts = text([scorer_input.prompt or "" for scorer_input in inputs])
        return clip_score(image_vectors(encoder, inputs), texts)

    return Scorer(name, f"{name}@{encoder.weights[:12]}", score)


def clip_score(images: NDArray[np.floating], texts: NDArray[np.floating]) -> NDArray[np.float64]:
    """The score of each pair of image and text embeddings, row by row: (pairs, dims) each."""
    x, y = images.astype(np.float64), texts.astype(np.float64)
    cosine = np.einsum("id,id->i", x, y) / (np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1))
    return np.asarray(SCALE * np.maximum(cosine, 0.0))


def image_vectors(encoder: Encoder, inputs: Sequence[ScorerInput]) -> NDArray[np.float32]:
    """The encoder's embeddings of the images: (images, dims)."""
    images = [scorer_input.image for scorer_input in inputs if scorer_input.image is not None]
    prepared = [encoder.preprocessing.prepare(image.convert("RGB")) for image in images]
    return encoder.network(np.stack(prepared))


class _TextNetwork:
    """The text encoder of a CLIP: from prompts to embeddings."""

    def __init__(self, folder: Path) -> None:
        try:
            config, _ = transformers.PreTrainedConfig.get_config_dict(folder, local_files_only=True)
            shared = {"projection_dim": config["projection_dim"]} if "text_config" in config else {}
            self._tokens = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            with (
                quiet_transformers()
            ):  # otherwise it warns of every tensor of the image encoder, which is not loaded
                self._model, info = transformers.CLIPTextModelWithProjection.from_pretrained(
                    folder, local_files_only=True, output_loading_info=True, dtype=torch.float32, **shared
                )
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise WeightsError(f"clip-score: {folder} has no text part with a tokenizer ({reason})") from error
        if info["missing_keys"]:
            raise WeightsError(f"clip-score: {folder} lacks {len(info['missing_keys'])} tensors of the text part")
        self._model.eval()

    def __call__(self, prompts: Sequence[str]) -> NDArray[np.float32]:
        longest = int(self._model.config.max_position_embeddings)
        tokens = self._tokens(
            list(prompts), padding=True, truncation=True, max_length=longest, return_tensors="pt"
        )
        with torch.inference_mode():
            outputs = self._model(**{key: tokens[key] for key in ("input_ids", "attention_mask")})
        vectors: NDArray[np.float32] = outputs.text_embeds.numpy()
        return vectors


def _text_network(weights: str) -> _TextNetwork:
    if Path(weights).is_dir():
        return _TextNetwork(Path(weights))
    try:
        patterns = ["config.json", "*.safetensors", *TOKENIZER]
        return _TextNetwork(Path(snapshot_download(weights, allow_patterns=patterns)))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise WeightsError(f"clip-score: '{weights}' could not be fetched; give a folder instead") from error
