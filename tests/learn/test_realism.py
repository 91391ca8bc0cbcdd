"""The realism predictor from labels to scores: which way round, with which figures, and as a scorer."""

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
from beholder.learn.evaluate import Figure, Settings, evaluate
from beholder.learn.examples import judged
from beholder.learn.recipe import Data, Recipe, load_recipe
from beholder.learn.stage import run
from beholder.measure.scorers.catalogue import load_scorer, recipe_of
from beholder.measure.scorers.scorer import ScorerInput
from beholder.models.realism import Realism
from beholder.models.weights.checkpoint import load_checkpoint
from beholder.stats.intervals.proportions import wilson
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import TRUTH_ROOM, Store

SHARES = Data(labels="shares")
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
def told_study(painted_study: Callable[..., Path]) -> Path:
    """Six people about each image, who call it generated as its planted flaws show."""
    folder = painted_study(RealismQuestion(name="q"), draws=200)
    rng = np.random.default_rng(0)
    images = Store(folder).read("images").filter(~pl.col("gold"))["image"]
    truth = detectability(folder)
    chances = {image: special.expit(2 * truth[image] - 2) for image in images}
    rows: Rows = []
    for image, chance in chances.items():
        said = int(rng.binomial(6, chance))
        low, high = (float(end[0]) for end in wilson([said], [6]))
        label = {"aspect": "realism", "method": "share", "image": image, "value": said / 6}
        rows.append(label | {"low": low, "high": high, "answers": 6, "raters": 6})
    write_labels(folder, rows)
    return folder


def figures(found: list[Figure] | tuple[Figure, ...]) -> dict[str, Figure]:
    return {one.statistic: one for one in found}


def test_shares_are_of_people_who_said_generated(painted_study: Callable[..., Path]) -> None:
    """From made-up people's answers: real images have low shares, known flaws high ones."""
    folder = painted_study(RealismQuestion(name="q", design=Design(raters=30, trials=40)))
    design(folder)
    run_simulated(folder, people=30)
    consolidate(folder)
    found = judged(Store(folder), SHARES)
    counted = (
        Store(folder)
        .read("judgements")
        .filter("used")
        .group_by("image")
        .agg(said=pl.col("value").sum(), asked=pl.len().cast(pl.Int64))
    )
    both = found.labels.join(counted, on="image")
    assert both.height == found.labels.height
    assert (both["value"] * both["answers"] - both["said"]).abs().max() == pytest.approx(0, abs=1e-9)
    assert both["answers"].equals(both["asked"], check_names=False)
    images = Store(folder).read("images").select("image", "real")
    by_kind = dict(both.join(images, on="image").group_by("real").agg(pl.col("value").mean()).iter_rows())
    assert by_kind[True] < by_kind[False] - 0.2


class TestFigures:
    def test_true_shares_beat_the_generators_and_are_calibrated(self, told_study: Path) -> None:
        there = judged(Store(told_study), SHARES)
        truth = detectability(told_study)
        true = {image: float(special.expit(2 * value - 2)) for image, value in truth.items()}
        turned = {image: 1 - share for image, share in true.items()}
        up, down = (
            figures(evaluate(there, SHARES, {"realism": scores}, NO_VOTES, Settings(draws=200)))
            for scores in (true, turned)
        )
        assert up["calibration-error"].value < 2 * up["calibration-error"].ceiling
        assert up["calibration-error"].low < 0.02
        assert down["calibration-error"].low > 0.2
        gain = up["log-likelihood-gain"]
        assert 0 < gain.low < gain.value < gain.high
        assert up["log-likelihood"].value == pytest.approx(up["log-likelihood"].floor + gain.value)
        assert down["log-likelihood-gain"].high < 0
        assert up["pearson-within-generators"].low > 0
        assert up["pearson"].people_low < up["pearson"].value  # errors of the labels are known
        assert up["calibration-error"].items == there.labels.height == 180

    def test_ratings_have_none_of_them(self, told_study: Path) -> None:
        data = Data(labels="ratings", method="share")
        there = judged(Store(told_study), data)
        scores = {"realism": detectability(told_study)}
        assert "calibration-error" not in figures(evaluate(there, data, scores, NO_VOTES, Settings(draws=200)))


class TestStage:
    def test_it_is_trained_calibrated_and_scores_shares(self, told_study: Path) -> None:
        done = run(told_study, recipe())
        assert {"calibration-error", "log-likelihood", "log-likelihood-gain", "spearman"} <= set(
            figures(done.figures)
        )
        model, record = load_checkpoint(done.folder)
        assert isinstance(model, Realism)
        assert record.aspects == ("realism",)
        assert model.module.offset.item() != 0
        scores = Store(told_study).read("predictions")
        assert scores["score"].is_between(0, 1).all()
        curve = Store(told_study).read("training")
        assert curve.filter(measure="log-likelihood")["step"].to_list() == [4, 8]
        assert curve.filter(measure="log-likelihood")["value"].is_between(-5, 0).all()
        card = (done.folder / "README.md").read_text()
        assert "--scorer FOLDER\n" in card
        self.as_a_scorer(told_study, done.folder)

    def as_a_scorer(self, study: Path, folder: Path) -> None:
        """The folder scores images without prompts, as it scored those that were held out."""
        wanted = Store(study).read("predictions").head(5)
        about = recipe_of(str(folder))
        assert (about.needs, about.better) == (("image",), "lower")
        paths = dict(Store(study).read("images").select("image", "path").iter_rows())
        shown = [ScorerInput(decode((study / paths[image]).read_bytes())) for image in wanted["image"]]
        found = load_scorer(str(folder)).score(shown)
        np.testing.assert_allclose(found, wanted["score"].to_numpy(), atol=1e-5)

    def test_more_answers_of_the_same_share_are_other_labels(self, told_study: Path) -> None:
        assert not run(told_study, recipe("training.steps=2")).skipped
        assert run(told_study, recipe("training.steps=2")).skipped
        store = Store(told_study)
        record = store.provenance("labels")
        assert record is not None
        store.write({"labels": store.read("labels").with_columns(answers=pl.lit(12, pl.Int64))}, record)
        assert not run(told_study, recipe("training.steps=2")).skipped

    def test_features_of_frozen_encoders(self, told_study: Path) -> None:
        changes = [
            "model.encoders=['pixel']",
            "training.steps=4",
            "training.batch=16",
            "training.validate_every=2",
        ]
        done = run(told_study, load_recipe("realism", changes))
        assert figures(done.figures)["calibration-error"].value < 0.5
        assert (told_study / "features").is_dir()
