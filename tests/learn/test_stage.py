"""The stage on a painted study: what it writes, when it is skipped, and that it can be resumed."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch

from beholder.errors import StageError, TrainingError
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.learn.state import FILE_NAME as STATE
from beholder.learn.trained_models import FIGURES
from beholder.models.weights.checkpoint import load_checkpoint
from beholder.tables.store import Store

SMALL = [
    *("model.sizes.image_size=32", "model.sizes.image_width=32", "model.sizes.image_layers=1"),
    *("model.sizes.image_heads=2", "model.sizes.text_width=32", "model.sizes.text_layers=1"),
    "model.sizes.embedding=16",
    *("training.batch=4", "training.warmup=2", "training.validate_every=4", "training.save_every=3"),
    *("training.log_every=2", "training.steps=8"),
]


def recipe(*changes: str) -> Recipe:
    return load_recipe("tiny-two-tower", [*SMALL, *changes])


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_checkpoint(folder)[0].module.state_dict())


def interrupted(study: Path, at: int) -> None:
    """Train, and be interrupted at a step."""

    def stop(done: int, _: int) -> None:
        if done == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, recipe(), progress=stop)


class TestWrites:
    def test_the_model_its_card_the_curve_and_the_held_out_scores(self, paired_study: Path) -> None:
        outcome = run(paired_study, recipe())
        store = Store(paired_study)
        assert outcome.folder == paired_study / "models" / "tiny-two-tower"
        predictions = store.read("predictions")
        assert set(predictions["model"]) == {"tiny-two-tower"}
        assert set(predictions["better"]) == {"higher"}
        assert predictions["held_out"].all()
        assert not store.has("scores")
        test_prompts = (
            store.read("images").filter(pl.col("image").is_in(predictions["image"]))["prompt"].n_unique()
        )
        assert test_prompts == 5  # a fifth of 24 prompts
        curve = store.read("training")
        assert curve.filter(measure="loss", split="train")["step"].to_list() == [2, 4, 6, 8]
        assert curve.filter(measure="pair-accuracy")["step"].to_list() == [4, 8]
        card = (outcome.folder / "README.md").read_text()
        for expected in (
            "240 labels (pairs)",
            "120 images",
            "24 prompts",
            "5 generators",
            "## Licence",
            "baseline",
        ):
            assert expected in card
        assert {figure.statistic for figure in outcome.figures} >= {"pair-accuracy-micro", "pair-accuracy-hpd-v2"}
        assert not (outcome.folder / STATE).exists()

    def test_the_checkpoint_gives_the_scores_that_were_written(self, paired_study: Path) -> None:
        first = run(paired_study, recipe())
        before = Store(paired_study).read("predictions")
        (first.folder / FIGURES).unlink()  # as if it had been killed just before the end
        run(paired_study, recipe(), resume=True)
        assert Store(paired_study).read("predictions").equals(before)

    def test_folds_hold_every_image_out_once(self, paired_study: Path) -> None:
        outcome = run(paired_study, recipe("split.folds=3", "training.steps=2"), name="mine")
        predictions = Store(paired_study).read("predictions")
        assert predictions.height == 120
        assert predictions["model"].unique().to_list() == ["mine"]
        assert predictions["fold"].unique().sort().to_list() == [0, 1, 2]
        assert sorted(path.name for path in outcome.folder.glob("fold-*")) == ["fold-0", "fold-1", "fold-2"]
        assert Store(paired_study).read("training")["fold"].unique().sort().to_list() == [0, 1, 2]
        assert figures_of(outcome.folder)["pair-accuracy-micro"]["prompts"] == 24

    def test_two_models_side_by_side(self, paired_study: Path) -> None:
        for name in ("one", "two", "one"):
            run(paired_study, recipe("training.steps=2"), name=name, force=True)
        predictions = Store(paired_study).read("predictions")
        assert predictions["model"].value_counts(sort=True)["count"].to_list() == [25, 25]


def figures_of(folder: Path) -> dict[str, dict[str, float]]:
    content = json.loads((folder / FIGURES).read_text())
    return {figure["statistic"]: figure for figure in content["figures"]}


class TestAgain:
    def test_a_finished_job_is_skipped_with_the_same_figures(self, paired_study: Path) -> None:
        first, second = run(paired_study, recipe()), run(paired_study, recipe())
        assert second.skipped
        assert [str(figure) for figure in first.figures] == [str(figure) for figure in second.figures]
        assert not run(paired_study, recipe("training.seed=3")).skipped

    def test_predictions_that_were_lost_are_made_again_without_training(self, paired_study: Path) -> None:
        first, store = run(paired_study, recipe()), Store(paired_study)
        before, trained = store.read("predictions"), (first.folder / "model.safetensors").stat().st_mtime_ns
        store.path("predictions").unlink()
        again = run(paired_study, recipe())
        assert not again.skipped
        assert store.read("predictions").equals(before)
        assert (first.folder / "model.safetensors").stat().st_mtime_ns == trained

    def test_without_a_recipe_only_label_errors_are_found(self, paired_study: Path) -> None:
        first = run(paired_study, recipe())
        assert first.rows["label_errors"] > 0
        assert run(paired_study).skipped
        Store(paired_study).path("label_errors").unlink()
        assert run(paired_study).rows == {"label_errors": first.rows["label_errors"]}

    def test_a_run_that_was_interrupted_and_resumed_ends_with_the_same_weights(
        self, paired_study: Path, tmp_path: Path
    ) -> None:
        undisturbed = run(paired_study, recipe(), name="whole")
        expected = weights(undisturbed.folder)
        folder = paired_study / "models" / "tiny-two-tower"
        interrupted(paired_study, at=5)
        assert (folder / STATE).is_file()
        with pytest.raises(StageError, match="--resume"):
            run(paired_study, recipe())
        run(paired_study, recipe(), resume=True)
        resumed = weights(folder)
        assert all(torch.equal(expected[name], resumed[name]) for name in expected)
        del tmp_path

    def test_another_recipe_cannot_resume_it(self, paired_study: Path) -> None:
        interrupted(paired_study, at=5)
        with pytest.raises(TrainingError, match="have changed"):
            run(paired_study, recipe("training.learning_rate=0.1"), resume=True)
        assert not run(paired_study, recipe("training.learning_rate=0.1"), force=True).skipped
