"""CLIPScore (Hessel et al. 2021): how similar an image and its prompt are in CLIP's joint embedding space.

    2.5 · max(cos(image, text), 0)

The prompt is used as it is, without the authors' "A photo depicts", as is usual in evaluations of generators.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from numpy.typing import NDArray

from beholder.errors import WeightsError
from beholder.models.encoders.catalogue import ENCODERS, load_encoder
from beholder.models.encoders.encoder import Encoder
from beholder.models.text.caption_network import TOKENIZER, CaptionNetwork
from beholder.scorers.scorer import Scorer, ScorerInput

SCALE = 2.5


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


def _text_network(weights: str) -> CaptionNetwork:
    if Path(weights).is_dir():
        return CaptionNetwork(Path(weights), "clip")
    try:
        patterns = ["config.json", "*.safetensors", *TOKENIZER]
        return CaptionNetwork(Path(snapshot_download(weights, allow_patterns=patterns)), "clip")
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise WeightsError(f"clip-score: '{weights}' could not be fetched; give a folder instead") from error
