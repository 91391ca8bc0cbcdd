"""A CLIP with both towers, from a folder or the hub: its configuration, weights and tokenizer."""

from dataclasses import dataclass
from pathlib import Path

import torch

from beholder.errors import WeightsError
from beholder.models.preference.clip import Clip
from beholder.models.preference.clip_config import ClipConfig, clip_config_of
from beholder.models.text.prompt_tokens import CLIP_SIZE, Tokens, clip_tokens, folder_tokens
from beholder.models.weights.files import fit_state, read_state
from beholder.models.weights.location import fetch
from beholder.models.weights.saved_config import WEIGHTS, first_line, saved_config

TOKENS = ("tokenizer.json", "vocab.json", "merges.txt", "bpe_simple_vocab_16e6.txt.gz")


@dataclass(frozen=True)
class ClipFolder:
    """A folder that holds a CLIP, and its configuration."""

    folder: Path
    config: ClipConfig


def fetch_clip(place: str) -> ClipFolder:
    """The CLIP of a folder, or of a name on the hub, from which it is downloaded."""
    folder = fetch(place, ("config.json", "preprocessor_config.json", *WEIGHTS, *TOKENS))
    config = saved_config(folder, "clip")
    try:
        return ClipFolder(folder, clip_config_of(config))
    except (ValueError, TypeError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({first_line(error)})") from error


def read_clip(clip: ClipFolder) -> Clip:
    """The network with all its weights, in single precision; missing or additional tensors are an error."""
    files = sorted(clip.folder.glob(WEIGHTS[0]))
    if not files:
        raise WeightsError(f"{clip.folder}: cannot be loaded (no {WEIGHTS[0]} here)")
    state = {
        name: tensor.float()
        for file in files
        for name, tensor in read_state(file).items()
        if not name.endswith("position_ids")
    }
    with torch.device("meta"):
        network = Clip(clip.config)
    fit_state(network, state, str(clip.folder), assign=True)
    return network


def load_tokens(clip: ClipFolder) -> Tokens:
    """The tokenizer of the folder, or CLIP's usual one."""
    text = clip.config.text_config
    longest = int(text.max_position_embeddings)
    own = folder_tokens(clip.folder, longest)
    if own is None and text.vocab_size != CLIP_SIZE:
        raise WeightsError(
            f"{clip.folder}: its {text.vocab_size} tokens are not CLIP's {CLIP_SIZE}; put its tokenizer.json in"
        )
    return own or clip_tokens(clip.folder, longest, mended=False)
