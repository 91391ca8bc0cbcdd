"""Pretrained weights to start from: a ViT for the image tower, a T5 for the text model.

Both are folders or hub names of what ``transformers`` saved. Their sizes must be those of the settings, and what
the settings leave out (activations, norms) must be as in ViT-B/16 and T5-base; all differences are reported at
once. Two things may differ: an image side, to which the learned positions are interpolated, and ids at the end of
a vocabulary that the tokenizer does not use.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from torch.nn import functional

from beholder.errors import WeightsError
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import ImageTower
from beholder.models.rich_feedback.tokenizer import TOKENIZER
from beholder.models.weights.files import fit_state
from beholder.models.weights.location import fetch
from beholder.models.weights.saved_config import FILES, first_line, saved_config
from beholder.models.weights.saved_network import read_saved

VIT: Mapping[str, str] = {
    "hidden_size": "image.width",
    "num_hidden_layers": "image.layers",
    "num_attention_heads": "image.heads",
    "patch_size": "image.patch",
    "intermediate_size": "",
    "num_channels": "",
    "hidden_act": "",
    "layer_norm_eps": "",
    "qkv_bias": "",
}
"""Entries of a ViT's configuration that must be equal -> the setting for it, where there is one."""

T5: Mapping[str, str] = {
    "d_model": "text.width",
    "d_kv": "text.head_width",
    "d_ff": "text.inner",
    "num_heads": "text.heads",
    "num_layers": "text.layers",
    "num_decoder_layers": "text.decoder_layers",
    "feed_forward_proj": "",
    "relative_attention_num_buckets": "",
    "relative_attention_max_distance": "",
    "layer_norm_epsilon": "",
}

POSITIONS = "embeddings.position_embeddings"
VOCABULARY = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")


def load_pretrained(model: RichFeedbackModel) -> None:
    """Load the weights that the settings name; the heads keep their random weights. All faults at once."""
    faults = []
    for load, location in (
        (_load_image_tower, model.settings.image.weights),
        (_load_text_model, model.settings.text.weights),
    ):
        try:
            if location is not None:
                load(model, location)
        except WeightsError as error:
            faults.append(str(error))
    if faults:
        raise WeightsError("\n".join(faults))


def _load_image_tower(model: RichFeedbackModel, location: str) -> None:
    settings = model.settings.image
    if settings.stem != "patch":
        raise WeightsError(
            f"{location}: a ViT maps each patch at once; image.stem is {settings.stem}, expected: patch"
        )
    folder = fetch(location, FILES)
    config = _read_config(transformers.ViTConfig, folder, "vit")
    _check_sizes(folder, config, model.module.tower.config, VIT)
    network = read_saved(
        transformers.ViTModel, folder, ignored=("pooler.", "vit.pooler.", "classifier."), add_pooling_layer=False
    )
    state = network.state_dict()
    state[POSITIONS] = _interpolate_positions(state[POSITIONS], settings)
    fit_state(model.module.tower, state, str(folder))


def _load_text_model(model: RichFeedbackModel, location: str) -> None:
    folder = fetch(location, (*FILES, TOKENIZER))
    config = _read_config(transformers.T5Config, folder, "t5")
    _check_sizes(folder, config, model.module.text.config, T5)
    size = model.tokenizer.vocabulary_size
    if config.vocab_size < size:
        raise WeightsError(f"{folder}: weights for {config.vocab_size} token ids; its tokenizer.json has {size}")
    state = read_saved(transformers.T5ForConditionalGeneration, folder).state_dict()
    state |= {name: state[name][:size] for name in VOCABULARY}
    fit_state(model.module.text, state, str(folder))


def _read_config(
    kind: type[transformers.PreTrainedConfig], folder: Path, name: str
) -> transformers.PreTrainedConfig:
    content = saved_config(folder, name)
    try:
        return kind.from_dict(content)
    except (TypeError, ValueError, KeyError) as error:
        raise WeightsError(f"{folder}: config.json cannot be understood ({first_line(error)})") from error


def _check_sizes(folder: Path, saved: Any, built: Any, names: Mapping[str, str]) -> None:  # noqa: ANN401 - any configuration
    faults = []
    for name, setting in names.items():
        theirs, ours = getattr(saved, name), getattr(built, name)
        if theirs != ours:
            advice = f"set {setting} to {theirs}" if setting else f"{ours} is expected"
            faults.append(f"\n  - {name} is {theirs}; {advice}")
    if faults:
        raise WeightsError(f"{folder}: not the network of the settings{''.join(faults)}")


def _interpolate_positions(positions: torch.Tensor, settings: ImageTower) -> torch.Tensor:
    """Position embeddings (1, 1 + grid², width) at another side; that of the class token is unchanged."""
    before = round((positions.shape[1] - 1) ** 0.5)
    if before == settings.grid:
        return positions
    grid = positions[:, 1:].reshape(1, before, before, -1).movedim(-1, 1)
    size = (settings.grid, settings.grid)
    resized = functional.interpolate(grid, size=size, mode="bicubic", align_corners=False)
    return torch.cat([positions[:, :1], resized.movedim(1, -1).flatten(1, 2)], 1)
