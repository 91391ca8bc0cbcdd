"""The paper's tables: on predictions made by hand, over seeds, and of models that were trained."""

import csv
import json
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
from beholder.learn.evaluate import Settings
from beholder.learn.recipe import Recipe
from beholder.learn.rich.evaluate import Predicted
from beholder.learn.rich.examples import RichExample, RichJudged, rich_judged
from beholder.learn.rich.tables import TABLES, flat, row_of
from beholder.learn.rich.trained import held_out
from beholder.learn.rich.truth import true_feedback
from beholder.learn.splits import Item
from beholder.learn.stage import run
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SETTINGS = Settings(draws=200)
EDGE = np.array([[1.0, 0.0], [0.0, 0.0]], np.float32)


def by_hand() -> tuple[RichJudged, dict[str, Predicted]]:
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
    maps = {(name, "implausibility"): encode_heatmap(one) for name, one in zip(names, marked, strict=True)}
    items = tuple(Item(name, prompt, "g", name) for name, prompt in zip(names, prompts, strict=True))
    said = {
        "a": Predicted({"overall": 0.1}, {"implausibility": EDGE}, np.array([0.9, 0.2])),
        "b": Predicted({"overall": 0.4}, {"implausibility": 0 * EDGE + 0.5}, np.array([0.9, 0.2])),
        "c": Predicted({"overall": 0.3}, {"implausibility": EDGE}, np.array([0.7, np.nan])),
        "d": Predicted({"overall": 0.9}, {"implausibility": 0 * EDGE + 0.5}, np.array([0.1, 0.1])),
    }
    return RichJudged("q", examples, items, {}, maps), said


def values(judged: RichJudged, *models: Mapping[str, Predicted]) -> dict[tuple[str, str], float]:
    return {key: cell.figure.value for key, cell in row_of("x", judged, models, SETTINGS).cells.items()}


class TestByHand:
    def test_every_column(self) -> None:
        found = values(*by_hand())
        people, model = [0, 0.25, 0.5, 1], [0.1, 0.4, 0.3, 0.9]
        assert found["overall", "pearson"] == pytest.approx(pearsonr(people, model).statistic)
        assert found["overall", "spearman"] == pytest.approx(spearmanr(people, model).statistic)
        # a: right; b, d: ½ everywhere; c: the wrong corner, where 2 of 4 pixels differ
        assert found["implausibility", "heatmap-mse"] == pytest.approx((0 + 0.25 + 0.5 + 0.25) / 4)
        assert found["implausibility", "heatmap-mse-empty"] == pytest.approx(0.25)
        # r of two single corners: (0 − ¼ · ¼) / (¼ · ¾) = −⅓; a constant map has 0
        assert found["implausibility", "heatmap-cc"] == pytest.approx((1 + 0 - 1 / 3) / 3)
        # thresholds lie at fixated pixels alone: one above all others; elsewhere one at which all pixels are in
        assert found["implausibility", "heatmap-auc-judd"] == pytest.approx((1 + 0.5 + 0.5) / 3)
        # marked by both: red, red; by the model alone: blue; by people alone: the second cat
        for name, expected in (("precision", 2 / 3), ("recall", 2 / 3), ("f1", 2 / 3)):
            assert found["misalignment", f"keyword-{name}-pooled"] == pytest.approx(expected)
        # a: 1; b: F1 of one of two is ⅔; c: 0; d: nobody marked a word
        assert found["misalignment", "keyword-f1-by-image"] == pytest.approx((1 + 2 / 3 + 0) / 3)

    def test_seeds_together_are_their_mean_with_their_spread(self) -> None:
        judged, said = by_hand()
        other = {name: Predicted({"overall": 1 - one.scores["overall"]}, {}, None) for name, one in said.items()}
        alone = [values(judged, one)["overall", "pearson"] for one in (said, other)]
        row = row_of("both", judged, [said, other], SETTINGS)
        assert row.models == 2
        cell = row.cells["overall", "pearson"]
        assert cell.figure.value == pytest.approx(0)  # r and −r
        assert cell.spread == pytest.approx(np.std(alone, ddof=1))
        assert {aspect for aspect, _ in row.cells} == {"overall"}  # what one of them lacks is left out

    def test_the_same_model_twice_has_the_interval_of_one(self) -> None:
        judged, said = crowd()
        once, twice = (row_of("x", judged, [said] * count, SETTINGS).cells for count in (1, 2))
        assert once.keys() == twice.keys()
        for key, cell in once.items():
            assert twice[key].spread == pytest.approx(0, abs=1e-12)
            assert np.isnan(cell.spread)
            for end in ("value", "low", "high"):
                assert getattr(twice[key].figure, end) == pytest.approx(getattr(cell.figure, end), abs=1e-12)

    def test_more_seeds_with_noise_of_their_own_narrow_no_interval_over_prompts_to_nothing(self) -> None:
        judged, _ = crowd()
        rng = np.random.default_rng(3)
        models = [crowd(noise=rng.normal(0, 0.2, 60))[1] for _ in range(3)]
        cell = row_of("x", judged, models, SETTINGS).cells["overall", "pearson"]
        assert 0 < cell.spread < 0.2
        assert 0.02 < cell.figure.high - cell.figure.low < 0.5
        assert cell.figure.low < cell.figure.value < cell.figure.high

    def test_records(self) -> None:
        judged, said = by_hand()
        records = list(flat([row_of("mine", judged, [said], SETTINGS)]))
        assert {one["table"] for one in records} == {"scores", "implausibility-heatmap", "keywords"}
        assert all(one["row"] == "mine" and one["spread"] is None for one in records)
        mse = next(one for one in records if one["statistic"] == "heatmap-mse")
        assert (mse["aspect"], mse["items"], mse["prompts"]) == ("implausibility", 4, 2)
        assert json.loads(json.dumps(records, allow_nan=False)) == records


