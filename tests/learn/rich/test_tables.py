"""The paper's tables: on predictions made by hand, over seeds, and of models that were trained."""

import csv
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from beholder.cli.evaluate import evaluate
from beholder.errors import FaultsError, UserError
from beholder.feedback.heatmap import encode_heatmap
from beholder.feedback.predictions import FILE_NAME, read_predictions, write_predictions
from beholder.learn.figures.figure import EvaluationSettings
from beholder.learn.recipe import Recipe
from beholder.learn.rich.examples import RichExample, RichLabels, read_rich_labels
from beholder.learn.rich.ground_truth import ground_truth_feedback
from beholder.learn.rich.held_out import predict_held_out
from beholder.learn.rich.statistics import RichPrediction
from beholder.learn.rich.tables import TABLES, evaluate_row, flatten_rows
from beholder.learn.splits import Item
from beholder.learn.stage import run
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SETTINGS = EvaluationSettings(replicates=200)
EDGE = np.array([[1.0, 0.0], [0.0, 0.0]], np.float32)


def by_hand() -> tuple[RichLabels, dict[str, RichPrediction]]:
    """Four images of two prompts; nothing is wrong with the last."""
    overall = (0.0, 0.25, 0.5, 1.0)
    marked = [EDGE, EDGE, EDGE.T[::-1], 0 * EDGE]
    words = [(True, False), (True, True), (False, False), (False, False)]
    names = ("a", "b", "c", "d")
    prompts = ("red cat", "red cat", "blue dog", "blue dog")
    examples = {
        name: RichExample(name, prompt, {"overall": score}, flags, ("implausibility",))
        for name, prompt, score, flags in zip(names, prompts, overall, words, strict=True)
    }
    maps = {(name, "implausibility"): encode_heatmap(heatmap) for name, heatmap in zip(names, marked, strict=True)}
    items = tuple(Item(name, prompt, "g", name) for name, prompt in zip(names, prompts, strict=True))
    predictions = {
        "a": RichPrediction({"overall": 0.1}, {"implausibility": EDGE}, np.array([0.9, 0.2])),
        "b": RichPrediction({"overall": 0.4}, {"implausibility": 0 * EDGE + 0.5}, np.array([0.9, 0.2])),
        "c": RichPrediction({"overall": 0.3}, {"implausibility": EDGE}, np.array([0.7, np.nan])),
        "d": RichPrediction({"overall": 0.9}, {"implausibility": 0 * EDGE + 0.5}, np.array([0.1, 0.1])),
    }
    return RichLabels("q", examples, items, {}, maps), predictions


def values(rich_labels: RichLabels, *models: Mapping[str, RichPrediction]) -> dict[tuple[str, str], float]:
    return {key: cell.figure.value for key, cell in evaluate_row("x", rich_labels, models, SETTINGS).cells.items()}


