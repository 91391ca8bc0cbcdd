"""A whole CLIP, both towers, from a folder or the hub: its configuration, its weights, its tokens."""

from dataclasses import dataclass
from pathlib import Path

import transformers

from beholder.errors import WeightsError
from beholder.models.text.prompt_tokens import CLIP_SIZE, Tokens, clip_tokens, folder_tokens
from beholder.models.weights.location import fetched
from beholder.models.weights.saved_network import WEIGHTS, first_line, read_saved, saved_config

TOKENS = ("tokenizer.json", "vocab.json", "merges.txt", "bpe_simple_vocab_16e6.txt.gz")


@dataclass(frozen=True)
class FoundClip:
    """A folder with a CLIP in it, and what it says of its sizes."""

    folder: Path
    config: transformers.CLIPConfig


def fetched_clip(place: str) -> FoundClip:
    """The CLIP of a folder or a name on the hub."""
    folder = fetched(place, ("config.json", "preprocessor_config.json", *WEIGHTS, *TOKENS))
    found = saved_config(folder, "clip")
    try:
        return FoundClip(folder, transformers.CLIPConfig.from_dict(found))
    except (ValueError, TypeError, KeyError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({first_line(error)})") from error


def read_clip(found: FoundClip) -> transformers.CLIPModel:
    """The network with all its weights and no others."""
    return read_saved(transformers.CLIPModel, found.folder)


def tokens_of(found: FoundClip) -> Tokens:
    """The tokens of the folder, or CLIP's usual ones."""
    text = found.config.text_config
    longest = int(text.max_position_embeddings)
    own = folder_tokens(found.folder, longest)
    if own is None and text.vocab_size != CLIP_SIZE:
        raise WeightsError(
            f"{found.folder}: its {text.vocab_size} tokens are not CLIP's {CLIP_SIZE}; put its tokenizer.json in"
        )
    return own or clip_tokens(found.folder, longest, mended=False)
