"""The stage on a painted study: what it writes, that it can be resumed, and what it refuses."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from click.testing import CliRunner

import beholder
from beholder.cli.explain import explain_images
from beholder.cli.learn import learn
from beholder.errors import ImageError, LabelsError, RecipeError, StageError, TrainingError, WeightsError
from beholder.feedback.predictions import FILE_NAME, read_predictions
from beholder.learn import shift
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.rich.examples import read_rich_labels
from beholder.learn.stage import run
from beholder.learn.state import FILE_NAME as STATE
from beholder.learn.trained_models import FIGURES
from beholder.models.shift import altered_set
from beholder.models.training_images import SHIFT_FILE
from beholder.models.weights.checkpoint import load_checkpoint, load_rich_checkpoint, read_record
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.rich_feedback import RichFeedbackQuestion
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_rich_checkpoint(folder)[0].module.state_dict())


def change(folder: Path, name: str, frame: pl.DataFrame) -> None:
    Store(folder).write({name: frame}, Provenance("consolidate", {}, 0, {}))


class TestWrites:
    def test_model_card_tables_and_predictions(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        outcome = run(rich_study, rich_recipe())
        assert outcome.folder == rich_study / "models" / "tiny-rich-feedback"
        store = Store(rich_study)
        scores = store.read("predictions").filter(model="tiny-rich-feedback", better="higher")
        assert set(scores["aspect"]) == {"plausibility", "alignment", "aesthetics", "overall"}
        saved = read_predictions(outcome.folder / FILE_NAME)
        assert saved is not None
        assert set(saved.images) == set(scores["image"])
        assert {name: maps.shape[1:] for name, maps in saved.heatmaps.items()} == {
            "implausibility": (8, 8),
            "misalignment": (8, 8),
        }
        score_by_image = dict(scores.filter(aspect="overall").select("image", "score").iter_rows())
        np.testing.assert_allclose(
            [score_by_image[image] for image in saved.images], saved.scores["overall"], rtol=1e-6
        )
        curve = store.read("training")
        assert curve.filter(measure="loss")["step"].to_list() == [2, 4, 6]
        validation = curve.filter(split="validation", step=6)
        assert validation["measure"][0] == "mean"
        assert validation["value"][0] == pytest.approx(validation["value"][1:].mean())
        assert validation.height == 8  # the mean, and what it is the mean of
        card = (outcome.folder / "README.md").read_text()
        for expected in ("160 scores, 80 heatmaps and", "40 images", "at most 3 raters", "beholder explain"):
            assert expected in card
        assert "ceiling |" not in card  # a column that nothing fills
        assert {figure.statistic for figure in outcome.figures} >= {"pearson", "heatmap-cc", "keyword-f1-pooled"}
        assert not (outcome.folder / STATE).exists()

    def test_how_far_scores_may_be_off(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        wide = rich_recipe("split.validation=0.7", "split.test=0.1", "training.steps=2")
        folder = run(rich_study, wide).folder
        record = read_record(folder)
        examples = record.about["examples"]
        assert isinstance(examples, dict)
        assert int(str(examples["validation"])) >= 19  # fewer have no 95 % quantile
        within = record.about["within"]
        assert isinstance(within, dict)
        assert list(within) == ["plausibility", "alignment", "aesthetics", "overall"]
        assert all(0 < float(str(width)) < 1 for width in within.values())
        few = run(rich_study, rich_recipe("split.validation=0.2", "training.steps=1"), name="few").folder
        assert read_record(few).about["within"] == {}

    def test_a_warning_of_images_unlike_its_own(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(shift, "MOST", 800)
        monkeypatch.setattr(altered_set, "FEWEST_EACH", 4)
        folder = run(rich_study, rich_recipe("training.steps=1")).folder
        card = (folder / "README.md").read_text()
        assert "`beholder explain` say where images are unlike those it was trained on" in card
        noise = list(np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), dtype=np.uint8))
        explanations = beholder.explain(images=noise, prompts="a cat", model=folder)
        assert all(image.shift is not None and image.shift > 1 for image in explanations.explained)
        unlike = "the model: 3 of 3 images (100 %) are unlike those it was trained on"
        assert explanations.notes == (f"{unlike}; their feedback is extrapolated.",)
        scored = beholder.score(images=noise, prompts="a cat", scorer=f"{folder}:overall")
        assert any("3 of 3 images (100 %) are unlike" in note for note in scored.notes)
        shifts = beholder.score(images=noise, scorer=f"{folder}:shift").scores
        assert shifts.tolist() == pytest.approx([image.shift or 0.0 for image in explanations.explained], rel=1e-4)
        own = [rich_study / path for path in Store(rich_study).read("images")["path"][:40]]
        usual = beholder.explain(images=own, prompts="a cat", model=folder)
        assert usual.notes == ()
        assert sum(image.shift is not None and image.shift > 1 for image in usual.explained) <= 6
        arguments = [str(own[0]), "--model", str(folder), "--prompt", "a cat", "--json"]
        printed = CliRunner().invoke(explain_images, arguments, catch_exceptions=False)
        content = json.loads(printed.stdout)
        assert content["images"][0]["shift"] == pytest.approx(usual.explained[0].shift, rel=1e-4)
        assert isinstance(content["notes"], list)
        (folder / SHIFT_FILE).unlink()
        lacking = beholder.explain(images=noise, prompts="a cat", model=folder)
        assert lacking.explained[0].shift is None
        assert lacking.notes == (
            f"{folder}: no warning of images unlike its training images: it was trained without one",
        )

    def test_folds_hold_every_image_out_once(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        outcome = run(rich_study, rich_recipe("split.folds=3", "training.steps=1"), name="mine")
        scores = Store(rich_study).read("predictions").filter(model="mine", aspect="overall")
        assert scores.height == 40
        assert len(list(outcome.folder.glob(f"fold-*/{FILE_NAME}"))) == 3
        assert next(figure for figure in outcome.figures if figure.statistic == "pearson").items == 40

    def test_the_other_variant_by_command(self, rich_study: Path, small: list[str]) -> None:
        changes = [word for change in (*small, "training.steps=1") for word in ("--set", change)]
        arguments = [str(rich_study), "--recipe", "tiny-rich-feedback-augmented", *changes, "--json"]
        printed = json.loads(CliRunner().invoke(learn, arguments, catch_exceptions=False).stdout)
        assert {figure["statistic"] for figure in printed["figures"]} >= {
            "pearson",
            "heatmap-kld",
            "keyword-recall-by-image",
        }
        model, record = load_rich_checkpoint(Path(printed["model"]))
        assert record.config["variant"] == "augmented-prompt"
        assert model.settings.heatmaps == ("implausibility", "misalignment")


class TestAgain:
    def test_killed_at_any_step_and_resumed(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        undisturbed = run(rich_study, rich_recipe(), name="whole")
        at = random.Random(7).randint(1, 5)

        def stop(done: int, _: int) -> None:
            if done == at:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(rich_study, rich_recipe(), progress=stop)
        with pytest.raises(TrainingError, match="have changed"):
            run(rich_study, rich_recipe("rich.exchanged=0.0"), resume=True)
        folder = undisturbed.folder.parent / "tiny-rich-feedback"
        if (folder / STATE).is_file():
            with pytest.raises(StageError, match="--resume"):
                run(rich_study, rich_recipe())
        again = run(rich_study, rich_recipe(), resume=True)
        expected, resumed = weights(undisturbed.folder), weights(again.folder)
        assert (undisturbed.folder / SHIFT_FILE).read_bytes() == (again.folder / SHIFT_FILE).read_bytes()
        assert all(torch.equal(expected[name], resumed[name]) for name in expected)
        assert [str(figure) for figure in undisturbed.figures] == [str(figure) for figure in again.figures]

    def test_a_finished_job_is_skipped_until_labels_change(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        brief = rich_recipe("training.steps=1")
        first, second = run(rich_study, brief), run(rich_study, brief)
        assert second.skipped
        assert [str(figure) for figure in first.figures] == [str(figure) for figure in second.figures]
        regions = Store(rich_study).read("regions")
        blank = regions["heatmap"][0]
        change(rich_study, "regions", regions.with_columns(heatmap=pl.lit(blank)))
        assert not run(rich_study, brief, force=True).skipped


class TestRefused:
    def test_a_study_without_rich_feedback(
        self, painted_study: Callable[..., Path], rich_recipe: Callable[..., Recipe]
    ) -> None:
        with pytest.raises(LabelsError, match="questions of rich feedback: none"):
            run(painted_study(RatingQuestion(name="mos")), rich_recipe())

    def test_a_study_that_nobody_answered(
        self, painted_study: Callable[..., Path], rich_recipe: Callable[..., Recipe]
    ) -> None:
        folder = painted_study(RichFeedbackQuestion(name="feedback"))
        with pytest.raises(StageError, match="beholder consolidate"):
            run(folder, rich_recipe())
        change(folder, "labels", Store(folder).read_or_empty("labels"))
        with pytest.raises(LabelsError, match="no scores and no regions"):
            run(folder, rich_recipe())

    def test_outputs_that_raters_were_not_asked_for(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        labels = Store(rich_study).read("labels")
        alike = pl.when(aspect="overall", method="mean").then(3.0).otherwise("value")
        change(rich_study, "labels", labels.with_columns(value=alike))
        changed = rich_recipe('model.scores=["beauty","overall"]', 'model.heatmaps=["dirt"]')
        with pytest.raises(LabelsError) as refused:
            run(rich_study, changed)
        assert refused.value.faults == (
            "train: no heatmap of 'dirt'",
            "train: no scores of 'beauty'",
            "train: all scores of 'overall' are 0.5: there is nothing to learn",
        )

    def test_images_that_are_broken(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        paths = list(read_rich_labels(Store(rich_study)).paths.items())[:2]
        images = Store(rich_study).read("images")
        lost = (
            pl.when(pl.col("image").is_in([image for image, _ in paths]))
            .then(pl.lit("gone.png"))
            .otherwise("path")
        )
        change(rich_study, "images", images.with_columns(path=lost))
        with pytest.raises(ImageError) as refused:
            run(rich_study, rich_recipe())
        assert len(refused.value.faults) == 2

    def test_settings_of_the_model_all_at_once(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        with pytest.raises(RecipeError) as refused:
            run(rich_study, rich_recipe("model.image.side=33", "model.text.layers=0", "model.colour=2"))
        assert len(refused.value.faults) == 3

    @pytest.mark.parametrize(
        ("name", "changes", "message"),
        [
            ("tiny-rich-feedback", ["data.hard=true", "data.ties=drop"], r"data\.hard.*data\.ties"),
            ("tiny-rich-feedback", ["model.architecture=two-tower"], "one of: rich-feedback.*labels are 'rich'"),
            ("tiny-two-tower", ["rich.crop=0.5"], r"\[rich\]: has no effect where labels are 'pairs'"),
            ("tiny-two-tower", ["data.labels=rich"], "architecture must be one of: rich-feedback"),
            ("tiny-rich-feedback", ["rich.crop=2", "rich.bend=1"], "2 faults"),
        ],
    )
    def test_recipes_that_do_not_fit(self, name: str, changes: list[str], message: str) -> None:
        with pytest.raises(RecipeError, match=message):
            load_recipe(name, changes)

    def test_a_checkpoint_of_the_other_kind(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        folder = run(rich_study, rich_recipe("training.steps=1")).folder
        with pytest.raises(WeightsError, match="rich feedback"):
            load_checkpoint(folder)


def test_the_file_that_says_all_is_done_comes_last(rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
    brief = rich_recipe("training.steps=1")
    folder = run(rich_study, brief).folder
    before = json.loads((folder / FIGURES).read_text())
    (folder / FIGURES).unlink()  # as if it had been killed just before the end
    stamp = (folder / FILE_NAME).stat().st_mtime_ns
    run(rich_study, brief, resume=True)
    assert json.loads((folder / FIGURES).read_text()) == before
    assert (folder / FILE_NAME).stat().st_mtime_ns == stamp  # nothing was predicted twice
