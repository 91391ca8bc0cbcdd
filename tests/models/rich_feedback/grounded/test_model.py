from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from beholder.errors import RecipeError
from beholder.models.encoders.grid_features import grid_channels
from beholder.models.rich_feedback.grounded.export import export_grounded
from beholder.models.rich_feedback.grounded.model import GroundedModel, build, configure
from beholder.models.rich_feedback.trainable import RichBatch, RichTrainable
from beholder.tables.provenance import Plain

SMALL: dict[str, Plain] = {
    "width": 16,
    "blocks": 1,
    "heads": 2,
    "layers": 1,
    "channels": 4,
    "pointers": 2,
    "head_width": 8,
    "dropout": 0.0,
}
SMALL_EXPERT: dict[str, Plain] = {
    "width": 8,
    "heatmap": [4, 4],
    "score": [4],
    "dense": [8],
    "learning_rate": 0.25,
}
PROMPTS = ("a red cat left of a dog", "two dogs", "a cat", "a red dog", "two red cats", "a dog")
ASPECTS = ("overall", "plausibility", "alignment", "aesthetics")
FEATURES = grid_channels("efficientnet-lite0-grid") * 12 * 12


def small(**changes: Plain) -> GroundedModel:
    torch.manual_seed(0)
    return build(configure({**SMALL, **changes}, PROMPTS, ASPECTS), fresh=True)


def labelled() -> RichBatch:
    rng = torch.Generator().manual_seed(1)
    maps, scores = torch.rand(6, 2, 48, 48, generator=rng), torch.rand(6, 4, generator=rng)
    maps[0], scores[1] = torch.nan, torch.nan
    flags = tuple(tuple(index == 1 for index in range(len(prompt.split()))) for prompt in PROMPTS)
    return RichBatch(torch.randn(6, FEATURES, generator=rng), PROMPTS, maps, scores, (None, *flags[1:]))


def test_it_gives_all_feedback_in_the_usual_order() -> None:
    model: RichTrainable = small()
    feedback = model.feedback(labelled().pixels, PROMPTS)
    assert {name: maps.shape for name, maps in feedback.heatmaps.items()} == {
        "implausibility": (6, 48, 48),
        "misalignment": (6, 48, 48),
    }
    assert list(feedback.scores) == ["plausibility", "alignment", "aesthetics", "overall"]
    assert [len(words) for words in feedback.misaligned] == [7, 2, 2, 3, 3, 2]
    by_aspect = (*feedback.heatmaps.values(), *feedback.scores.values())
    everything = np.concatenate([*(output.ravel() for output in by_aspect), *feedback.misaligned])
    assert ((everything > 0) & (everything < 1)).all()


def test_it_learns_the_feedback_on_a_batch() -> None:
    model = small()
    optimiser = torch.optim.Adam(model.module.parameters(), 3e-3)
    losses = []
    for _ in range(30):
        optimiser.zero_grad()
        loss = model.loss(labelled())
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.6 * losses[0]


def test_every_weight_is_trained_by_labelled_images() -> None:
    model = small()
    model.loss(labelled()).backward()  # type: ignore[no-untyped-call]
    untrained = [name for name, weight in model.module.named_parameters() if weight.grad is None]
    assert not untrained


def test_feedback_on_an_image_depends_on_no_other_of_its_batch() -> None:
    model = small()
    pixels = labelled().pixels
    together = model.feedback(pixels, PROMPTS)
    alone = model.feedback(pixels[2:3], PROMPTS[2:3])
    np.testing.assert_allclose(alone.misaligned[0], together.misaligned[2], atol=1e-4)
    np.testing.assert_allclose(alone.scores["alignment"][0], together.scores["alignment"][2], atol=1e-4)
    np.testing.assert_allclose(alone.heatmaps["misalignment"][0], together.heatmaps["misalignment"][2], atol=1e-4)


def test_words_beyond_the_longest_prompt_are_not_judged() -> None:
    long = " ".join(["cat"] * 12)
    feedback = small(longest=8).feedback(labelled().pixels[:2], (long, ""))
    assert np.isnan(feedback.misaligned[0][7:]).all()
    assert np.isfinite(feedback.misaligned[0][:7]).all()
    assert len(feedback.misaligned[1]) == 0


def test_without_labels_there_is_nothing_to_learn_but_no_fault() -> None:
    batch = labelled()
    unlabelled = replace(
        batch, heatmaps=batch.heatmaps * torch.nan, scores=batch.scores * torch.nan, misaligned=(None,) * 6
    )
    model = small()
    loss = model.loss(unlabelled)
    loss.backward()  # type: ignore[no-untyped-call]
    slopes = [weight.grad for weight in model.module.keywords.parameters() if weight.grad is not None]
    assert len(slopes) == 4
    assert not any(slope.any() for slope in slopes)


