"""The stage on a painted study: what it writes, when it is skipped, and that it goes on where it was."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch

from beholder.errors import StageError, TrainingError
from beholder.learn.job import FIGURES
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.learn.state import FILE_NAME as STATE
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
    def test_the_model_its_card_the_curve_and_the_scores_held_out(self, paired_study: Path) -> None:
        done = run(paired_study, recipe())
        store = Store(paired_study)
        assert done.folder == paired_study / "models" / "tiny-two-tower"
        said = store.read("predictions")
        assert set(said["model"]) == {"tiny-two-tower"}
        assert set(said["better"]) == {"higher"}
        assert said["held_out"].all()
        assert not store.has("scores")
        held_out = store.read("images").filter(pl.col("image").is_in(said["image"]))["prompt"].n_unique()
        assert held_out == 5  # a fifth of 24 prompts
        curve = store.read("training")
        assert curve.filter(measure="loss", split="train")["step"].to_list() == [2, 4, 6, 8]
        assert curve.filter(measure="pair-accuracy")["step"].to_list() == [4, 8]
        card = (done.folder / "README.md").read_text()
        for told in ("240 labels (pairs)", "120 images", "24 prompts", "5 generators", "## Licence", "floor"):
            assert told in card
        assert {one.statistic for one in done.figures} >= {"pair-accuracy-micro", "pair-accuracy-hpd-v2"}
        assert not (done.folder / STATE).exists()

    def test_the_checkpoint_gives_the_scores_that_were_written(self, paired_study: Path) -> None:
        first = run(paired_study, recipe())
        before = Store(paired_study).read("predictions")
        (first.folder / FIGURES).unlink()  # as if it had been killed just before the end
        run(paired_study, recipe(), resume=True)
        assert Store(paired_study).read("predictions").equals(before)

    def test_folds_hold_every_image_out_once(self, paired_study: Path) -> None:
        done = run(paired_study, recipe("split.folds=3", "training.steps=2"), name="mine")
        said = Store(paired_study).read("predictions")
        assert said.height == 120
        assert said["model"].unique().to_list() == ["mine"]
        assert said["fold"].unique().sort().to_list() == [0, 1, 2]
        assert sorted(path.name for path in done.folder.glob("fold-*")) == ["fold-0", "fold-1", "fold-2"]
        assert Store(paired_study).read("training")["fold"].unique().sort().to_list() == [0, 1, 2]
        assert figures_of(done.folder)["pair-accuracy-micro"]["prompts"] == 24

    def test_two_models_stand_beside_each_other(self, paired_study: Path) -> None:
        for name in ("one", "two", "one"):
            run(paired_study, recipe("training.steps=2"), name=name, force=True)
        said = Store(paired_study).read("predictions")
        assert said["model"].value_counts(sort=True)["count"].to_list() == [25, 25]


def figures_of(folder: Path) -> dict[str, dict[str, float]]:
    content = json.loads((folder / FIGURES).read_text())
    return {one["statistic"]: one for one in content["figures"]}


class TestAgain:
    def test_what_is_done_is_skipped_and_told_again(self, paired_study: Path) -> None:
        first, second = run(paired_study, recipe()), run(paired_study, recipe())
        assert second.skipped
        assert [str(one) for one in first.figures] == [str(one) for one in second.figures]
        assert not run(paired_study, recipe("training.seed=3")).skipped

    def test_predictions_that_were_lost_are_made_again_without_training(self, paired_study: Path) -> None:
        first, store = run(paired_study, recipe()), Store(paired_study)
        before, trained = store.read("predictions"), (first.folder / "model.safetensors").stat().st_mtime_ns
        store.path("predictions").unlink()
        again = run(paired_study, recipe())
        assert not again.skipped
        assert store.read("predictions").equals(before)
        assert (first.folder / "model.safetensors").stat().st_mtime_ns == trained

    def test_without_a_recipe_only_the_labels_are_looked_at_again(self, paired_study: Path) -> None:
        first = run(paired_study, recipe())
        assert first.rows["label_errors"] > 0
        assert run(paired_study).skipped
        Store(paired_study).path("label_errors").unlink()
        assert run(paired_study).rows == {"label_errors": first.rows["label_errors"]}

    def test_a_run_that_was_interrupted_goes_on_to_the_same_weights(
        self, paired_study: Path, tmp_path: Path
    ) -> None:
        whole = run(paired_study, recipe(), name="whole")
        expected = weights(whole.folder)
        place = paired_study / "models" / "tiny-two-tower"
        interrupted(paired_study, at=5)
        assert (place / STATE).is_file()
        with pytest.raises(StageError, match="--resume"):
            run(paired_study, recipe())
        run(paired_study, recipe(), resume=True)
        found = weights(place)
        assert all(torch.equal(expected[name], found[name]) for name in expected)
        del tmp_path

    def test_another_recipe_does_not_go_on_with_it(self, paired_study: Path) -> None:
        interrupted(paired_study, at=5)
        with pytest.raises(TrainingError, match="have changed"):
            run(paired_study, recipe("training.learning_rate=0.1"), resume=True)
        assert not run(paired_study, recipe("training.learning_rate=0.1"), force=True).skipped
