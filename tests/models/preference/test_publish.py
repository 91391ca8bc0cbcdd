"""Trained models in the published layouts: names and shapes, and the same scores by the published loaders."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from beholder.errors import UserError
from beholder.models.architectures import architecture
from beholder.models.preference import image_reward_state, open_clip_state
from beholder.models.preference.publish import publish_model
from beholder.models.preference.published import load_published
from beholder.models.prompt_scoring import ScoringNetwork
from beholder.models.weights.checkpoint import Record, save_checkpoint
from beholder.tables.provenance import Plain

CLIP_SIZES: dict[str, Plain] = {
    "image_size": 16,
    "image_width": 32,
    "image_layers": 2,
    "image_heads": 2,
    "text_width": 16,
}
CLIP_SIZES |= {"text_layers": 2, "text_heads": 2, "embedding": 12}
REWARD_SIZES: dict[str, Plain] = {
    "image_size": 32,
    "patch_size": 16,
    "image_width": 64,
    "image_layers": 1,
    "image_heads": 1,
}
REWARD_SIZES |= {"text_width": 24, "text_layers": 2, "text_heads": 2}
PROMPTS = ["a red cat", "two dogs on a very long walk"]


def trained(folder: Path, name: str, settings: Mapping[str, Plain]) -> Any:  # noqa: ANN401 - a Trainable that scores as well
    """A checkpoint of random weights, as if it had been trained."""
    torch.manual_seed(0)
    maker = architecture(name)
    config = maker.configure({"architecture": name, **settings}, PROMPTS, ["preference"])
    model = maker.build(config, fresh=True)
    for parameter in model.module.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    save_checkpoint(folder, model, Record(name, config, ("preference",)))
    model.module.eval()
    return model


def scores(model: ScoringNetwork) -> list[float]:
    square = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 40, 3), np.uint8))
    with torch.no_grad():
        images = model.encode_images(torch.from_numpy(np.stack([model.preprocessing.prepare(square)] * 2)))
        return list(model.score(images, model.encode_prompts(PROMPTS)).tolist())


@pytest.mark.parametrize(
    ("scorer", "name", "settings"),
    [
        ("hps-v2", "two-tower", {"sizes": CLIP_SIZES, "vocabulary": "clip", "score": "cosine"}),
        ("pickscore", "two-tower", {"sizes": CLIP_SIZES, "vocabulary": "clip", "score": "scaled"}),
        ("image-reward", "image-reward", {"sizes": REWARD_SIZES, "vocabulary": "bert"}),
    ],
)
def test_the_published_loader_gives_the_same_scores(
    tmp_path: Path, scorer: str, name: str, settings: Mapping[str, Plain]
) -> None:
    model = trained(tmp_path / "model", name, settings)
    publish_model(tmp_path / "model", tmp_path / "out")
    loaded, _ = load_published(scorer, str(tmp_path / "out"))
    expected = scores(model)
    if scorer == "image-reward":  # the published one is in units of its authors' rewards
        expected = [(score - 0.16717362830052426) / 1.0333394966054072 for score in expected]
    np.testing.assert_allclose(scores(loaded), expected, rtol=1e-4, atol=1e-5)


def test_transformers_reads_a_two_tower_model_with_temperature(tmp_path: Path) -> None:
    model = trained(tmp_path / "model", "two-tower", {"sizes": CLIP_SIZES, "vocabulary": "clip"})
    publish_model(tmp_path / "model", tmp_path / "out")
    theirs = transformers.CLIPModel.from_pretrained(tmp_path / "out")
    expected = model.module.state_dict()
    assert {name: tensor for name, tensor in theirs.state_dict().items() if "position_ids" not in name}.keys() == {
        name for name in expected if "position_ids" not in name
    }
    assert all(torch.equal(theirs.state_dict()[name], tensor) for name, tensor in expected.items())


def test_renaming_back_gives_every_tensor(tmp_path: Path) -> None:
    clip = trained(tmp_path / "clip", "two-tower", {"sizes": CLIP_SIZES, "vocabulary": "clip"})
    reward = trained(tmp_path / "reward", "image-reward", {"sizes": REWARD_SIZES, "vocabulary": "bert"})
    for model, names in ((clip, open_clip_state), (reward, image_reward_state)):
        state = model.module.state_dict()
        again = names.rename_tensors(names.published_tensors(state))
        assert again.keys() == state.keys()
        assert all(torch.equal(again[key], tensor) for key, tensor in state.items())


def test_own_vocabularies_and_other_architectures_are_refused(tmp_path: Path) -> None:
    trained(tmp_path / "words", "two-tower", {"sizes": CLIP_SIZES})
    with pytest.raises(UserError, match=r"model\.vocabulary=clip"):
        publish_model(tmp_path / "words", tmp_path / "out")
    (tmp_path / "realism").mkdir()
    content = {"format": 1, "architecture": "realism", "config": {}, "aspects": ["realism"]}
    (tmp_path / "realism" / "model.json").write_text(json.dumps(content))
    with pytest.raises(UserError, match="no published layout"):
        publish_model(tmp_path / "realism", tmp_path / "out")
    assert not (tmp_path / "out").exists()