def test_calibration_changes_values_and_no_order() -> None:
    model = small()
    before = model.feedback(labelled().pixels, PROMPTS)
    model.calibrate([labelled()])
    after = model.feedback(labelled().pixels, PROMPTS)
    order_before, order_after = (np.argsort(feedback.scores["overall"]) for feedback in (before, after))
    assert float(np.abs(before.scores["overall"] - after.scores["overall"]).max()) > 1e-4
    if float(model.module.scales.scores[3, 0]) > 0:
        np.testing.assert_array_equal(order_before, order_after)
    rated = labelled().scores[:, 3]
    there = ~rated.isnan()
    means = [float(np.mean(feedback.scores["overall"][there.numpy()])) for feedback in (before, after)]
    target = float(rated[there].mean())
    assert abs(means[1] - target) < abs(means[0] - target) + 1e-6
    again = build(model.config, fresh=False)
    again.module.load_state_dict(model.module.state_dict())
    reloaded = again.feedback(labelled().pixels, PROMPTS)
    np.testing.assert_array_equal(reloaded.scores["overall"], after.scores["overall"])


def test_gradients_reach_the_pixels() -> None:
    model = small()
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (192, 192, 3), np.uint8)
    images = torch.from_numpy(picture / 255).float().permute(2, 0, 1)[None].requires_grad_()
    model.module.eval()
    tensors = model.with_gradients(images, ["a red cat"])
    tensors.scores["alignment"].sum().backward()  # type: ignore[no-untyped-call]
    assert images.grad is not None
    assert float(images.grad.abs().sum()) > 0
    feedback = model.feedback(torch.from_numpy(model.prepare(Image.fromarray(picture)))[None], ["a red cat"])
    score = float(tensors.scores["alignment"].detach())
    np.testing.assert_allclose(score, feedback.scores["alignment"][0], atol=1e-3)


def test_the_exported_program_gives_what_the_model_gives(tmp_path: Path) -> None:
    model = small(image_expert=SMALL_EXPERT)
    export_grounded(model, tmp_path / "model.pt2")
    program = torch.export.load(tmp_path / "model.pt2").module()
    pixels, prompts = labelled().pixels[:3], ["a red cat", "two dogs here", "a cat left"]
    token_ids = torch.tensor([model.tokenizer.encode_prompt(prompt, 64)[0] for prompt in prompts])
    with torch.no_grad():
        outputs = program(pixels, token_ids, torch.ones_like(token_ids))
    feedback = model.feedback(pixels, prompts)
    np.testing.assert_allclose(outputs["implausibility heatmap"], feedback.heatmaps["implausibility"], atol=1e-5)
    np.testing.assert_allclose(outputs["alignment score"], feedback.scores["alignment"], atol=1e-5)
    np.testing.assert_allclose(outputs["keywords"][1, :3], feedback.misaligned[1], atol=1e-5)


def test_a_part_of_a_heatmap_is_by_the_image_alone_and_learns_where_the_prompt_was_changed() -> None:
    model = small(image_heatmaps=["misalignment"])
    batch = labelled()
    images = model.module.encode_images(batch.pixels)
    with torch.no_grad():
        cats, dogs = (
            model.module.ground(images, *model._token_ids([prompt] * 6)) for prompt in ("a cat", "two dogs")
        )
    torch.testing.assert_close(cats.image_maps["misalignment"], dogs.image_maps["misalignment"])
    assert not torch.allclose(cats.maps["misalignment"], dogs.maps["misalignment"])
    exchanged = replace(batch, heatmaps=batch.heatmaps * torch.nan, image_heatmaps=batch.heatmaps)
    model.loss(exchanged).backward()  # type: ignore[no-untyped-call]
    by_image, by_both = (
        [weight.grad for weight in heads["misalignment"].parameters() if weight.grad is not None]
        for heads in (model.module.image_heatmaps, model.module.heatmaps)
    )
    assert any(slope.any() for slope in by_image)
    assert not any(slope.any() for slope in by_both)


def test_scores_read_the_heatmaps_and_leave_them_to_their_own_loss() -> None:
    model = small(scores_read_maps=True)
    pixels = labelled().pixels
    with torch.no_grad():
        before = model.feedback(pixels, PROMPTS).scores["plausibility"]
        model.module.heatmaps.get_parameter("implausibility.output.bias").add_(3.0)
        assert not np.allclose(before, model.feedback(pixels, PROMPTS).scores["plausibility"])
    only_scores = replace(labelled(), heatmaps=labelled().heatmaps * torch.nan)
    model.loss(only_scores).backward()  # type: ignore[no-untyped-call]
    slopes = [weight.grad for weight in model.module.heatmaps.parameters() if weight.grad is not None]
    assert not any(slope.any() for slope in slopes)