class TestByHand:
    def test_every_column(self) -> None:
        statistics = values(*by_hand())
        raters, model = [0, 0.25, 0.5, 1], [0.1, 0.4, 0.3, 0.9]
        assert statistics["overall", "pearson"] == pytest.approx(pearsonr(raters, model).statistic)
        assert statistics["overall", "spearman"] == pytest.approx(spearmanr(raters, model).statistic)
        # a: right; b, d: ½ everywhere; c: the wrong corner, where 2 of 4 pixels differ
        assert statistics["implausibility", "heatmap-mse"] == pytest.approx((0 + 0.25 + 0.5 + 0.25) / 4)
        assert statistics["implausibility", "heatmap-mse-empty"] == pytest.approx(0.25)
        # r of two single corners: (0 − ¼ · ¼) / (¼ · ¾) = −⅓; a constant map has 0
        assert statistics["implausibility", "heatmap-cc"] == pytest.approx((1 + 0 - 1 / 3) / 3)
        # thresholds lie at fixated pixels alone: one above all others; elsewhere one at which all pixels are in
        assert statistics["implausibility", "heatmap-auc-judd"] == pytest.approx((1 + 0.5 + 0.5) / 3)
        # marked by both: red, red; by the model alone: blue; by raters alone: the second cat
        for name, expected in (("precision", 2 / 3), ("recall", 2 / 3), ("f1", 2 / 3)):
            assert statistics["misalignment", f"keyword-{name}-pooled"] == pytest.approx(expected)
        # a: 1; b: F1 of one of two is ⅔; c: 0; d: no rater marked a word
        assert statistics["misalignment", "keyword-f1-by-image"] == pytest.approx((1 + 2 / 3 + 0) / 3)

    def test_seeds_together_are_their_mean_with_their_spread(self) -> None:
        rich_labels, predictions = by_hand()
        complements = {
            name: RichPrediction({"overall": 1 - prediction.scores["overall"]}, {}, None)
            for name, prediction in predictions.items()
        }
        alone = [values(rich_labels, model)["overall", "pearson"] for model in (predictions, complements)]
        row = evaluate_row("both", rich_labels, [predictions, complements], SETTINGS)
        assert row.models == 2
        cell = row.cells["overall", "pearson"]
        assert cell.figure.value == pytest.approx(0)  # r and −r
        assert cell.spread == pytest.approx(np.std(alone, ddof=1))
        assert {aspect for aspect, _ in row.cells} == {"overall"}  # what one of them lacks is left out

    def test_the_same_model_twice_has_the_interval_of_one(self) -> None:
        rich_labels, predictions = many_images()
        once, twice = (evaluate_row("x", rich_labels, [predictions] * count, SETTINGS).cells for count in (1, 2))
        assert once.keys() == twice.keys()
        for key, cell in once.items():
            assert twice[key].spread == pytest.approx(0, abs=1e-12)
            assert np.isnan(cell.spread)
            for end in ("value", "low", "high"):
                assert getattr(twice[key].figure, end) == pytest.approx(getattr(cell.figure, end), abs=1e-12)

    def test_more_seeds_with_noise_of_their_own_narrow_no_interval_over_prompts_to_nothing(self) -> None:
        rich_labels, _ = many_images()
        rng = np.random.default_rng(3)
        models = [many_images(noise=rng.normal(0, 0.2, 60))[1] for _ in range(3)]
        cell = evaluate_row("x", rich_labels, models, SETTINGS).cells["overall", "pearson"]
        assert 0 < cell.spread < 0.2
        assert 0.02 < cell.figure.high - cell.figure.low < 0.5
        assert cell.figure.low < cell.figure.value < cell.figure.high

    def test_records(self) -> None:
        rich_labels, predictions = by_hand()
        records = list(flatten_rows([evaluate_row("mine", rich_labels, [predictions], SETTINGS)]))
        assert {record["table"] for record in records} == {"scores", "implausibility-heatmap", "keywords"}
        assert all(record["row"] == "mine" and record["spread"] is None for record in records)
        mse = next(record for record in records if record["statistic"] == "heatmap-mse")
        assert (mse["aspect"], mse["items"], mse["prompts"]) == ("implausibility", 4, 2)
        assert json.loads(json.dumps(records, allow_nan=False)) == records


def many_images(noise: NDArray[np.float64] | float = 0.1) -> tuple[RichLabels, dict[str, RichPrediction]]:
    """Sixty images of twenty prompts."""
    rng = np.random.default_rng(0)
    truth = rng.random(60)
    names = [f"i{index:02d}" for index in range(60)]
    examples = {
        name: RichExample(name, f"prompt {index // 3}", {"overall": truth[index]}, None, ())
        for index, name in enumerate(names)
    }
    predicted_scores = truth + (noise if isinstance(noise, np.ndarray) else rng.normal(0, noise, 60))
    predicted = {
        name: RichPrediction({"overall": predicted_scores[index]}, {}, None) for index, name in enumerate(names)
    }
    return RichLabels("q", examples, (), {}, {}), predicted


class TestGroundTruth:
    def test_it_agrees_with_the_raters(self, rich_study: Path) -> None:
        store = Store(rich_study)
        rich_labels = read_rich_labels(store)
        truth = ground_truth_feedback(store, rich_labels, rich_labels.examples)
        assert truth is not None
        assert truth.keys() == rich_labels.examples.keys()
        statistics = values(rich_labels, truth)
        assert statistics["plausibility", "pearson"] > 0.5
        assert statistics["implausibility", "heatmap-auc-judd"] > 0.7
        assert statistics["misalignment", "keyword-f1-pooled"] > 0.5

    def test_a_study_that_is_not_synthetic_has_none(self, rich_study: Path) -> None:
        for file in (rich_study / "truth").iterdir():
            file.unlink()
        rich_labels = read_rich_labels(Store(rich_study))
        assert ground_truth_feedback(Store(rich_study), rich_labels, rich_labels.examples) is None


