"""CLIPScore (Hessel et al. 2021): how near an image and its prompt lie in the space that CLIP gives to both.

    2.5 · max(cos(image, text), 0)

The prompt is taken as it is, without the authors' "A photo depicts", as evaluations of generators do.
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
from beholder.measure.scorers.scorer import Scorer, Shown
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.encoders.hub import quiet_transformers

SCALE = 2.5
TOKENIZER = ["tokenizer*", "vocab.json", "merges.txt", "special_tokens_map.json"]


def load(name: str, clip: str | None) -> Scorer:
    """The scorer with the CLIP of a folder or hub name, or the usual one."""
    encoder = load_encoder("clip", clip)
    text = _text_network(clip or ENCODERS["clip"].weights)

    def judge(shown: Sequence[Shown]) -> NDArray[np.float64]:
        return clip_score(image_vectors(encoder, shown), text([one.prompt or "" for one in shown]))

    return Scorer(name, f"{name}@{encoder.weights[:12]}", judge)


def clip_score(images: NDArray[np.floating], texts: NDArray[np.floating]) -> NDArray[np.float64]:
    """The score from both vectors, row by row (images, dims)."""
    one, two = images.astype(np.float64), texts.astype(np.float64)
    cosine = np.einsum("id,id->i", one, two) / (np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1))
    return np.asarray(SCALE * np.maximum(cosine, 0.0))


def image_vectors(encoder: Encoder, shown: Sequence[Shown]) -> NDArray[np.float32]:
    """What the encoder makes of the images (images, dims)."""
    prepared = [encoder.preprocessing.prepare(one.image.convert("RGB")) for one in shown if one.image is not None]
    return encoder.network(np.stack(prepared))


class _TextNetwork:
    """The text part of a CLIP: from prompts to vectors."""

    def __init__(self, folder: Path) -> None:
        try:
            config, _ = transformers.PreTrainedConfig.get_config_dict(folder, local_files_only=True)
            shared = {"projection_dim": config["projection_dim"]} if "text_config" in config else {}
            self._tokens = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            with quiet_transformers():  # it would list the image part, which is left out, at length
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
            found = self._model(**{key: tokens[key] for key in ("input_ids", "attention_mask")})
        vectors: NDArray[np.float32] = found.text_embeds.numpy()
        return vectors


def _text_network(weights: str) -> _TextNetwork:
    if Path(weights).is_dir():
        return _TextNetwork(Path(weights))
    try:
        wanted = ["config.json", "*.safetensors", *TOKENIZER]
        return _TextNetwork(Path(snapshot_download(weights, allow_patterns=wanted)))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise WeightsError(f"clip-score: '{weights}' could not be fetched; give a folder instead") from error
