"""Checkpoints: written and read back to the bit; every damage in a sentence."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from beholder.errors import WeightsError
from beholder.models.preference.two_tower import TwoTower, build, configure
from beholder.models.rich_feedback import cnn
from beholder.models.weights.checkpoint import (
    RECORD,
    WEIGHTS,
    Record,
    load_checkpoint,
    load_rich_checkpoint,
    read_record,
    save_checkpoint,
)
from beholder.tables.provenance import Plain

SIZES: dict[str, Plain] = {
    **{"image_size": 16, "patch_size": 8, "image_width": 16, "image_layers": 1, "image_heads": 2},
    **{"text_width": 16, "text_layers": 1, "text_heads": 2, "embedding": 8},
}


def small(seed: int) -> TwoTower:
    torch.manual_seed(seed)
    return build(configure({"sizes": SIZES, "context": 8}, ["a red ball"], ["preference"]), fresh=True)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model = small(1)
    record = Record("two-tower", model.config, ("preference",), {"preference": (3.0, 0.5)}, {"study": "s"})
    save_checkpoint(tmp_path, model, record)
    return tmp_path


def test_the_same_model_comes_back(saved: Path) -> None:
    model, record = load_checkpoint(saved)
    saved_state = small(1).module.state_dict()
    loaded_state = model.module.state_dict()
    assert saved_state.keys() == loaded_state.keys()
    assert all(torch.equal(saved_state[name], loaded_state[name]) for name in saved_state)
    assert record.scales == {"preference": (3.0, 0.5)}
    assert record.about == {"study": "s"}
    assert not model.module.training


def test_loading_leaves_the_random_state_as_it_was(saved: Path) -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    load_checkpoint(saved)
    assert torch.equal(torch.get_rng_state(), before)


def test_cut_short(saved: Path) -> None:
    path = saved / WEIGHTS
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(WeightsError, match="not a file of weights that can be read"):
        load_checkpoint(saved)


def test_wrong_shapes_missing_and_unknown_tensors_at_once(saved: Path) -> None:
    state = load_file(saved / WEIGHTS)
    state["logit_scale"] = torch.zeros(2)
    state["extra"] = torch.zeros(1)
    del state["text_projection.weight"]
    save_file(state, saved / WEIGHTS)
    with pytest.raises(WeightsError) as caught:
        load_checkpoint(saved)
    for message in ("logit_scale has the shape (2,)", "has extra", "lacks text_projection.weight"):
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"architecture": "three-tower"}, "architecture 'three-tower' is not known; known: two-tower"),
        ({"format": 2}, "format is 2; 1 is expected"),
        ({"colour": "red"}, "'colour' is not known"),
        ({"config": {}}, "no model can be built from its config"),
    ],
)
def test_a_record_that_does_not_fit(saved: Path, change: dict[str, object], message: str) -> None:
    path = saved / RECORD
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(WeightsError, match=message.replace("(", r"\(").replace(")", r"\)")):
        load_checkpoint(saved)


def test_a_damaged_or_missing_record(saved: Path) -> None:
    (saved / RECORD).write_text("{")
    with pytest.raises(WeightsError, match="damaged"):
        read_record(saved)
    (saved / RECORD).unlink()
    with pytest.raises(WeightsError, match=f"no {RECORD} here"):
        read_record(saved)


def test_missing_keys_are_all_named(saved: Path) -> None:
    (saved / RECORD).write_text("{}")
    with pytest.raises(WeightsError, match=r"'format' is missing; 'architecture' is missing; 'config' is missing"):
        read_record(saved)


def test_a_checkpoint_from_before_models_were_calibrated(tmp_path: Path) -> None:
    settings: dict[str, Plain] = {"side": 16, "stem": 4, "widths": [4], "depths": [1], "blocks": "basic"}
    heads: dict[str, Plain] = {"heatmap": [4], "score": [4], "dense": [4]}
    model = cnn.build(cnn.configure({**settings, "heads": heads}, (), ()), fresh=True)
    model.module.scales.scores.fill_(3.0)
    save_checkpoint(tmp_path, model, Record("rich-cnn", model.config, ("overall",)))
    state = load_file(tmp_path / WEIGHTS)
    save_file({name: state[name] for name in state if not name.startswith("scales.")}, tmp_path / WEIGHTS)
    loaded = load_rich_checkpoint(tmp_path)[0].module.state_dict()
    assert {name: loaded[name].tolist() for name in loaded if name.startswith("scales.")} == {
        "scales.scores": [[1.0, 0.0]] * 4,  # a scale of 1 and a shift of 0: the logits as they are
        "scales.heatmaps": [[1.0, 0.0]] * 2,
        "scales.words": [[1.0, 0.0]],
        "scales.smoothing": [0.0, 0.0],
    }
    assert all(torch.equal(loaded[name], state[name]) for name in state if not name.startswith("scales."))