def crowd(noise: NDArray[np.float64] | float = 0.1) -> tuple[RichJudged, dict[str, Predicted]]:
    """Sixty images of twenty prompts."""
    rng = np.random.default_rng(0)
    truth = rng.random(60)
    names = [f"i{place:02d}" for place in range(60)]
    examples = {
        name: RichExample(name, f"prompt {place // 3}", {"overall": truth[place]}, None, ())
        for place, name in enumerate(names)
    }
    said = truth + (noise if isinstance(noise, np.ndarray) else rng.normal(0, noise, 60))
    predicted = {name: Predicted({"overall": said[place]}, {}, None) for place, name in enumerate(names)}
    return RichJudged("q", examples, (), {}, {}), predicted


class TestTruth:
    def test_it_is_what_was_planted(self, rich_study: Path) -> None:
        store = Store(rich_study)
        judged = rich_judged(store)
        known = true_feedback(store, judged, judged.examples)
        assert known is not None
        assert known.keys() == judged.examples.keys()
        found = values(judged, known)
        assert found["plausibility", "pearson"] > 0.5
        assert found["implausibility", "heatmap-auc-judd"] > 0.7
        assert found["misalignment", "keyword-f1-pooled"] > 0.5

    def test_a_study_of_real_people_has_none(self, rich_study: Path) -> None:
        for file in (rich_study / "truth").iterdir():
            file.unlink()
        judged = rich_judged(Store(rich_study))
        assert true_feedback(Store(rich_study), judged, judged.examples) is None


class TestTrained:
    def test_the_whole_command(self, rich_study: Path, rich_recipe: Callable[..., Recipe], tmp_path: Path) -> None:
        for seed in (0, 1):
            brief = rich_recipe("training.steps=1", f"training.seed={seed}")
            learnt = run(rich_study, brief, name=f"x-seed-{seed}")
        table = tmp_path / "figures.csv"
        together = ["--together", "x=x-seed-0,x-seed-1"]
        arguments = [str(rich_study), "x-seed-1", *together, "--csv", str(table)]
        shown = CliRunner().invoke(evaluate, arguments, catch_exceptions=False)
        assert shown.exit_code == 0, shown.output
        for told in (*(one.title for one in TABLES), "truth", "x-seed-1", "plausibility PLCC", "±"):
            assert told in shown.output
        records = json.loads(CliRunner().invoke(evaluate, [*arguments, "--json"]).output)
        own = {(one["aspect"], one["statistic"]): one for one in records["figures"] if one["row"] == "x-seed-1"}
        for figure in learnt.figures:  # the figures that learning told, from what was kept
            assert own[figure.aspect, figure.statistic]["value"] == pytest.approx(figure.value, nan_ok=True)
        rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
        assert len(rows) == len(records["figures"])
        assert {row["row"] for row in rows} == {"x-seed-1", "x", "truth"}
        assert {row["models"] for row in rows if row["row"] == "x"} == {"2"}

    def test_predictions_are_made_again_where_weights_are_others(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        place = run(rich_study, rich_recipe("training.steps=1"), name="one").folder
        kept = read_predictions(place / FILE_NAME)
        assert kept is not None
        expected = held_out(rich_study, ["one"]).said["one"]
        for damage in ("none", "bytes", "weights"):
            if damage == "none":
                (place / FILE_NAME).unlink()
            elif damage == "bytes":
                (place / FILE_NAME).write_bytes(b"PK nonsense")
            else:
                stale = type(kept)(kept.images, {}, {}, [], "of other weights")
                write_predictions(place / FILE_NAME, stale)
            again = held_out(rich_study, ["one"]).said["one"]
            assert {name: one.scores for name, one in again.items()} == {
                name: one.scores for name, one in expected.items()
            }

    def test_all_that_cannot_be_compared_at_once(
        self, rich_study: Path, rich_recipe: Callable[..., Recipe]
    ) -> None:
        brief = ("training.steps=1",)
        run(rich_study, rich_recipe(*brief), name="one")
        run(rich_study, rich_recipe(*brief, "split.seed=5"), name="other-split")
        with pytest.raises(FaultsError) as told:
            held_out(rich_study, ["one", "gone", "other-split"])
        assert len(told.value.faults) == 2
        assert told.value.faults[0] == "gone: no trained model is there; below models/: one, other-split"
        assert "other-split: tested on other images than one" in told.value.faults[1]

    def test_feedback_that_has_changed_since(self, rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
        run(rich_study, rich_recipe("training.steps=1"), name="one")
        store = Store(rich_study)
        labels = store.read("labels")
        store.write(
            {"labels": labels.with_columns(value=labels["value"] / 2)}, Provenance("consolidate", {}, 0, {})
        )
        with pytest.raises(FaultsError, match="was trained by other feedback or images"):
            held_out(rich_study, ["one"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no model"),
        (["a", "a"], "named twice"),
        (["a", "--together", "a=b,c"], "a row 'a' already"),
        (["--together", "x"], "expected NAME=MODEL"),
        (["--together", "x=b,b", "--together", "=c"], "twice\n--together =c"),
    ],
)
def test_names_that_do_not_fit(arguments: list[str], says: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as told:
        CliRunner().invoke(evaluate, [str(tmp_path), *arguments], catch_exceptions=False, standalone_mode=False)
    assert says in str(told.value)
