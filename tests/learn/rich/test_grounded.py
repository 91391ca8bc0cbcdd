"""The grounded model through the stage: trained, calibrated, resumed to equal weights, and refused settings."""

from pathlib import Path

import pytest
import torch

from beholder.errors import RecipeError
from beholder.feedback.predictions import FILE_NAME, read_predictions
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.models.weights.checkpoint import load_rich_checkpoint

SMALL = [
    *("model.width=16", "model.blocks=1", "model.heads=2", "model.layers=1", "model.channels=4"),
    *("model.pointers=2", "model.head_width=8", "training.batch=4", "training.warmup=1", "training.steps=4"),
    *("training.validate_every=2", "training.save_every=1", "split.test=0.2", "split.validation=0.2"),
]


def small(*changes: str) -> Recipe:
    return load_recipe("tiny-rich-grounded", [*SMALL, *changes])


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_rich_checkpoint(folder)[0].module.state_dict())


def test_it_is_trained_calibrated_and_resumed(rich_study: Path) -> None:
    undisturbed = run(rich_study, small(), name="undisturbed")
    statistics = {figure.statistic for figure in undisturbed.figures}
    assert statistics >= {"pearson", "heatmap-cc", "keyword-f1-pooled"}
    saved = read_predictions(undisturbed.folder / FILE_NAME)
    assert saved is not None
    assert saved.heatmaps["misalignment"].shape[1:] == (48, 48)
    trained = weights(undisturbed.folder)
    assert not torch.equal(trained["scales.words"], torch.tensor([[1.0, 0.0]]))  # fitted to the validation images
    assert "beholder explain" in (undisturbed.folder / "README.md").read_text()

    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(rich_study, small(), progress=stop)
    resumed = weights(run(rich_study, small(), resume=True).folder)
    assert all(torch.equal(trained[name], resumed[name]) for name in trained)


def test_epochs_of_naming_alone_are_an_option_of_it(rich_study: Path) -> None:
    run(rich_study, small("rich.named=0.1", "training.steps=2"))
    with pytest.raises(RecipeError, match=r"crop is 0\.5"):
        run(rich_study, small("rich.crop=0.5"), name="cropped")
