"""Image tokens that name words: their loss, and the evidence that the prompt gets from them."""

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
import torch
from PIL import Image
from pydantic import ValidationError

from beholder.models.rich_feedback.losses import naming_loss
from beholder.models.rich_feedback.model import RichFeedbackModel
from beholder.models.rich_feedback.settings import Heads, ImageTower, Losses, RichFeedbackSettings, TextModel
from beholder.models.rich_feedback.stems import GridStem
from beholder.models.rich_feedback.trainable import RichBatch

PIXELS = ImageTower(side=16, patch=8, stem="convolutions", width=8, layers=1, heads=2)
NAMING = RichFeedbackSettings(
    image=PIXELS,
    text=TextModel(width=8, head_width=4, heads=2, inner=16, layers=1, decoder_layers=1, dropout=0, longest=24),
    heads=Heads(heatmap=(4,), score=(4,), dense=()),
    losses=Losses(naming=2.0),
    words=("a", "cat", "dog", "red"),
)


def naming_model(settings: RichFeedbackSettings = NAMING) -> RichFeedbackModel:
    torch.manual_seed(0)
    return RichFeedbackModel(settings)


def two_images(model: RichFeedbackModel) -> RichBatch:
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 255, (20, 20, 3), np.uint8)) for _ in range(2)]
    return RichBatch(
        torch.from_numpy(np.stack([model.prepare(picture) for picture in pictures])),
        ("a red cat", "a dog a"),
        torch.full((2, 2, model.settings.map_side, model.settings.map_side), torch.nan),
        torch.full((2, 4), torch.nan),
        ((False, True, False), (True, False, False)),
    )


def test_a_word_is_shown_where_any_token_is_like_it() -> None:
    model = naming_model()
    network = model.module
    assert network.grounding is not None
    number = model.tokenizer.encode_word("cat")[0]
    with torch.no_grad():
        network.text.shared.weight[number] = torch.tensor([2.0, *[0.0] * 7])
        network.grounding.rareness[number] = 0.5
    tokens = torch.zeros(1, 2, 8)
    tokens[0, 0, 0] = 3.0
    # similarity 2 · 3 / √8 at one token and 0 at the other: log(½ (e^(6/√8) + 1)) + ½
    expected = log((exp(6 / 8**0.5) + 1) / 2) + 0.5
    alone = network.naming_logits(tokens, torch.tensor([number]))
    torch.testing.assert_close(alone, torch.tensor([[expected]]))
    torch.testing.assert_close(network.naming_logits(tokens, torch.tensor([[number, number]])), alone.expand(1, 2))


def test_the_loss_by_hand() -> None:
    logits = torch.tensor([[0.0, log(3.0)], [5.0, -log(3.0)]])
    labels = torch.tensor([[1.0, 1.0], [torch.nan, 1.0]])
    expected = (log(2) + log(4 / 3) + log(4)) / 3
    assert float(naming_loss(logits, labels)) == pytest.approx(expected)
    nobody = torch.full_like(labels, torch.nan)
    assert float(naming_loss(logits, nobody)) == 0


