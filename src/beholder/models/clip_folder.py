"""A whole CLIP, both towers, from a folder or the hub: its configuration, its weights, its tokens."""

from dataclasses import dataclass
from pathlib import Path

import torch
import transformers

from beholder.errors import WeightsError
from beholder.models.hub import quiet_transformers
from beholder.models.prompt_tokens import CLIP_SIZE, Tokens, clip_tokens, folder_tokens
from beholder.models.weights import refuse_pointers
from beholder.models.weights_place import fetched

TOKENS = ("tokenizer.json", "vocab.json", "merges.txt", "bpe_simple_vocab_16e6.txt.gz")
WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")


@dataclass(frozen=True)
class FoundClip:
    """A folder with a CLIP in it, and what it says of its sizes."""

    folder: Path
    config: transformers.CLIPConfig


def fetched_clip(place: str) -> FoundClip:
    """The CLIP of a folder or a name on the hub."""
    folder = fetched(place, ("config.json", "preprocessor_config.json", *WEIGHTS, *TOKENS))
    if not (folder / "config.json").is_file():
        raise WeightsError(f"{folder}: holds no config.json; a CLIP saved by transformers is expected")
    try:
        found, _ = transformers.PreTrainedConfig.get_config_dict(folder, local_files_only=True)
        if found.get("model_type") != "clip":
            raise WeightsError(f"{folder}: holds a network of type {found.get('model_type')}; expected: clip")
        return FoundClip(folder, transformers.CLIPConfig.from_dict(found))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({_first_line(error)})") from error


def read_clip(found: FoundClip) -> transformers.CLIPModel:
    """The network with all its weights and no others; it would be filled up with random numbers in silence."""
    refuse_pointers(found.folder.glob("*.safetensors"))
    try:
        with quiet_transformers():
            model, info = transformers.CLIPModel.from_pretrained(
                found.folder,
                local_files_only=True,
                output_loading_info=True,
                dtype=torch.float32,
                use_safetensors=True,
                ignore_mismatched_sizes=True,  # they are told below, all at once
            )
    except (OSError, ValueError, RuntimeError) as error:
        raise WeightsError(f"{found.folder}: cannot be loaded ({_first_line(error)})") from error
    unknown = [key for key in info["unexpected_keys"] if not key.endswith("position_ids")]
    faults = [f"lacks {key}" for key in sorted(info["missing_keys"])]
    faults += [
        f"{key} has the shape {tuple(there)}; {tuple(wanted)} is expected"
        for key, there, wanted in sorted(info["mismatched_keys"])
    ]
    faults += [f"has {key}, which is not in the network" for key in sorted(unknown)]
    if faults:
        listed = "".join(f"\n  - {fault}" for fault in faults)
        raise WeightsError(f"{found.folder}: these weights are not those of the network{listed}")
    return model


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


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
