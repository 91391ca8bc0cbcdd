from collections.abc import Callable

import numpy as np
import pytest
import torch
from PIL import Image
from pydantic import ValidationError

from beholder.models.rich_feedback.heads import as_map
from beholder.models.rich_feedback.losses import heatmap_loss, score_loss, writing_loss
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.network import Encoded
from beholder.models.rich_feedback.settings import (
    Heads,
    ImageTower,
    Losses,
    RichFeedbackSettings,
    TextModel,
    Variant,
)
from beholder.models.rich_feedback.trainable import RichBatch, RichCalibratable

TINY = RichFeedbackSettings(
    image=ImageTower(side=32, patch=8, stem="convolutions", width=16, layers=1, heads=2),
    text=TextModel(width=16, head_width=8, heads=2, inner=32, layers=1, decoder_layers=1, dropout=0, longest=24),
    heads=Heads(heatmap=(8, 8), score=(8, 4), dense=(8,)),
    words=("a", "cat", "heatmap", "keywords", "plausibility", "red", "score"),
)
PROMPTS = ("a red cat", "", "a " * 40, "😀 ネコ red")


def model(variant: Variant = "multi-head", seed: int = 0) -> RichFeedbackModel:
    torch.manual_seed(seed)
    return RichFeedbackModel(TINY.model_copy(update={"variant": variant}))


def batch(images: int = 4, seed: int = 1) -> RichBatch:
    rng = torch.Generator().manual_seed(seed)
    heatmaps = torch.rand(images, 2, 16, 16, generator=rng)
    heatmaps[0, 1] = torch.nan
    scores = torch.rand(images, 4, generator=rng)
    scores[1, 2] = torch.nan
    return RichBatch(
        torch.randn(images, 3, 32, 32, generator=rng),
        PROMPTS[:images],
        heatmaps,
        scores,
        ((False, True, False), (), None, (True, False, False))[:images],
    )


