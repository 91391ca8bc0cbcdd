"""The realism predictor from labels to scores: which direction, with which figures, and as a scorer."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import special
from tests.learn.conftest import Rows, write_labels

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.images.decode import decode
from beholder.learn.evaluate import evaluate
from beholder.learn.examples import read_labelled_images
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.recipe import Data, Recipe, load_recipe
from beholder.learn.stage import run
from beholder.models.realism import Realism
from beholder.models.weights.checkpoint import load_checkpoint
from beholder.scorers.catalogue import load_scorer, recipe_of
from beholder.scorers.scorer import ScorerInput
from beholder.stats.intervals.proportions import wilson
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import TRUTH_ROOM, Store

SOFT_LABELS = Data(labels="shares")
NO_VOTES = pl.DataFrame(
    schema={"rater": pl.String(), "image": pl.String(), "other": pl.String(), "lead": pl.Int64()}
)


def recipe(*changes: str) -> Recipe:
    small = ["model.side=16", "model.widths=[4,8]", "model.hidden=8", "training.batch=16", "training.warmup=2"]
    short = ["training.steps=8", "training.validate_every=4", "training.save_every=3", "training.log_every=2"]
    return load_recipe("tiny-realism", [*small, *short, *changes])


def detectability(folder: Path) -> dict[str, float]:
    scores = Store(folder, TRUTH_ROOM).read("scores").filter(pl.col("aspect") == "detectability")
    return dict(scores.select("image", "score").iter_rows())


@pytest.fixture
def labelled_study(painted_study: Callable[..., Path]) -> Path:
    """Six raters per image, who call it generated the more often the more its ground-truth flaws show."""
    folder = painted_study(RealismQuestion(name="q"), draws=200)
    rng = np.random.default_rng(0)
    images = Store(folder).read("images").filter(~pl.col("gold"))["image"]
    truth = detectability(folder)
    probabilities = {image: special.expit(2 * truth[image] - 2) for image in images}
    rows: Rows = []
    for image, probability in probabilities.items():
        generated_answers = int(rng.binomial(6, probability))
        low, high = (float(end[0]) for end in wilson([generated_answers], [6]))
        label = {"aspect": "realism", "method": "share", "image": image, "value": generated_answers / 6}
        rows.append(label | {"low": low, "high": high, "answers": 6, "raters": 6})
    write_labels(folder, rows)
    return folder


def by_statistic(figures: list[Figure] | tuple[Figure, ...]) -> dict[str, Figure]:
    return {figure.statistic: figure for figure in figures}


def test_soft_labels_are_proportions_of_raters_who_said_generated(painted_study: Callable[..., Path]) -> None:
    """From simulated raters' answers: real images have low proportions, images with flaws high ones."""
    folder = painted_study(RealismQuestion(name="q", design=Design(raters=30, trials=40)))
    design(folder)
    run_simulated(folder, people=30)
    consolidate(folder)
    labelled = read_labelled_images(Store(folder), SOFT_LABELS)
    counted = (
        Store(folder)
        .read("judgements")
        .filter("used")
        .group_by("image")
        .agg(generated=pl.col("value").sum(), counted=pl.len().cast(pl.Int64))
    )
    both = labelled.labels.join(counted, on="image")
    assert both.height == labelled.labels.height
    assert (both["value"] * both["answers"] - both["generated"]).abs().max() == pytest.approx(0, abs=1e-9)
    assert both["answers"].equals(both["counted"], check_names=False)
    images = Store(folder).read("images").select("image", "real")
    by_kind = dict(both.join(images, on="image").group_by("real").agg(pl.col("value").mean()).iter_rows())
    assert by_kind[True] < by_kind[False] - 0.2


