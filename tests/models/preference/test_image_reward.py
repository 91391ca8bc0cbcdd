"""The reward model with cross-attention: its loss by hand, ties, what is frozen, what a recipe may say."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from beholder.errors import LabelsError, RecipeError, WeightsError
from beholder.models.preference.image_reward import (
    BERT_SIZE,
    ImageReward,
    RewardNetwork,
    RewardSizes,
    build,
    configure,
    freeze,
    ranking_losses,
)
from beholder.models.trainable import Batch, Config, Trainable

TINY = {
    "image_size": 16,
    "patch_size": 8,
    **{"image_width": 16, "image_layers": 3, "image_heads": 2},
    **{"text_width": 16, "text_layers": 3, "text_heads": 2, "positions": 40, "dropout": 0.0},
}
PROMPTS = ("a red cat", "two blue dogs in the park")


def configured(**settings: object) -> Config:
    return configure(json.loads(json.dumps({"sizes": TINY, **settings})), PROMPTS, ["overall"])


def reward_model(**settings: object) -> ImageReward:
    torch.manual_seed(0)
    model = build(configured(**settings), fresh=True)
    model.module.eval()  # no dropout
    return model


@pytest.fixture
def batch() -> Batch:
    """A ranking of three images, two of them tied, and a pair."""
    rng = np.random.default_rng(0)
    return Batch(
        prompts=PROMPTS,
        pixels=torch.from_numpy(rng.normal(size=(5, 3, 16, 16)).astype(np.float32)),
        prompt_of=torch.tensor([0, 0, 0, 1, 1]),
        pairs=torch.tensor([[0, 1], [0, 2], [1, 2], [3, 4]]),
        soft_labels=torch.tensor([1.0, 1.0, 0.5, 0.25]),
        pair_weights=torch.ones(4),
        aspects=(),
        ratings=torch.zeros(5, 0),
        answers=torch.zeros(5, 0),
    )


class TestLoss:
    def test_by_hand(self) -> None:
        # −log σ(2) = .12693, −log σ(−2) = 2.12693; which is better is all that counts
        rewards = torch.tensor([[3.0, 1.0]] * 3)
        losses = ranking_losses(rewards, torch.tensor([1.0, 0.0, 0.6]))
        assert losses.tolist() == pytest.approx([0.12693, 2.12693, 0.12693], abs=1e-5)

    def test_of_a_batch_it_is_the_mean_over_pairs_that_are_no_ties(self, batch: Batch) -> None:
        model = reward_model()
        r = model.predict(batch)["overall"]
        expected = -torch.log(torch.sigmoid(torch.stack([r[0] - r[1], r[0] - r[2], r[4] - r[3]]))).mean()
        torch.testing.assert_close(model.loss(batch), expected)

    def test_weights(self, batch: Batch) -> None:
        model = reward_model()
        r = model.predict(batch)["overall"]
        first_loss, fourth_loss = -torch.log(torch.sigmoid(r[0] - r[1])), -torch.log(torch.sigmoid(r[4] - r[3]))
        weighted = replace(batch, pair_weights=torch.tensor([3.0, 0.0, 7.0, 1.0]))
        torch.testing.assert_close(model.loss(weighted), (3 * first_loss + fourth_loss) / 4)

    def test_learning_lowers_it(self, batch: Batch) -> None:
        model = reward_model()
        before = model.loss(batch).item()
        optimiser = torch.optim.AdamW(model.parameter_groups(3e-3, 0.0))
        for _ in range(10):
            optimiser.zero_grad()
            model.loss(batch).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            model.after_step()
        assert model.loss(batch).item() < 0.9 * before

    def test_ties_alone_teach_nothing(self, batch: Batch) -> None:
        with pytest.raises(LabelsError, match="not trained on ties"):
            reward_model().loss(replace(batch, soft_labels=torch.full((4,), 0.5)))


class TestScores:
    def test_mean_and_deviation(self, batch: Batch) -> None:
        plain, shifted = (
            reward_model().predict(batch)["overall"],
            reward_model(mean=0.5, deviation=2.0).predict(batch)["overall"],
        )
        torch.testing.assert_close(shifted, (plain - 0.5) / 2)

    def test_padding_changes_nothing(self, batch: Batch) -> None:
        model = reward_model()
        among = model.predict(batch)["overall"][0]
        alone = model.score(model.encode_images(batch.pixels[:1]), model.encode_prompts([PROMPTS[0]]))[0]
        torch.testing.assert_close(among, alone, atol=1e-8, rtol=1e-5)

    def test_the_prompt_counts(self, batch: Batch) -> None:
        model = reward_model()
        same = model.encode_images(batch.pixels[:1]).repeat(2, 1, 1)
        first, second = model.score(same, model.encode_prompts(PROMPTS))
        assert first != second

    def test_a_long_prompt_is_cut_to_35_tokens(self) -> None:
        assert reward_model().encode_prompts(["word " * 90]).shape == (1, 35)

    def test_saved_and_built_again_it_says_the_same(self, batch: Batch) -> None:
        model: Trainable[Batch] = reward_model()
        again = build(json.loads(json.dumps(model.config)), fresh=False)
        again.module.load_state_dict(model.module.state_dict())
        again.module.eval()
        assert torch.equal(again.predict(batch)["overall"], model.predict(batch)["overall"])


class TestFrozen:
    def test_as_published(self) -> None:
        with torch.device("meta"):
            network = RewardNetwork(RewardSizes(), BERT_SIZE)
        freeze(network)
        learning = {name for name, parameter in network.named_parameters() if parameter.requires_grad}
        text = {int(name.split(".")[3]) for name in learning if name.startswith("text.")}
        image = {int(name.split(".")[3]) for name in learning if name.startswith("image.encoder.layers")}
        assert (text, image) == (set(range(8, 12)), set(range(16, 24)))
        assert {name.partition(".")[0] for name in learning} == {"text", "image", "head"}
        assert "image.post_layernorm.weight" in learning
        assert not any("embeddings" in name for name in learning)

    def test_of_smaller_networks(self) -> None:
        model = reward_model(freeze=True, image_blocks=2)
        learning = [name for name, parameter in model.module.named_parameters() if parameter.requires_grad]
        assert {name.split(".")[3] for name in learning if name.startswith("text.")} == {"2"}
        assert {name.split(".")[3] for name in learning if ".layers." in name} == {"1", "2"}


class TestRecipe:
    def test_all_faults_at_once(self) -> None:
        with pytest.raises(RecipeError, match=r"(?s)2 faults.*sizes\.width.*deviation"):
            configured(sizes={"width": 1}, deviation=0)

    def test_a_start_must_be_there(self) -> None:
        config = configured(start="./nowhere")
        assert config["freeze"] is True
        with pytest.raises(WeightsError, match="no such file or folder"):
            build(config, fresh=True)
        with pytest.raises(RecipeError, match="leave 'words' out"):
            configured(start="x", vocabulary="words")
