import numpy as np
import pytest
import torch
from torch.nn import functional

from beholder.errors import RecipeError
from beholder.models.rich_feedback.similarity import (
    RichSimilarity,
    build,
    configure,
    contrastive_loss,
    gradient_map,
)
from beholder.models.rich_feedback.trainable import RichBatch, RichTrainable
from beholder.tables.provenance import Plain

SIZES: dict[str, Plain] = {
    **{"image_size": 16, "patch_size": 8, "image_width": 16, "image_layers": 1, "image_heads": 2},
    **{"text_width": 16, "text_layers": 1, "text_heads": 2, "embedding": 8},
}
PROMPTS = ("a cat", "a dog", "two birds", "a cat")


def tiny(learns: str) -> RichSimilarity:
    torch.manual_seed(0)
    settings: dict[str, Plain] = {"learns": learns, "towers": {"sizes": SIZES}, "map_side": 8}
    return build(configure(settings, PROMPTS, ()), fresh=True)


def batch() -> RichBatch:
    rng = torch.Generator().manual_seed(1)
    scores = torch.rand(4, 4, generator=rng)
    scores[0] = torch.nan
    pixels = torch.randn(4, 3, 16, 16, generator=rng)
    return RichBatch(pixels, PROMPTS, torch.zeros(4, 1, 8, 8), scores, (None,) * 4)


def train(model: RichSimilarity, steps: int = 60) -> list[float]:
    optimiser = torch.optim.Adam(model.module.parameters(), 3e-3)
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = model.loss(batch())
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        model.after_step()
        losses.append(float(loss.detach()))
    return losses


@pytest.mark.parametrize("learns", ["prompts", "scores"])
def test_it_learns_from_a_batch(learns: str) -> None:
    losses = train(tiny(learns))
    assert losses[-1] < 0.8 * losses[0]


def test_off_the_shelf_all_aspects_have_the_similarity() -> None:
    model: RichTrainable = tiny("prompts")
    feedback = model.feedback(batch().pixels, PROMPTS)
    assert isinstance(model, RichSimilarity)
    with torch.no_grad():
        similarity = (model.towers.encode_images(batch().pixels) * model.towers.encode_prompts(PROMPTS)).sum(1)
    for aspect in model.settings.scores:
        np.testing.assert_allclose(feedback.scores[aspect], (similarity.numpy() + 1) / 2, rtol=1e-5)
    assert feedback.misaligned == ()


def test_scores_are_those_of_the_feedback() -> None:
    model = tiny("scores")
    feedback = model.feedback(batch().pixels, PROMPTS)
    with torch.no_grad():
        scores = model.predict(batch())
    for aspect in model.settings.scores:
        np.testing.assert_allclose(scores[aspect].numpy(), feedback.scores[aspect], rtol=1e-5)


def test_images_of_one_prompt_share_the_right_answer() -> None:
    """By hand: unit vectors along two axes; rows 0 and 2 have the same prompt."""
    vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    loss = contrastive_loss(vectors, vectors, ("x", "y", "x"), torch.tensor(1.0))
    e = np.e
    twice = -np.log(e / (2 * e + 1))
    once = -np.log(e / (e + 2))
    assert float(loss) == pytest.approx((2 * twice + once) / 3, rel=1e-6)


def test_distinct_prompts_give_the_loss_of_clip() -> None:
    rng = torch.Generator().manual_seed(3)
    images, texts = (functional.normalize(torch.randn(5, 4, generator=rng), dim=1) for _ in range(2))
    logits = 7 * images @ texts.T
    own = torch.arange(5)
    expected = (functional.cross_entropy(logits, own) + functional.cross_entropy(logits.T, own)) / 2
    assert float(contrastive_loss(images, texts, "abcde", torch.tensor(7.0))) == pytest.approx(
        float(expected), rel=1e-6
    )


def test_the_map_is_strongest_where_the_gradient_is() -> None:
    slope = torch.zeros(2, 3, 16, 16)
    slope[0, 1, 4:6, 12:14] = -3.0
    heatmaps = gradient_map(slope, 8)
    assert heatmaps.shape == (2, 8, 8)
    assert np.unravel_index(heatmaps[0].argmax(), (8, 8)) == (2, 6)
    assert heatmaps[0].max() == 1
    assert not heatmaps[1].any()


def test_the_map_follows_the_gradient_of_the_similarity() -> None:
    """Moving pixels against the gradient makes image and prompt less alike."""
    model = tiny("scores")
    pixels = batch().pixels[:1].requires_grad_()

    def similarity(images: torch.Tensor) -> torch.Tensor:
        return (model.towers.encode_images(images) * model.towers.encode_prompts(PROMPTS[:1])).sum()

    (slope,) = torch.autograd.grad(similarity(pixels), pixels)
    with torch.no_grad():
        assert similarity(pixels - 0.01 * slope / slope.norm()) < similarity(pixels)
    np.testing.assert_allclose(
        model.feedback(pixels, PROMPTS[:1]).heatmaps["misalignment"], gradient_map(slope, 8), rtol=1e-4, atol=1e-6
    )


def test_asking_leaves_no_gradients() -> None:
    model = tiny("scores")
    with torch.inference_mode():
        model.feedback(batch().pixels.clone(), PROMPTS)
    assert all(parameter.grad is None for parameter in model.module.parameters())


def test_the_same_model_is_built_again_from_its_config() -> None:
    model = tiny("scores")
    train(model, 2)
    again = build(model.config, fresh=False)
    again.module.load_state_dict(model.module.state_dict())
    before, after = (either.feedback(batch().pixels, PROMPTS) for either in (model, again))
    np.testing.assert_array_equal(before.scores["overall"], after.scores["overall"])


def test_wrong_settings_are_named() -> None:
    with pytest.raises(RecipeError, match="learns") as caught:
        configure({"towers": {"sizes": {"image_size": 15}}}, (), ())
    assert "image_size" in str(caught.value)
