from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr

from beholder.feedback.heatmap import decode_heatmap, encode_heatmap
from beholder.learn.evaluate import Figure, Settings
from beholder.learn.rich.evaluate import Predicted, rich_figures
from beholder.learn.rich.examples import RichExample, RichJudged
from beholder.learn.splits import Item

SETTINGS = Settings(draws=200)


def made_up(images: int = 60) -> RichJudged:
    """Three images a prompt of four words, every fifth with nothing marked."""
    rng = np.random.default_rng(7)
    examples, items, maps = {}, [], {}
    for place in range(images):
        image, prompt = f"i{place:02d}", f"prompt number {place // 3} here"
        marked = np.zeros((12, 16))
        if place % 5:
            marked[3:8, place % 8 : place % 8 + 5] = rng.integers(1, 4) / 3
        maps[image, "implausibility"] = encode_heatmap(marked)
        words = tuple(bool(word) for word in rng.random(4) < 0.4)
        examples[image] = RichExample(image, prompt, {"overall": rng.random()}, words, ("implausibility",))
        items.append(Item(image, prompt, "g", image))
    return RichJudged("feedback", examples, tuple(items), {}, maps)


def perfect(judged: RichJudged) -> dict[str, Predicted]:
    return {
        image: Predicted(
            one.scores,
            {"implausibility": decode_heatmap(judged.maps[image, "implausibility"]).astype(np.float32)},
            np.array(one.misaligned),
        )
        for image, one in judged.examples.items()
    }


def by_name(figures: list[Figure]) -> dict[tuple[str, str], Figure]:
    return {(one.aspect, one.statistic): one for one in figures}


def test_a_perfect_model() -> None:
    judged = made_up()
    found = by_name(rich_figures(judged, perfect(judged), SETTINGS))
    for statistic in ("pearson", "spearman"):
        assert found["overall", statistic].value == pytest.approx(1)
    assert found["implausibility", "heatmap-mse"].value == pytest.approx(0, abs=1e-12)
    assert found["implausibility", "heatmap-mse-empty"].items == 12
    assert found["implausibility", "heatmap-cc"].items == 48
    for measure in ("cc", "sim", "auc-judd"):
        assert found["implausibility", f"heatmap-{measure}"].value == pytest.approx(1)
    for measure in ("precision", "recall", "f1"):
        assert found["misalignment", f"keyword-{measure}-pooled"].value == 1
        assert found["misalignment", f"keyword-{measure}-by-image"].value == 1


def test_a_noisy_model_by_its_parts() -> None:
    judged = made_up()
    rng = np.random.default_rng(1)
    predicted = {
        image: Predicted(
            {"overall": one.scores["overall"] + 0.3 * rng.standard_normal()},
            {"implausibility": rng.random((6, 8), np.float32)},  # half as large, and made larger
            rng.random(4) < 0.5,
        )
        for image, one in judged.examples.items()
    }
    found = by_name(rich_figures(judged, predicted, SETTINGS))
    people = [one.scores["overall"] for one in judged.examples.values()]
    model = [predicted[image].scores["overall"] for image in judged.examples]
    assert found["overall", "pearson"].value == pytest.approx(pearsonr(model, people).statistic)
    assert abs(found["implausibility", "heatmap-cc"].value) < 0.2
    assert 0.4 < found["implausibility", "heatmap-auc-judd"].value < 0.6
    assert 0.2 < found["misalignment", "keyword-f1-pooled"].value < 0.7
    for one in found.values():
        assert one.low <= one.value <= one.high
        assert one.low < one.high
        assert "over prompts" in one.interval


def test_what_a_model_does_not_predict_is_left_out() -> None:
    judged = made_up()
    silent = {image: Predicted({}, {}, None) for image in judged.examples}
    assert rich_figures(judged, silent, SETTINGS) == []
    only_scores = {image: replace(one, heatmaps={}, misaligned=None) for image, one in perfect(judged).items()}
    assert {one.statistic for one in rich_figures(judged, only_scores, SETTINGS)} == {"pearson", "spearman"}
