"""The published preference models: HPS v2 and v2.1, PickScore, ImageReward; from the hub, a folder or a file.

Only the named files are fetched, and none where a folder or file is given.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from beholder.models.encoders.preprocessing import CLIP_MEAN, CLIP_STD, Preprocessing
from beholder.models.preference import image_reward_state, open_clip_state
from beholder.models.preference.clip import Clip
from beholder.models.preference.clip_config import plain_config
from beholder.models.preference.clip_folder import TOKENS, fetch_clip, load_tokens, read_clip
from beholder.models.preference.image_reward import RewardSizes, build, published_config
from beholder.models.preference.two_tower import TwoTower, clip_preprocessing
from beholder.models.prompt_scoring import ScoringNetwork
from beholder.models.text.prompt_tokens import clip_tokens
from beholder.models.text.vocabulary import CLIP_MERGES
from beholder.models.trainable import Config
from beholder.models.weights.files import fit_state, hash_files, read_state
from beholder.models.weights.location import find_weights
from beholder.models.weights.saved_config import WEIGHTS

BESIDE_HPS = (open_clip_state.CONFIG_FILE, CLIP_MERGES.file)


@dataclass(frozen=True, slots=True)
class Published:
    """A published model: its hub name, the files that are fetched, and how it is loaded from them."""

    hub: str
    files: tuple[str, ...]
    """The weights, then files that may accompany them."""
    load: Callable[[Path, Path], ScoringNetwork]
    """From the folder and the file of weights."""


def load_published(name: str, place: str | None) -> tuple[ScoringNetwork, str]:
    """The model of that name, and the hash of its weights; ``place`` is a folder, a file or a name on the hub."""
    model = PUBLISHED[name]
    folder, weights = find_weights(place or model.hub, model.files)
    network = model.load(folder, weights)
    network.module.eval().requires_grad_(requires_grad=False)
    return network, hash_files([weights])


def _hps(folder: Path, weights: Path) -> ScoringNetwork:
    """HPS v2: a CLIP in the form of open_clip. Images are padded to a black square; scores are cosines."""
    config = open_clip_state.read_sizes(folder)
    with torch.device("meta"):
        clip = Clip(config)
    fit_state(clip, open_clip_state.rename_tensors(read_state(weights)), str(weights), assign=True)
    side = config.vision_config.image_size
    framed = Preprocessing("longest", side, "bicubic", mean=CLIP_MEAN, std=CLIP_STD)
    tokens = clip_tokens(folder, config.text_config.max_position_embeddings)
    return TwoTower(
        clip, tokens, framed, {"score": "cosine", "aspect": "preference", "clip": plain_config(config)}
    )


def _pick_score(folder: Path, weights: Path) -> ScoringNetwork:  # noqa: ARG001 - the folder says which files hold the weights
    """PickScore: a CLIP in the form of transformers. Scores are cosines times the temperature."""
    clip_folder = fetch_clip(str(folder))
    clip = read_clip(clip_folder)
    config: Config = {"score": "scaled", "aspect": "preference", "clip": plain_config(clip_folder.config)}
    return TwoTower(clip, load_tokens(clip_folder), clip_preprocessing(clip), config)


def _image_reward(folder: Path, weights: Path) -> ScoringNetwork:
    """ImageReward: BLIP in its authors' form. Scores are in standard deviations of the published rewards."""
    state = image_reward_state.rename_tensors(read_state(weights))
    sizes = RewardSizes.model_validate(image_reward_state.sizes_of(state) | image_reward_state.read_sizes(folder))
    config = {**published_config(), "sizes": sizes.model_dump(mode="json")}
    with torch.device("meta"):
        model = build(config, fresh=False, folder=folder)
    fit_state(model.module, state, str(weights), assign=True)
    number_positions(model.module)
    return model


def number_positions(network: nn.Module) -> None:
    """Fill the position buffers 0, 1, 2 …, which no file holds, of a network built on the meta device."""
    for name, buffer in list(network.named_buffers()):
        if buffer.is_meta:
            parent, _, attribute = name.rpartition(".")
            if attribute != "position_ids":
                raise RuntimeError(f"{name} is not filled by any file")
            setattr(network.get_submodule(parent), attribute, torch.arange(buffer.shape[-1]).expand((1, -1)))


PUBLISHED: dict[str, Published] = {
    "hps-v2": Published("xswu/HPSv2", ("HPS_v2_compressed.pt", *BESIDE_HPS), _hps),
    "hps-v2.1": Published("xswu/HPSv2", ("HPS_v2.1_compressed.pt", *BESIDE_HPS), _hps),
    "pickscore": Published(
        "yuvalkirstain/PickScore_v1", ("model.safetensors", "config.json", *WEIGHTS, *TOKENS), _pick_score
    ),
    "image-reward": Published(image_reward_state.HUB, image_reward_state.FILES, _image_reward),
}
"""Name of a scorer -> its publication."""