class TestTrained:
    def test_the_whole_command(self, rich_study: Path, rich_recipe: Callable[..., Recipe], tmp_path: Path) -> None:
        for seed in (0, 1):
            brief = rich_recipe("training.steps=1", f"training.seed={seed}")
            outcome = run(rich_study, brief, name=f"x-seed-{seed}")
        table = tmp_path / "figures.csv"
        together = ["--together", "x=x-seed-0,x-seed-1"]
        arguments = [str(rich_study), "x-seed-1", *together, "--csv", str(table)]
        printed = CliRunner().invoke(evaluate, arguments, catch_exceptions=False)
        assert printed.exit_code == 0, printed.output
        for expected in (*(each.title for each in TABLES), "truth", "x-seed-1", "plausibility PLCC", "±"):
            assert expected in printed.output
        records = json.loads(CliRunner().invoke(evaluate, [*arguments, "--json"]).output)
        own = {
            (record["aspect"], record["statistic"]): record
            for record in records["figures"]
            if record["row"] == "x-seed-1"
        }
        for figure in outcome.figures:  # the same figures as of training, from the saved predictions
            value = own[figure.aspect, figure.statistic]["value"]  # none where scores are constant, after one step
            assert value == (None if math.isnan(figure.value) else pytest.approx(figure.value))
        rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
        assert len(rows) == len(records["figures"])
        assert {row["row"] for row in rows} == {"x-seed-1", "x", "truth"}
        assert {row["models"] for row in rows if row["row"] == "x"} == {"2"}

    def test_predictions_are_made_again_where_weights_are_others(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        folder = run(rich_study, rich_recipe("training.steps=1"), name="one").folder
        saved = read_predictions(folder / FILE_NAME)
        assert saved is not None
        expected = predict_held_out(rich_study, ["one"]).by_model["one"]
        for damage in ("none", "bytes", "weights"):
            if damage == "none":
                (folder / FILE_NAME).unlink()
            elif damage == "bytes":
                (folder / FILE_NAME).write_bytes(b"PK nonsense")
            else:
                stale = type(saved)(saved.images, {}, {}, [], "of other weights")
                write_predictions(folder / FILE_NAME, stale)
            again = predict_held_out(rich_study, ["one"]).by_model["one"]
            assert {name: prediction.scores for name, prediction in again.items()} == {
                name: prediction.scores for name, prediction in expected.items()
            }

    def test_all_that_cannot_be_compared_at_once(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        brief = ("training.steps=1",)
        run(rich_study, rich_recipe(*brief), name="one")
        run(rich_study, rich_recipe(*brief, "split.seed=5"), name="other-split")
        with pytest.raises(FaultsError) as refused:
            predict_held_out(rich_study, ["one", "gone", "other-split"])
        assert len(refused.value.faults) == 2
        assert refused.value.faults[0] == "gone: no trained model has this name; below models/: one, other-split"
        assert "other-split: tested on other images than one" in refused.value.faults[1]

    def test_feedback_that_has_changed_since(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        run(rich_study, rich_recipe("training.steps=1"), name="one")
        store = Store(rich_study)
        labels = store.read("labels")
        store.write(
            {"labels": labels.with_columns(value=labels["value"] / 2)}, Provenance("consolidate", {}, 0, {})
        )
        with pytest.raises(FaultsError, match="was trained on other feedback or images"):
            predict_held_out(rich_study, ["one"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no model"),
        (["a", "a"], "named twice"),
        (["a", "--together", "a=b,c"], "a row 'a' already"),
        (["--together", "x"], "expected NAME=MODEL"),
        (["--together", "x=b,b", "--together", "=c"], "twice\n--together =c"),
    ],
)
def test_names_that_do_not_fit(arguments: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        CliRunner().invoke(evaluate, [str(tmp_path), *arguments], catch_exceptions=False, standalone_mode=False)
    assert message in str(refused.value)