class Calls:
    """How many rows a function is called with, each time."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def of(self, function: Callable[..., object]) -> Callable[..., object]:
        def called(rows: torch.Tensor, *more: torch.Tensor) -> object:
            self.sizes.append(len(rows))
            return function(rows, *more)

        return called


@pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
def test_every_output_for_every_prompt(variant: Variant) -> None:
    feedback = model(variant).feedback(batch().pixels, PROMPTS)
    assert {name: maps.shape for name, maps in feedback.heatmaps.items()} == {
        "implausibility": (4, 16, 16),
        "misalignment": (4, 16, 16),
    }
    assert list(feedback.scores) == ["plausibility", "alignment", "aesthetics", "overall"]
    everything = [*feedback.heatmaps.values(), *feedback.scores.values()]
    assert all(((output > 0) & (output < 1)).all() for output in everything)
    assert [len(words) for words in feedback.misaligned] == [3, 0, 40, 3]
    assert np.isnan(feedback.misaligned[2]).sum() == 40 - 23  # 24 numbers are read, and the last one is the end
    assert not np.isnan(feedback.misaligned[3]).any()


@pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
def test_other_images_in_the_batch_change_nothing(variant: Variant) -> None:
    network = model(variant)
    together = network.feedback(batch().pixels, PROMPTS)
    alone = network.feedback(batch().pixels[:1], PROMPTS[:1])
    for name, maps in together.heatmaps.items():
        np.testing.assert_allclose(maps[:1], alone.heatmaps[name], atol=1e-5)
    for name, scores in together.scores.items():
        np.testing.assert_allclose(scores[:1], alone.scores[name], atol=1e-5)
    np.testing.assert_allclose(together.misaligned[0], alone.misaligned[0], atol=1e-5)


@pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
def test_the_image_tower_looks_once(variant: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    network, looks = model(variant), Calls()
    monkeypatch.setattr(network.module, "encode_images", looks.of(network.module.encode_images))
    network.feedback(batch().pixels, PROMPTS)
    assert looks.sizes == [4]


@pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
def test_it_learns_a_batch_by_heart(variant: Variant) -> None:
    network, labelled = model(variant), batch()
    optimiser = torch.optim.AdamW(network.parameter_groups(3e-3, 0.0))
    first = network.loss(labelled).item()
    for _ in range(40):
        optimiser.zero_grad()
        network.loss(labelled).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert network.loss(labelled).item() < 0.6 * first
    misaligned = network.feedback(labelled.pixels, PROMPTS).misaligned
    assert (misaligned[0] > 0.5).tolist() == [False, True, False]
    assert all(parameter.grad is not None for parameter in network.module.parameters())


def test_heads_of_the_variants() -> None:
    assert set(model("multi-head").module.heatmaps) == {"implausibility", "misalignment"}
    assert len(model("multi-head").module.scores) == 4
    shared = model("augmented-prompt")
    assert (len(shared.module.heatmaps), len(shared.module.scores)) == (1, 1)
    feedback = shared.feedback(batch().pixels, PROMPTS)
    assert not np.allclose(feedback.scores["plausibility"], feedback.scores["alignment"])  # the task string tells


def test_tasks_drawn_for_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    few = RichFeedbackModel(TINY.model_copy(update={"variant": "augmented-prompt", "tasks_per_image": 2}))
    encoded = Calls()
    monkeypatch.setattr(few.module, "encode", encoded.of(few.module.encode))
    few.module.train()
    few.loss(batch())
    assert sum(encoded.sizes) == 4 * 2
    few.module.eval()
    few.loss(batch())
    assert sum(encoded.sizes) == 4 * 2 + 4 * 7


def test_the_prompt_matters() -> None:
    network, pixels = model(), batch().pixels[:1]
    red, cat = network.feedback(pixels, ["red"]), network.feedback(pixels, ["cat"])
    assert not np.allclose(red.scores["alignment"], cat.scores["alignment"])
    assert not np.allclose(red.heatmaps["misalignment"], cat.heatmaps["misalignment"])


@pytest.mark.parametrize("size", [(1, 1), (3, 4000), (40, 30)])
def test_images_of_any_size(size: tuple[int, int]) -> None:
    assert model().prepare(Image.new("RGB", size, "red")).shape == (3, 32, 32)


def test_the_base_configuration_has_the_published_sizes() -> None:
    base = RichFeedbackSettings(words=TINY.words)
    with torch.device("meta"):
        large = RichFeedbackModel(base)
        vit = sum(parameter.numel() for parameter in large.module.tower.parameters())
        assert vit == 85_798_656  # ViT-B/16 without its pooler and classes
        assert base.map_side == 224
        pixels = torch.zeros(1, 3, 224, 224)
        tokens = large.module.encode_images(pixels)
        encoded = Encoded(tokens, torch.ones(tokens.shape[:2]), tokens)
        assert large.module.heatmap(encoded, "implausibility").shape == (1, 224, 224)
        assert large.module.score(encoded, "overall").shape == (1,)
        without = sum(parameter.numel() for parameter in large.module.text.shared.parameters())
        t5 = sum(parameter.numel() for parameter in large.module.text.parameters())
        assert t5 - without == 222_903_552 - 32_128 * 768  # T5-base without its vocabulary


def test_losses_by_hand() -> None:
    truth = torch.tensor([[[1.0, 0.0]], [[torch.nan, 0.0]]])
    logits = torch.zeros(2, 1, 2)  # ½ everywhere; the second map has no labels
    weights = torch.tensor([1.1, 0.1]) / 1.2
    assert float(heatmap_loss(logits, truth, 0.1)) == pytest.approx(float((weights * 0.25).sum()))
    empty = torch.zeros(1, 1, 2)
    assert float(heatmap_loss(logits[:1], empty, 0.1)) == pytest.approx(0.25)
    scores = torch.tensor([1.0, torch.nan])
    assert float(score_loss(torch.zeros(2), scores)) == pytest.approx(0.25)
    assert float(score_loss(torch.zeros(2), scores[1:].repeat(2))) == 0
    target_ids = torch.tensor([[1, -100]])
    assert float(writing_loss(torch.zeros(1, 2, 4), target_ids)) == pytest.approx(np.log(4))


def test_a_map_keeps_the_order_of_tokens() -> None:
    tokens = torch.arange(4.0)[None, :, None]
    assert as_map(tokens, 2).tolist() == [[[[0, 1], [2, 3]]]]


def test_config_builds_the_same_model() -> None:
    original = model("augmented-prompt")
    again = RichFeedbackModel(RichFeedbackSettings.model_validate(original.config))
    again.module.load_state_dict(original.module.state_dict())
    before, after = (either.feedback(batch().pixels, PROMPTS) for either in (original, again))
    assert all((before.scores[name] == after.scores[name]).all() for name in before.scores)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"image": {"side": 30, "patch": 8}}, "multiple of patch"),
        ({"image": {"side": 36, "patch": 12}}, "power of 2"),
        ({"image": {"width": 10, "heads": 3}}, "multiple of heads"),
        ({"image": {"patch": 4}}, "filled after 2"),
        ({"heatmaps": (), "scores": (), "keywords": False}, "nothing is to be predicted"),
        ({"colour": 3}, "not permitted"),
    ],
)
def test_settings_that_do_not_fit(settings: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        RichFeedbackSettings.model_validate(settings)
    assert Losses().floor == pytest.approx(1 / 255)


def test_heads_are_computed_only_for_labelled_images() -> None:
    network = model()
    labelled = batch()  # the first image has no misalignment map
    labelled.scores[:, 3] = torch.nan
    batch_sizes: list[int] = []
    for head in (network.module.heatmaps["misalignment"], network.module.scores["overall"]):
        head.register_forward_pre_hook(lambda _, states: batch_sizes.append(len(states[0])))
    assert torch.isfinite(network.loss(labelled))
    assert batch_sizes == [3, 4]  # overall has no labels: then the head runs all the same, and counts 0


def test_only_the_choices_of_marks_can_count() -> None:
    """By hand: the loss is the mean over words of −log σ(± the mark's lead over what follows without it)."""
    changes = {"losses": Losses(writing="choices"), "heatmaps": (), "scores": ()}
    network = RichFeedbackModel(TINY.model_copy(update=changes))
    nothing = (torch.zeros(1, 0, 16, 16), torch.zeros(1, 0))
    labelled = RichBatch(batch().pixels[:1], ("a red cat",), *nothing, ((False, True, False),))
    with torch.no_grad():
        loss = float(network.loss(labelled))
        tokens = network.module.encode_images(labelled.pixels)
        token_ids = torch.tensor(
            [[network.tokenizer.encode_word(word)[0] for word in ("a", "red", "cat")] + [network.tokenizer.end]]
        )
        encoded = network.module.encode(tokens, token_ids, torch.ones_like(token_ids))
        a, red, cat, mark = *token_ids[0, :3].tolist(), network.tokenizer.mark[0]
        logits = network.module.next_token_logits(encoded, torch.tensor([[0, a, red, mark, cat]]))[0]
    leads = [logits[1, mark] - logits[1, red], logits[2, mark] - logits[2, cat], logits[4, mark] - logits[4, 1]]
    signed = np.array([float(lead) for lead in leads]) * (1, -1, 1)
    expected = np.log1p(np.exp(signed)).mean()
    assert loss == pytest.approx(expected, rel=1e-5)


def test_prompts_without_words_have_no_choices() -> None:
    network = RichFeedbackModel(TINY.model_copy(update={"losses": Losses(writing="choices")}))
    unlabelled = RichBatch(torch.zeros(1, 3, 32, 32), ("",), torch.zeros(1, 2, 16, 16), torch.zeros(1, 4), ((),))
    assert torch.isfinite(network.loss(unlabelled))


@pytest.mark.parametrize("variant", ["multi-head", "augmented-prompt"])
def test_calibration_fits_every_output(variant: Variant) -> None:
    """Scores and words are judged worse than predicted: calibrated predictions are where labels are."""
    rich_model = model(variant)
    assert isinstance(rich_model, RichCalibratable)
    images = batch(2).pixels.repeat(30, 1, 1, 1)
    prompts = PROMPTS[0], PROMPTS[3]
    before = rich_model.feedback(images[:2], prompts)
    flags = ((False, True, False), (False, False, True)) * 30
    labelled = RichBatch(images, prompts * 30, torch.full((60, 2, 16, 16), 0.02), torch.full((60, 4), 0.1), flags)
    rich_model.calibrate([labelled])
    after = rich_model.feedback(images[:2], prompts)
    for aspect, scores in after.scores.items():
        np.testing.assert_allclose(scores, 0.1, atol=0.05)
        assert (np.diff(scores) > 0) == (np.diff(before.scores[aspect]) > 0)  # the order stays
    for maps in after.heatmaps.values():
        np.testing.assert_allclose(maps.mean(), 0.02, atol=0.02)
    # one word in three is misaligned
    assert np.mean(np.concatenate(after.misaligned)) == pytest.approx(1 / 3, abs=0.1)


def test_what_is_trained_is_not_calibrated() -> None:
    rich_model, labelled = model(), batch()
    loss = rich_model.loss(labelled)
    rich_model.module.scales.scores[:, 1] += 3
    rich_model.module.scales.heatmaps[:, 1] += 3
    torch.testing.assert_close(rich_model.loss(labelled), loss)
