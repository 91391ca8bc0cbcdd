"""A trained model on the labels of another study: rows of its card, and what is refused before any training."""

import shutil
from pathlib import Path

import polars as pl
import pytest

from beholder.errors import LabelsError, UserError
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run
from beholder.learn.transfer import other_data_rows
from beholder.models.weights.checkpoint import WEIGHTS
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

SMALL = [
    *("model.sizes.image_size=32", "model.sizes.image_width=32", "model.sizes.image_layers=1"),
    *("model.sizes.image_heads=2", "model.sizes.text_width=32", "model.sizes.text_layers=1"),
    *("model.sizes.embedding=16", "training.batch=4", "training.warmup=2", "training.steps=2"),
]


def copy_of(study: Path, *, other_prompts: int) -> Path:
    """The same study in another folder; images of so many prompts pass for images of other files."""
    folder = study.with_name("elsewhere")
    shutil.copytree(study, folder)
    store = Store(folder)
    images = store.read("images")
    changed = images["prompt"].unique().sort().head(other_prompts).to_list()
    is_other = pl.col("prompt").is_in(changed)
    changed_hash = pl.when(is_other).then(pl.lit("0000") + pl.col("sha256").str.slice(4)).otherwise("sha256")
    store.write({"images": images.with_columns(sha256=changed_hash)}, Provenance("design", {}, 0, {}))
    return folder


def test_the_card_has_a_row_for_another_study_without_images_of_the_training(paired_study: Path) -> None:
    other = copy_of(paired_study, other_prompts=6)
    recipe = load_recipe("tiny-two-tower", SMALL)
    before = run(paired_study, recipe)
    assert "--test-on OTHER-STUDY" in (before.folder / "README.md").read_text()
    after = run(paired_study, recipe, test_on=[other])
    assert str(after.figures) == str(before.figures)  # it was not trained again; nan is not equal to itself
    (row,) = other_data_rows(before.folder)
    labels = Store(other).read("labels").filter(pl.col("value") != 0.5)
    prompt_of = dict(Store(other).read("images").select("image", "prompt").iter_rows())
    chosen = sorted(set(prompt_of.values()))[:6]
    assert row.items == sum(prompt_of[image] in chosen for image in labels["image"])
    card = (before.folder / "README.md").read_text()
    assert f"| {row.held_out} | preference | pair-accuracy-micro |" in card
    assert "--test-on" not in card


def test_rows_of_other_weights_do_not_count(paired_study: Path) -> None:
    outcome = run(
        paired_study, load_recipe("tiny-two-tower", SMALL), test_on=[copy_of(paired_study, other_prompts=6)]
    )
    assert other_data_rows(outcome.folder)
    (outcome.folder / WEIGHTS).write_bytes((outcome.folder / WEIGHTS).read_bytes() + b" ")
    assert other_data_rows(outcome.folder) == []


def test_the_training_images_again_are_refused_before_training(paired_study: Path) -> None:
    other = copy_of(paired_study, other_prompts=0)
    with pytest.raises(LabelsError, match="in the training study as well"):
        run(paired_study, load_recipe("tiny-two-tower", SMALL), test_on=[other])
    assert not (paired_study / "models").exists()


def test_rich_feedback_is_refused(paired_study: Path) -> None:
    with pytest.raises(UserError, match="leave --test-on out"):
        run(paired_study, load_recipe("tiny-rich-cnn"), test_on=[paired_study])