def test_aligned_words_are_positive_and_misaligned_ones_unlabelled() -> None:
    model = naming_model()
    batch = two_images(model)
    calls: list[tuple[torch.Tensor, torch.Tensor]] = []

    def record(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        calls.append((logits, labels))
        return naming_loss(logits, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("beholder.models.rich_feedback.model.naming_loss", record)
        loss = model.loss(replace(batch, only_naming=True))
    logits, labels = calls[0]
    words = {word: place for place, word in enumerate(("a", "cat", "dog", "red"))}  # in the order of their numbers
    expected = torch.zeros(2, 4)
    expected[0, [words["a"], words["cat"]]] = 1
    expected[0, words["red"]] = torch.nan
    expected[1, [words["a"], words["dog"]]] = 1  # "a" was missed once, and found once
    torch.testing.assert_close(labels, expected, equal_nan=True)
    torch.testing.assert_close(loss, 2 * naming_loss(logits, labels))  # the weight is 2, and nothing else counts


def test_the_other_losses_are_added() -> None:
    model = naming_model()
    batch = replace(two_images(model), scores=torch.full((2, 4), 0.5))
    both, alone = model.loss(batch), model.loss(replace(batch, only_naming=True))
    assert both.item() > alone.item()
    unknown = replace(batch, misaligned=(None, None), only_naming=True)
    assert model.loss(unknown).item() > 0  # the other image's words are not shown
    empty = replace(batch, prompts=("", ""), misaligned=(None, None), only_naming=True)
    assert model.loss(empty).item() == 0


def test_words_get_evidence_of_the_image() -> None:
    model = naming_model()
    network = model.module
    assert network.grounding is not None
    tokens = network.encode_images(two_images(model).pixels)
    token_ids = torch.tensor([[*model.tokenizer.encode_word("cat"), model.tokenizer.end]] * 2)
    grounded = network.encode(tokens, token_ids, torch.ones_like(token_ids))
    written = network.next_token_logits(grounded, token_ids)
    with torch.no_grad():
        for weight in network.grounding.parameters():
            weight.zero_()
    ungrounded = network.encode(tokens, token_ids, torch.ones_like(token_ids))
    assert not torch.allclose(grounded.states, ungrounded.states)
    assert not torch.allclose(
        written, network.next_token_logits(grounded, token_ids)
    )  # the decoder gets evidence too
    plain = naming_model(NAMING.model_copy(update={"losses": Losses()}))
    assert plain.module.grounding is None
    with pytest.raises(TypeError, match="not built to name"):
        plain.module.naming_logits(tokens, token_ids)


def test_evidence_has_position_and_content() -> None:
    model = naming_model()
    network = model.module
    number = model.tokenizer.encode_word("cat")[0]
    with torch.no_grad():
        network.text.shared.weight[number] = torch.tensor([2.0, *[0.0] * 7])
    assert network.grounding is not None
    inputs: list[torch.Tensor] = []
    for layer in (network.grounding.evidence, network.grounding.glimpse):
        layer.register_forward_pre_hook(lambda _, arguments: inputs.append(arguments[0]))
    tokens = torch.zeros(2, 4, 8)  # of two by two places
    tokens[0, 1, 0] = 99.0  # above, right
    tokens[1, 2, 0] = tokens[1, 3, 0] = 99.0  # below, left and right
    network.encode(tokens, torch.tensor([[number]] * 2), torch.ones(2, 1))
    places, glimpses = inputs[0][:, 0, -4:], inputs[1][:, 0]
    # a quarter of the side from the middle; the extent is the variance
    torch.testing.assert_close(places, torch.tensor([[0.5, -0.5, 0, 0], [0, 0.5, 0.25, 0]]))
    torch.testing.assert_close(glimpses, torch.tensor([[99.0, *[0.0] * 7]] * 2))


def test_evidence_has_the_offset_of_the_words_before_and_after() -> None:
    model = naming_model()
    grounding, shared = model.module.grounding, model.module.text.shared
    assert grounding is not None
    cat, red, dog = (model.tokenizer.encode_word(word)[0] for word in ("cat", "red", "dog"))
    with torch.no_grad():
        shared.weight[cat], shared.weight[dog] = (
            torch.tensor([2.0, *[0.0] * 7]),
            torch.tensor([0, 2.0, *[0.0] * 6]),
        )
        grounding.direction.weight.zero_()
        grounding.direction.bias.copy_(torch.tensor([1.0, 0.0]))  # every word asks what is further to the right
        grounding.weight.weight.zero_()
    offsets: list[torch.Tensor] = []
    grounding.relation.register_forward_pre_hook(lambda _, arguments: offsets.append(arguments[0][..., 0].atanh()))
    tokens = torch.zeros(1, 4, 8)  # of two by two places
    tokens[0, 0, 0] = tokens[0, 1, 1] = 99.0  # the cat on the left, the dog on the right
    for prompt, expected in (((cat, red, dog), -1.0), ((dog, red, cat), 1.0)):
        numbers = torch.tensor([[*prompt, 0]])
        grounding.word_evidence(tokens, shared(numbers), numbers, torch.tensor([[1, 1, 1, 0]]))
        torch.testing.assert_close(offsets[-1][0, 1], torch.tensor(expected))  # from −½ to ½
    grounding.word_evidence(tokens, shared(numbers), numbers)
    assert len(offsets) == 2  # what is written has nothing after it yet


class TestFrozenEncoder:
    GRID = ImageTower(encoder="efficientnet-lite0-grid", side=192, patch=16, width=8, layers=1, heads=2)

    def test_images_are_seen_through_it(self) -> None:
        model = naming_model(NAMING.model_copy(update={"image": self.GRID}))
        batch = two_images(model)
        assert batch.pixels.shape == (2, model.encoders[0].dims)
        assert model.module.encode_images(batch.pixels).shape == (2, 144, 8)
        before = [parameter.clone() for parameter in model.module.parameters()]
        model.loss(replace(batch, scores=torch.full((2, 4), 0.5))).backward()  # type: ignore[no-untyped-call]
        moved = [
            float(parameter.grad.abs().sum()) > 0
            for parameter in model.module.parameters()
            if parameter.grad is not None
        ]
        assert sum(moved) > len(before) / 2
        feedback = model.feedback(batch.pixels, batch.prompts)
        assert feedback.heatmaps["misalignment"].shape == (2, 24, 24)

    def test_channels_are_left_out_only_while_it_learns(self) -> None:
        stem = GridStem(6, 4, 2, dropout=0.5)
        places = torch.rand(3, 6, 4, 4)
        stem_inputs: list[torch.Tensor] = []
        stem.before.register_forward_pre_hook(lambda _, arguments: stem_inputs.append(arguments[0]))
        torch.manual_seed(0)
        stem(places)
        stem.eval()(places)
        left_out = (stem_inputs[0] == 0).flatten(2).all(2)
        assert 0 < left_out.sum() < 18
        assert torch.equal(stem_inputs[0], torch.where(left_out[..., None, None], 0, 2 * places))
        assert torch.equal(stem_inputs[1], places)

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"encoder": "clip"}, "gives no grid; those that do: efficientnet-lite0-grid"),
            ({"side": 224}, "side must be 192 and patch 16 or 32"),
            ({"weights": "vit"}, "takes pixels"),
            ({"encoder": None, "dropout": 0.2}, r"dropout \(0.2\) is of the channels of a frozen encoder"),
        ],
    )
    def test_settings_that_do_not_fit(self, change: dict[str, object], says: str) -> None:
        with pytest.raises(ValidationError, match=says):
            ImageTower.model_validate({**self.GRID.model_dump(), **change})