class TestFigures:
    def test_true_proportions_beat_the_generator_means_and_are_calibrated(self, labelled_study: Path) -> None:
        labelled = read_labelled_images(Store(labelled_study), SOFT_LABELS)
        truth = detectability(labelled_study)
        true_proportions = {image: float(special.expit(2 * value - 2)) for image, value in truth.items()}
        complements = {image: 1 - proportion for image, proportion in true_proportions.items()}
        figures, of_complements = (
            by_statistic(
                evaluate(labelled, SOFT_LABELS, {"realism": scores}, NO_VOTES, EvaluationSettings(replicates=200))
            )
            for scores in (true_proportions, complements)
        )
        assert figures["calibration-error"].value < 2 * figures["calibration-error"].ceiling
        assert figures["calibration-error"].low < 0.02
        assert of_complements["calibration-error"].low > 0.2
        gain = figures["log-likelihood-gain"]
        assert 0 < gain.low < gain.value < gain.high
        assert figures["log-likelihood"].value == pytest.approx(figures["log-likelihood"].floor + gain.value)
        assert of_complements["log-likelihood-gain"].high < 0
        assert figures["pearson-within-generators"].low > 0
        assert figures["pearson"].people_low < figures["pearson"].value  # errors of the labels are known
        assert figures["calibration-error"].items == labelled.labels.height == 180

    def test_ratings_have_none_of_them(self, labelled_study: Path) -> None:
        data = Data(labels="ratings", method="share")
        labelled = read_labelled_images(Store(labelled_study), data)
        scores = {"realism": detectability(labelled_study)}
        assert "calibration-error" not in by_statistic(
            evaluate(labelled, data, scores, NO_VOTES, EvaluationSettings(replicates=200))
        )


class TestStage:
    def test_it_is_trained_calibrated_and_scores_proportions(self, labelled_study: Path) -> None:
        done = run(labelled_study, recipe())
        assert {"calibration-error", "log-likelihood", "log-likelihood-gain", "spearman"} <= set(
            by_statistic(done.figures)
        )
        model, record = load_checkpoint(done.folder)
        assert isinstance(model, Realism)
        assert record.aspects == ("realism",)
        assert model.module.offset.item() != 0
        scores = Store(labelled_study).read("predictions")
        assert scores["score"].is_between(0, 1).all()
        curve = Store(labelled_study).read("training")
        assert curve.filter(measure="log-likelihood")["step"].to_list() == [4, 8]
        assert curve.filter(measure="log-likelihood")["value"].is_between(-5, 0).all()
        card = (done.folder / "README.md").read_text()
        assert "--scorer FOLDER\n" in card
        self.as_a_scorer(labelled_study, done.folder)

    def as_a_scorer(self, study: Path, folder: Path) -> None:
        """The folder scores images without prompts, as it scored the held-out ones."""
        predictions = Store(study).read("predictions").head(5)
        about = recipe_of(str(folder))
        assert (about.needs, about.better) == (("image",), "lower")
        paths = dict(Store(study).read("images").select("image", "path").iter_rows())
        images = [ScorerInput(decode((study / paths[image]).read_bytes())) for image in predictions["image"]]
        scores = load_scorer(str(folder)).score(images)
        np.testing.assert_allclose(scores, predictions["score"].to_numpy(), atol=1e-5)

    def test_more_answers_with_the_same_proportion_are_other_labels(self, labelled_study: Path) -> None:
        assert not run(labelled_study, recipe("training.steps=2")).skipped
        assert run(labelled_study, recipe("training.steps=2")).skipped
        store = Store(labelled_study)
        record = store.provenance("labels")
        assert record is not None
        store.write({"labels": store.read("labels").with_columns(answers=pl.lit(12, pl.Int64))}, record)
        assert not run(labelled_study, recipe("training.steps=2")).skipped

    def test_features_of_frozen_encoders(self, labelled_study: Path) -> None:
        changes = [
            "model.encoders=['pixel']",
            "training.steps=4",
            "training.batch=16",
            "training.validate_every=2",
        ]
        done = run(labelled_study, load_recipe("realism", changes))
        assert by_statistic(done.figures)["calibration-error"].value < 0.5
        assert (labelled_study / "features").is_dir()
