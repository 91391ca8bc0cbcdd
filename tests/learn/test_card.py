"""The model card: whether raters were simulated, and whether the model beats the generator-mean baseline."""

import polars as pl
import pytest

from beholder.learn.card import TrainingData, baseline_verdicts, render_card
from beholder.learn.figures.figure import Figure
from beholder.learn.recipe import load_recipe
from beholder.study.kinds.pair import PairQuestion
from beholder.study.study import Study

DATA = TrainingData("3 labels", (), 3, "beholder score")


def card(*simulated: bool) -> str:
    raters = [f"r{number}" for number in range(len(simulated))]
    sessions = pl.DataFrame({"rater": raters, "simulated": simulated}, schema={"rater": str, "simulated": bool})
    study = Study(name="s", title="S", questions=[PairQuestion(name="q")])
    return render_card(load_recipe("tiny-two-tower"), study, DATA, [], 1.0, sessions)


@pytest.mark.parametrize(
    ("simulated", "words"),
    [((True, True), "All raters are simulated"), ((True, False, False), "1 of 3 raters are simulated")],
)
def test_simulated_raters_are_named(simulated: tuple[bool, ...], words: str) -> None:
    assert words in card(*simulated)


def test_people_need_no_warning() -> None:
    assert "simulated" not in card(False, False)
    assert "simulated" not in card()


@pytest.mark.parametrize(
    ("value", "low", "words"),
    [
        (0.6, 0.5, "beats the generator-mean baseline (spearman .600 [.500, .700], baseline .400)"),
        (0.6, 0.3, "is ahead of the generator-mean baseline, but not significantly"),
        (0.3, 0.2, "does not beat the generator-mean baseline"),
    ],
)
def test_the_baseline_verdict(value: float, low: float, words: str) -> None:
    figures = [
        Figure("quality", "rmse", 1.0, floor=2.0),
        Figure("quality", "spearman", value, low, 0.7, floor=0.4),
        Figure("quality", "kendall", 0.9, 0.8, 1.0, floor=0.1),
    ]
    (sentence,) = baseline_verdicts(figures)
    assert words in sentence
