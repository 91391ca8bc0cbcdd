from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from beholder.feedback.heatmap import decode_heatmap, encode_heatmap
from beholder.learn.figures.figure import EvaluationSettings, Figure
from beholder.learn.rich.evaluate import Comparison, rich_figures
from beholder.learn.rich.examples import RichExample, RichLabels
from beholder.learn.rich.statistics import RichPrediction
from beholder.learn.splits import Item

SETTINGS = EvaluationSettings(replicates=200)


def synthetic_labels(images: int = 60) -> RichLabels:
    """Three images per prompt of four words; nothing is marked on every fifth."""
    rng = np.random.default_rng(7)
    examples, items, maps = {}, [], {}
    for index in range(images):
        image, prompt = f"i{index:02d}", f"prompt number {index // 3} here"
        marked = np.zeros((12, 16))
        if index % 5:
            marked[3:8, index % 8 : index % 8 + 5] = rng.integers(1, 4) / 3
        maps[image, "implausibility"] = encode_heatmap(marked)
        words = tuple(bool(word) for word in rng.random(4) < 0.4)
        examples[image] = RichExample(image, prompt, {"overall": rng.random()}, words, ("implausibility",))
        items.append(Item(image, prompt, "g", image))
    return RichLabels("feedback", examples, tuple(items), {}, maps)


def perfect(rich_labels: RichLabels) -> dict[str, RichPrediction]:
    return {
        image: RichPrediction(
            example.scores,
            {"implausibility": decode_heatmap(rich_labels.maps[image, "implausibility"]).astype(np.float32)},
            np.array(example.misaligned),
        )
        for image, example in rich_labels.examples.items()
    }


def by_name(figures: list[Figure]) -> dict[tuple[str, str], Figure]:
    return {(figure.aspect, figure.statistic): figure for figure in figures}


def test_a_perfect_model() -> None:
    rich_labels = synthetic_labels()
    figures = by_name(rich_figures(rich_labels, perfect(rich_labels), SETTINGS))
    for statistic in ("pearson", "spearman"):
        assert figures["overall", statistic].value == pytest.approx(1)
    assert figures["implausibility", "heatmap-mse"].value == pytest.approx(0, abs=1e-12)
    assert figures["implausibility", "heatmap-mse-empty"].items == 12
    assert figures["implausibility", "heatmap-cc"].items == 48
    for measure in ("cc", "sim", "auc-judd"):
        assert figures["implausibility", f"heatmap-{measure}"].value == pytest.approx(1)
    for measure in ("precision", "recall", "f1"):
        assert figures["misalignment", f"keyword-{measure}-pooled"].value == 1
        assert figures["misalignment", f"keyword-{measure}-by-image"].value == 1


def test_a_noisy_model_by_its_parts() -> None:
    rich_labels = synthetic_labels()
    rng = np.random.default_rng(1)
    predicted = {
        image: RichPrediction(
            {"overall": example.scores["overall"] + 0.3 * rng.standard_normal()},
            {"implausibility": rng.random((6, 8), np.float32)},  # half as large, and resized
            rng.random(4) < 0.5,
        )
        for image, example in rich_labels.examples.items()
    }
    figures = by_name(rich_figures(rich_labels, predicted, SETTINGS))
    raters = [example.scores["overall"] for example in rich_labels.examples.values()]
    model = [predicted[image].scores["overall"] for image in rich_labels.examples]
    assert figures["overall", "pearson"].value == pytest.approx(pearsonr(model, raters).statistic)
    assert abs(figures["implausibility", "heatmap-cc"].value) < 0.2
    assert 0.4 < figures["implausibility", "heatmap-auc-judd"].value < 0.6
    assert 0.2 < figures["misalignment", "keyword-f1-pooled"].value < 0.7
    for figure in figures.values():
        assert figure.low <= figure.value <= figure.high
        assert figure.low < figure.high
        assert "over prompts" in figure.interval


def test_what_a_model_does_not_predict_is_left_out() -> None:
    rich_labels = synthetic_labels()
    silent = {image: RichPrediction({}, {}, None) for image in rich_labels.examples}
    assert rich_figures(rich_labels, silent, SETTINGS) == []
    only_scores = {
        image: replace(prediction, heatmaps={}, misaligned=None)
        for image, prediction in perfect(rich_labels).items()
    }
    assert {figure.statistic for figure in rich_figures(rich_labels, only_scores, SETTINGS)} == {
        "pearson",
        "spearman",
    }


def noisy(rich_labels: RichLabels, noise: float, seed: int) -> dict[str, RichPrediction]:
    """Scores alone, those of raters with noise."""
    rng = np.random.default_rng(seed)
    return {
        image: RichPrediction({"overall": example.scores["overall"] + noise * rng.standard_normal()}, {}, None)
        for image, example in rich_labels.examples.items()
    }


def test_differences_between_groups_of_models_are_paired() -> None:
    rich_labels = synthetic_labels()
    models = {
        "exact-0": noisy(rich_labels, 0.2, 0),
        "exact-1": noisy(rich_labels, 0.2, 1),
        "vague": noisy(rich_labels, 0.6, 2),
        "same": noisy(rich_labels, 0.6, 2),
    }
    comparison = Comparison(rich_labels, models, SETTINGS)
    each = {name: by_name(rich_figures(rich_labels, models[name], SETTINGS)) for name in models}
    pearson = {name: figures["overall", "pearson"].value for name, figures in each.items()}
    better = by_name(comparison.differences(["exact-0", "exact-1"], ["vague"]))["overall", "pearson"]
    assert better.value == pytest.approx((pearson["exact-0"] + pearson["exact-1"]) / 2 - pearson["vague"])
    assert 0 < better.low < better.value < better.high
    none = by_name(comparison.differences(["same"], ["vague"]))["overall", "pearson"]
    assert (none.low, none.value, none.high) == (0, 0, 0)  # two models that err alike differ in no replicate
    mean = comparison.means(["exact-0", "exact-1"])[0]
    assert mean.values == pytest.approx((pearson["exact-0"], pearson["exact-1"]))
    assert mean.figure.value == pytest.approx(np.mean(mean.values))