def test_a_configuration_from_before_these_settings_builds_the_same_network() -> None:
    config = dict(small().config)
    for key in ("image_heatmaps", "scores_read_maps", "image_expert"):
        config.pop(key)
    later = small(image_heatmaps=["misalignment"], scores_read_maps=True, image_expert=SMALL_EXPERT)
    before = build(config, fresh=False).module.state_dict()
    assert {name.partition(".")[0] for name in later.module.state_dict().keys() - before.keys()} == {
        "image_heatmaps",
        "expert",
    }
    assert before["scales.scores"].shape == (4, 2)


def test_the_image_expert_reads_no_words_and_learns_where_the_prompt_was_changed() -> None:
    model = small(image_expert=SMALL_EXPERT)
    batch = labelled()
    images = model.module.encode_images(batch.pixels)
    with torch.no_grad():
        cats, dogs = (
            model.module.ground(images, *model._token_ids([prompt] * 6)).expert for prompt in ("a cat", "two dogs")
        )
    assert cats is not None
    assert dogs is not None
    assert cats.maps["misalignment"].shape == (6, 48, 48)
    for name, scores in cats.scores.items():
        torch.testing.assert_close(scores, dogs.scores[name])
    exchanged = replace(
        batch,
        heatmaps=batch.heatmaps * torch.nan,
        scores=batch.scores * torch.nan,
        image_heatmaps=batch.heatmaps,
        image_scores=batch.scores,
    )
    model.loss(exchanged).backward()  # type: ignore[no-untyped-call]
    network = model.module
    assert network.expert is not None
    for heads, learns in ((network.expert, True), (network.scores, False), (network.heatmaps, False)):
        slopes = [weight.grad for weight in heads.parameters() if weight.grad is not None]
        assert any(slope.any() for slope in slopes) == learns


def test_with_an_image_expert_every_weight_is_trained_and_it_has_its_own_learning_rate() -> None:
    model = small(image_expert=SMALL_EXPERT)
    model.loss(labelled()).backward()  # type: ignore[no-untyped-call]
    assert all(weight.grad is not None for weight in model.module.parameters())
    rates = {
        id(weight): group["lr"]
        for group in model.parameter_groups(0.1, 0.0)
        for weight in group["params"]  # type: ignore[attr-defined]
    }
    of_expert = {id(weight) for name, weight in model.module.named_parameters() if name.startswith("expert.")}
    assert len(rates) == len(list(model.module.parameters()))
    assert {rate for weight, rate in rates.items() if weight in of_expert} == {0.025}
    assert {rate for weight, rate in rates.items() if weight not in of_expert} == {0.1}


def test_calibration_weighs_the_expert_that_is_right() -> None:
    model = small(image_expert=SMALL_EXPERT)
    pixels = torch.randn(200, FEATURES, generator=torch.Generator().manual_seed(2))
    prompts = PROMPTS[2:] * 50
    network = model.module.eval()
    with torch.no_grad():
        grounded = network.ground(network.encode_images(pixels), *model._token_ids(prompts))
        by_words, by_image = network.score_logits(grounded, "overall")
        own_map, _ = network.heatmap_logits(grounded, "misalignment")
        torch.testing.assert_close(network.score(grounded, "overall"), (by_words + by_image) / 2)
    scores = torch.stack([torch.rand(200)] * 3 + [(40 * (by_image - by_image.mean())).sigmoid()], 1)
    heatmaps = torch.stack([torch.rand(200, 48, 48), (40 * (own_map - own_map.mean())).sigmoid()], 1)
    model.calibrate([RichBatch(pixels, prompts, heatmaps, scores, (None,) * 200)])
    of_words, of_image, _ = network.scales.scores[3].tolist()
    assert of_image > 2 * of_words >= 0
    of_words, of_image, _ = network.scales.heatmaps[1].tolist()
    assert of_words > 2 * of_image >= 0
    again = build(model.config, fresh=False)
    again.module.load_state_dict(network.state_dict())
    np.testing.assert_array_equal(
        again.feedback(pixels[:4], prompts[:4]).scores["overall"],
        model.feedback(pixels[:4], prompts[:4]).scores["overall"],
    )


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RecipeError, match="image_heatmaps: beauty not in heatmaps"):
        configure({"image_heatmaps": ["beauty"]}, PROMPTS, ASPECTS)
    with pytest.raises(RecipeError, match=r"width \(30\) must be a multiple of heads \(4\)"):
        configure({"width": 30, "channels": 15}, PROMPTS, ASPECTS)
    with pytest.raises(RecipeError, match="encoder 'pixel' gives no grid"):
        configure({"encoder": "pixel"}, PROMPTS, ASPECTS)
