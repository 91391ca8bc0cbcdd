import numpy as np
import pytest
import torch
from PIL import Image

from beholder.errors import RecipeError
from beholder.models.rich_feedback.cnn import CnnSettings, RichCnn, build, configure
from beholder.models.rich_feedback.trainable import RichBatch, RichTrainable
from beholder.tables.provenance import Plain

TINY: dict[str, Plain] = {
    "side": 32,
    "stem": 8,
    "widths": [8, 16],
    "depths": [1, 1],
    "blocks": "basic",
    "heads": {"heatmap": [8, 8], "score": [8], "dense": [8]},
}


def tiny() -> RichCnn:
    torch.manual_seed(0)
    return build(configure(TINY, (), ()), fresh=True)


def batch() -> RichBatch:
    rng = torch.Generator().manual_seed(1)
    maps, scores = torch.rand(6, 2, 16, 16, generator=rng), torch.rand(6, 4, generator=rng)
    maps[0], scores[1] = torch.nan, torch.nan
    return RichBatch(torch.randn(6, 3, 32, 32, generator=rng), ("a",) * 6, maps, scores, (None,) * 6)


def test_it_gives_maps_and_scores_and_no_words() -> None:
    model: RichTrainable = tiny()
    feedback = model.feedback(batch().pixels, ("a",) * 6)
    assert {name: output.shape for name, output in feedback.heatmaps.items()} == {
        "implausibility": (6, 16, 16),
        "misalignment": (6, 16, 16),
    }
    assert {name: output.shape for name, output in feedback.scores.items()} == dict.fromkeys(
        model.settings.scores, (6,)
    )
    assert feedback.misaligned == ()
    assert all(
        ((output > 0) & (output < 1)).all() for output in (*feedback.heatmaps.values(), *feedback.scores.values())
    )


def test_prompts_change_nothing() -> None:
    model = tiny()
    with_prompt, without_prompt = (model.feedback(batch().pixels, (prompt,) * 6) for prompt in ("a cat", ""))
    np.testing.assert_array_equal(with_prompt.scores["alignment"], without_prompt.scores["alignment"])


def test_it_learns_the_maps_and_scores_of_a_batch() -> None:
    model = tiny()
    optimiser = torch.optim.Adam(model.module.parameters(), 3e-3)
    losses = []
    for _ in range(40):
        optimiser.zero_grad()
        loss = model.loss(batch())
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0]


def test_scores_are_those_of_the_feedback() -> None:
    model = tiny()
    feedback = model.feedback(batch().pixels, ("a",) * 6)
    with torch.no_grad():
        scores = model.predict(batch())
    np.testing.assert_allclose(scores["overall"].numpy(), feedback.scores["overall"], rtol=1e-5)


def test_the_same_model_is_built_again_from_its_config() -> None:
    model = tiny()
    again = build(model.config, fresh=False)
    again.module.load_state_dict(model.module.state_dict())
    pixels = torch.from_numpy(model.prepare(Image.new("RGB", (50, 20), "red")))[None]
    before, after = model.feedback(pixels, ("a",)), again.feedback(pixels, ("a",))
    np.testing.assert_array_equal(before.heatmaps["misalignment"], after.heatmaps["misalignment"])


def test_the_defaults_are_resnet_50() -> None:
    settings = CnnSettings()
    assert (settings.stride, settings.grid, settings.map_side) == (32, 7, 112)
    with torch.device("meta"):
        model = RichCnn(settings)
    tower = sum(parameter.numel() for parameter in model.module.tower.parameters())
    assert tower == 23_508_032  # 25,557,032 of ResNet-50 without its 1,000 classes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"side": 33}, "must be a multiple of 8"),
        ({"depths": [1]}, "widths has 2 stages, depths 1"),
        ({"heatmaps": [], "scores": []}, "nothing is to be predicted"),
        ({"sidee": 1}, "sidee"),
    ],
)
def test_wrong_settings_are_named(changes: dict[str, Plain], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        configure({**TINY, **changes}, (), ())
