"""The baselines by their recipes, through the same stage and into the same tables as the model itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli.evaluate import evaluate
from beholder.errors import RecipeError
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
SMALL_CNN = ["model.encoder=", "model.side=32", "model.stem=8", "model.widths=[8, 16]", "model.depths=[1, 1]"]


@pytest.mark.parametrize(
    ("name", "changes", "predicted", "unpredicted"),
    [
        ("tiny-rich-cnn", SMALL_CNN, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
        ("tiny-rich-similarity", SMALL_TOWERS, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
        ("tiny-rich-similarity-tuned", SMALL_TOWERS, {"pearson", "heatmap-cc"}, {"keyword-f1-pooled"}),
    ],
)
def test_what_a_baseline_gives_is_evaluated_and_no_more(
    name: str, changes: list[str], predicted: set[str], unpredicted: set[str], rich_study: Path
) -> None:
    outcome = run(rich_study, load_recipe(name, [*SHORT, *changes]))
    statistics = {figure.statistic for figure in outcome.figures}
    assert statistics >= predicted
    assert not statistics & unpredicted


def test_baselines_side_by_side_with_the_model(rich_study: Path, rich_recipe: Callable[..., Recipe]) -> None:
    run(rich_study, rich_recipe("training.steps=2"))
    for seed in (0, 1):
        recipe = load_recipe("tiny-rich-cnn", [*SHORT, *SMALL_CNN, f"training.seed={seed}"])
        run(rich_study, recipe, name=f"cnn-{seed}")
    rows = ["tiny-rich-feedback", "--together", "cnn=cnn-0,cnn-1"]
    printed = CliRunner().invoke(evaluate, [str(rich_study), *rows])
    assert printed.exit_code == 0, printed.output
    assert printed.output.count("\ncnn ") >= 3  # scores and both heatmaps
    assert "±" in printed.output


def test_both_see_through_one_frozen_encoder(rich_study: Path) -> None:
    shrunk = [
        *("model.image.width=16", "model.image.heads=2", "model.text.width=16", "model.text.layers=1"),
        *("model.text.inner=16", "model.text.decoder_layers=1", "model.heads.heatmap=[8]", "rich.named=0.2"),
    ]
    run(rich_study, load_recipe("tiny-rich-feedback", [*SHORT, *shrunk]))
    features = list((rich_study / "features").iterdir())
    run(rich_study, load_recipe("tiny-rich-cnn", SHORT))
    assert list((rich_study / "features").iterdir()) == features  # computed once
    printed = CliRunner().invoke(evaluate, [str(rich_study), "tiny-rich-feedback", "tiny-rich-cnn"])
    assert printed.exit_code == 0, printed.output


def test_settings_without_effect_are_refused(rich_study: Path) -> None:
    changed = load_recipe("tiny-rich-cnn", [*SHORT, "rich.crop=0.5", "rich.named=1"])
    with pytest.raises(RecipeError) as refused:
        run(rich_study, changed)
    assert [fault.partition(" is ")[0] for fault in refused.value.faults] == ["crop", "named"]
    with pytest.raises(RecipeError, match=r"rich.named \(3\) must be less than training.epochs \(2\)"):
        load_recipe("tiny-rich-feedback", ["rich.named=3", "training.epochs=2"])
