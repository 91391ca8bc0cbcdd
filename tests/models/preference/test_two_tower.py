"""The two-tower model: its loss by hand and by torch's own, what is frozen, what a recipe may say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torch.nn import functional

from beholder.errors import LabelsError, RecipeError, WeightsError
from beholder.models.preference.clip import Clip
from beholder.models.preference.open_clip_state import VIT_H_14, clip_config
from beholder.models.preference.two_tower import LARGEST_SCALE, TwoTower, build, configure, freeze, pair_losses
from beholder.models.trainable import Batch, Config, Trainable

TINY = {
    "image_size": 16,
    "patch_size": 8,
    **{"image_width": 16, "image_layers": 2, "image_heads": 2},
    **{"text_width": 16, "text_layers": 2, "text_heads": 2, "embedding": 8},
}
PROMPTS = ("a red cat", "two blue dogs")


def two_tower(**settings: object) -> TwoTower:
    torch.manual_seed(0)
    return build(configured(**settings), fresh=True)


def configured(**settings: object) -> Config:
    plain = json.loads(json.dumps({"sizes": TINY, **settings}))
    return configure(plain, PROMPTS, ["overall"])


def clip_of(model: TwoTower) -> Clip:
    assert isinstance(model.module, Clip)
    return model.module


def in_transformers(clip: Clip) -> Any:  # noqa: ANN401 - transformers has no types
    peer = transformers.CLIPModel(transformers.CLIPConfig(**clip.config.model_dump()))
    peer.load_state_dict(clip.state_dict())
    return peer


@pytest.fixture
def batch() -> Batch:
    rng = np.random.default_rng(0)
    return Batch(
        prompts=PROMPTS,
        pixels=torch.from_numpy(rng.normal(size=(4, 3, 16, 16)).astype(np.float32)),
        prompt_of=torch.tensor([0, 0, 1, 1]),
        pairs=torch.tensor([[0, 1], [3, 2]]),
        soft_labels=torch.tensor([1.0, 0.5]),
        pair_weights=torch.tensor([1.0, 1.0]),
        aspects=(),
        ratings=torch.zeros(4, 0),
        answers=torch.zeros(4, 0),
    )


class TestLoss:
    def test_by_hand(self) -> None:
        # difference 1: −log σ(1) = log(1 + e⁻¹) = .3133; the other way log(1 + e) = 1.3133; a tie is their mean
        logits = torch.tensor([[1.0, 0.0]] * 4)
        losses = pair_losses(logits, torch.tensor([1.0, 0.0, 0.5, 0.75]))
        assert losses.tolist() == pytest.approx([0.31326, 1.31326, 0.81326, 0.56326], abs=1e-5)

    @given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50), st.floats(0, 1)), min_size=1, max_size=6))
    def test_it_is_a_softmax_over_two(self, rows: list[tuple[float, float, float]]) -> None:
        table = torch.tensor(rows, dtype=torch.float64)
        logits, shares = table[:, :2], table[:, 2]
        expected = functional.cross_entropy(logits, torch.stack([shares, 1 - shares], dim=1), reduction="none")
        torch.testing.assert_close(pair_losses(logits, shares), expected, rtol=1e-9, atol=1e-9)

    def test_of_a_batch_it_is_that_of_clips_own_logits(self, batch: Batch) -> None:
        model = two_tower()
        clip = in_transformers(clip_of(model))
        tokens = model._tokens(batch.prompts)
        logits = clip(input_ids=tokens, pixel_values=batch.pixels).logits_per_text  # (prompts, images)
        first = functional.cross_entropy(logits[0, [0, 1]][None], torch.tensor([0]))
        tie = functional.cross_entropy(logits[1, [3, 2]][None], torch.tensor([[0.5, 0.5]]))
        torch.testing.assert_close(model.loss(batch), first + tie)
        weighted = replace(batch, pair_weights=torch.tensor([0.25, 2.0]))
        torch.testing.assert_close(model.loss(weighted), 0.25 * first + 2 * tie)
        torch.testing.assert_close(two_tower(reduction="mean").loss(weighted), (0.25 * first + 2 * tie) / 2.25)

    def test_a_pair_turned_round_is_the_same_pair(self, batch: Batch) -> None:
        turned = replace(batch, pairs=batch.pairs.flip(1), soft_labels=1 - batch.soft_labels)
        model = two_tower()
        torch.testing.assert_close(model.loss(turned), model.loss(batch))

    def test_learning_lowers_it(self, batch: Batch) -> None:
        model = two_tower()
        optimiser = torch.optim.AdamW(model.parameter_groups(1e-2, 0.1))
        before = model.loss(batch).item()
        for _ in range(8):
            optimiser.zero_grad()
            model.loss(batch).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            model.after_step()
        assert model.loss(batch).item() < before
        scores = model.predict(batch)["overall"]
        assert scores[0] > scores[1]

    def test_without_comparisons_there_is_nothing_to_learn(self, batch: Batch) -> None:
        none = replace(batch, pairs=torch.zeros(0, 2, dtype=torch.int64), soft_labels=torch.zeros(0))
        with pytest.raises(LabelsError, match="learns from comparisons"):
            two_tower().loss(none)


class TestScores:
    def test_a_cosine_or_times_the_temperature(self, batch: Batch) -> None:
        scaled, cosine = two_tower().predict(batch)["overall"], two_tower(score="cosine").predict(batch)["overall"]
        assert cosine.abs().max() <= 1
        torch.testing.assert_close(scaled, cosine * clip_of(two_tower()).logit_scale.exp().item())

    def test_the_temperature_stays_within_bounds(self) -> None:
        model = two_tower()
        for value, clamped in ((7.0, LARGEST_SCALE), (-1.0, 0.0), (2.0, 2.0)):
            clip_of(model).logit_scale.data.fill_(value)
            model.after_step()
            assert clip_of(model).logit_scale.item() == pytest.approx(clamped)

    def test_saved_and_built_again_it_says_the_same(self, batch: Batch) -> None:
        model = two_tower()
        torch.manual_seed(99)
        again = build(json.loads(json.dumps(model.config)), fresh=False)
        again.module.load_state_dict(model.module.state_dict())
        assert torch.equal(again.predict(batch)["overall"], model.predict(batch)["overall"])

    def test_a_prompt_is_read_the_same_among_longer_ones(self) -> None:
        model = two_tower()
        alone, among = (
            model.encode_prompts(["a red cat"]),
            model.encode_prompts(["a red cat", "two blue dogs and a red cat"]),
        )
        torch.testing.assert_close(alone[0], among[0])

    def test_it_is_trainable(self) -> None:
        model: Trainable[Batch] = two_tower()
        assert model.config["architecture"] == "two-tower"


class TestFrozen:
    def test_as_hps_v2_on_its_own_network(self) -> None:
        with torch.device("meta"):
            clip = Clip(clip_config(VIT_H_14))
        freeze(clip)
        learning = {name for name, parameter in clip.named_parameters() if parameter.requires_grad}
        text = {int(name.split(".")[3]) for name in learning if name.startswith("text_model.encoder.layers")}
        image = {int(name.split(".")[3]) for name in learning if name.startswith("vision_model.encoder.layers")}
        assert (text, image) == (set(range(13, 24)), set(range(13, 32)))
        others = {name for name in learning if ".layers." not in name}
        assert others == {
            *("text_model.final_layer_norm.weight", "text_model.final_layer_norm.bias"),
            *("vision_model.post_layernorm.weight", "vision_model.post_layernorm.bias"),
            *("text_projection.weight", "visual_projection.weight", "logit_scale"),
        }

    @pytest.mark.parametrize(
        ("chosen", "text", "image"), [({}, 1, 2), ({"text_blocks": 0, "image_blocks": 1}, 0, 1)]
    )
    def test_of_smaller_networks(self, chosen: dict[str, int], text: int, image: int) -> None:
        # 11/24 of 2 blocks is .92, 19/32 of 2 is 1.2: rounded up
        model = two_tower(freeze=True, **chosen)
        learning = [name for name, parameter in model.module.named_parameters() if parameter.requires_grad]
        blocks = {tuple(name.split(".")[:4]) for name in learning if ".layers." in name}
        assert sorted(name[0] for name in blocks) == ["text_model"] * text + ["vision_model"] * image

    def test_from_random_weights_everything_learns(self) -> None:
        assert all(parameter.requires_grad for parameter in two_tower().module.parameters())


class TestPrepared:
    def test_in_training_a_random_part_otherwise_the_middle(self) -> None:
        image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 30, 3), dtype=np.uint8))
        model = two_tower()
        still = model.prepare(image, None)
        assert still.shape == (3, 16, 16)
        assert np.array_equal(still, model.preprocessing.prepare(image))
        first, second, again = (model.prepare(image, np.random.default_rng(seed)) for seed in (1, 2, 1))
        assert np.array_equal(first, again)
        assert not np.array_equal(first, second)


class TestRecipe:
    def test_all_faults_at_once(self) -> None:
        with pytest.raises(RecipeError) as caught:
            configured(sizes={"image_width": 15, "image_heads": 2, "side": 3}, score="euclid", contextt=3)
        assert "image_width" in str(caught.value) or "side" in str(caught.value)
        for part in ("sizes.side: this key is not known", "score", "contextt", "did you mean 'context'?"):
            assert part in str(caught.value)

    def test_sizes_must_divide(self) -> None:
        with pytest.raises(RecipeError, match=r"image_size \(17\) must be a multiple of patch_size \(8\); text_w"):
            configured(sizes={**TINY, "image_size": 17, "text_width": 17})

    def test_clips_vocabulary_from_random_weights(self) -> None:
        model = two_tower(vocabulary="clip")
        assert clip_of(model).config.text_config.vocab_size == 49408
        assert model.encode_prompts(["a red cat"]).shape == (1, 8)

    def test_a_start_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(WeightsError, match=r"holds no config\.json"):
            configured(start=str(tmp_path))
        with pytest.raises(WeightsError, match="could not be fetched"):
            configured(start="nobody/nothing")

    def test_from_a_clip_on_disk(self, tmp_path: Path, batch: Batch) -> None:
        first = two_tower(vocabulary="clip")
        in_transformers(clip_of(first)).save_pretrained(tmp_path)
        second = build(configured(start=str(tmp_path)), fresh=True)
        torch.testing.assert_close(second.predict(batch), first.predict(batch))
        assert not all(parameter.requires_grad for parameter in second.module.parameters())
        with pytest.raises(RecipeError, match="leave 'words' out"):
            configured(start=str(tmp_path), vocabulary="words")
