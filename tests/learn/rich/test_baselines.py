"""The baselines by their recipes, through the same stage and into the same tables as the model itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli.evaluate import evaluate
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run

SHORT = [
    *("training.batch=4", "training.warmup=1", "training.steps=2", "training.validate_every=2"),
    *("split.test=0.2", "split.validation=0.2"),
]
SMALL_TOWERS = [
    f"model.towers.sizes.{setting}"
    for setting in ("image_size=16", "image_width=16", "image_layers=1", "text_width=16", "text_layers=1")
]
SMALL_CNN = ["model.side=32", "model.stem=8", "model.widths=[8, 16]", "model.depths=[1, 1]"]


@pytest.mark.parametrize(
    ("name", "changes", "said", "unsaid"),
    [
        ("tiny-rich-cnn", SMALL_CNN, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
        ("tiny-rich-similarity", SMALL_TOWERS, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
        ("tiny-rich-similarity-tuned", SMALL_TOWERS, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
    ],
)
def test_what_a_baseline_gives_is_evaluated_and_no_more(
    name: str, changes: list[str], said: set[str], unsaid: set[str], rich_study: Path
) -> None:
    done = run(rich_study, load_recipe(name, [*SHORT, *changes]))
    given = {one.statistic for one in done.figures}
    assert given >= said
    assert not given & unsaid


def test_baselines_stand_beside_the_model(rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
    run(rich_study, rich_recipe("training.steps=2"))
    for seed in (0, 1):
        recipe = load_recipe("tiny-rich-cnn", [*SHORT, *SMALL_CNN, f"training.seed={seed}"])
        run(rich_study, recipe, name=f"cnn-{seed}")
    rows = ["tiny-rich-feedback", "--together", "cnn=cnn-0,cnn-1"]
    shown = CliRunner().invoke(evaluate, [str(rich_study), *rows])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("\ncnn ") >= 3  # scores and both heatmaps
    assert "±" in shown.output
