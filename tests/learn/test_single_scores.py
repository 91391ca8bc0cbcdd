"""What a trained model says of single scores: widths, unlike images, and rows of unseen generators on its card."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from beholder.api.scoring import score
from beholder.errors import UserError
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.models.text.sentence_encoder import PACKAGE
from beholder.models.training_images import SHIFT_FILE
from beholder.models.weights.checkpoint import read_record
from beholder.rounds.attacks import AttackRounds
from beholder.scorers.catalogue import companion_of, load_scorer
from beholder.tables.store import Store

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")


def recipe(*changes: str) -> Recipe:
    small = ['model.encoders=["pixel"]', "model.width=8", "model.heads=2", "training.steps=3", "training.warmup=1"]
    return load_recipe("metric-transformer", [*small, "split.validation=0.35", *changes])


def test_widths_and_distances_are_kept_with_the_model(rated_study: Path) -> None:
    outcome = run(rated_study, recipe())
    within = read_record(outcome.folder).about["within"]
    assert isinstance(within, dict)
    assert set(within) == {"alignment", "quality"}
    card = (outcome.folder / "README.md").read_text()
    assert f"alignment ±{within['alignment']:.2g}, quality ±{within['quality']:.2g}" in card
    assert (outcome.folder / SHIFT_FILE).is_file()
    assert "unlike those it was trained on" in card
    name = f"{outcome.folder}:quality"
    assert companion_of(name) == f"{outcome.folder}:shift"
    assert companion_of(f"{outcome.folder}:shift") is None

    paths = [rated_study / path for path in Store(rated_study).read("images")["path"]]
    usual = [np.asarray(Image.open(path).convert("RGB")) for path in paths[:40]]
    rng = np.random.default_rng(0)
    noise = [rng.integers(0, 256, (64, 64, 3), dtype=np.uint8) for _ in range(4)]
    shift = load_scorer(f"{outcome.folder}:shift")
    assert (shift(noise) > 1).all()
    assert (shift(usual) > 1).mean() < 0.3
    notes = score(images=noise, prompts="a cat", scorer=name).notes
    assert any(f"within ±{within['quality']:.2g} of raters' mean" in note for note in notes)
    assert any("4 of 4 images (100 %) are unlike those it was trained on" in note for note in notes)
    assert not any("unlike" in note for note in score(images=usual, prompts="a cat", scorer=name).notes)


def test_scores_are_those_that_were_predicted_in_training(rated_study: Path) -> None:
    outcome = run(rated_study, recipe())
    store = Store(rated_study)
    predicted = store.read("predictions").filter(aspect="quality").head(5)
    images = predicted.join(store.read("images"), on="image").join(
        store.read("prompts").select("prompt", "text"), on="prompt", how="left"
    )
    pictures = [np.asarray(Image.open(rated_study / path).convert("RGB")) for path in images["path"]]
    scorer = load_scorer(f"{outcome.folder}:quality")
    np.testing.assert_allclose(scorer(pictures, images["text"].to_list()), images["score"], rtol=1e-4)


def test_too_few_validation_images_give_neither(rated_study: Path) -> None:
    outcome = run(rated_study, recipe("split.validation=0.1"))
    assert read_record(outcome.folder).about["within"] == {}
    assert not (outcome.folder / SHIFT_FILE).exists()
    assert companion_of(f"{outcome.folder}:quality") is None
    assert "was not measured" in (outcome.folder / "README.md").read_text()


def test_a_model_of_pixels_has_distances_of_their_statistics(paired_study: Path) -> None:
    small = ["model.sizes.image_size=32", "model.sizes.image_width=32", "model.sizes.image_layers=1"]
    small += ["model.sizes.image_heads=2", "training.steps=2", "training.batch=4", "split.validation=0.35"]
    outcome = run(paired_study, load_recipe("tiny-two-tower", small))
    noise = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    assert (load_scorer(f"{outcome.folder}:shift")(list(noise)) > 1).all()


def test_transfer_trains_without_each_generator_and_fills_in_the_card(rated_study: Path) -> None:
    before = run(rated_study, recipe())
    assert "--transfer" in (before.folder / "README.md").read_text()
    after = run(rated_study, recipe(), transfer=True)
    assert after.skipped  # the model itself is not trained again
    card = (before.folder / "README.md").read_text()
    assert "| unseen generators, prompts of the training | quality | pearson |" in card
    assert "| unseen prompts and generators | quality | pearson |" in card
    assert "--transfer" not in card
    predictions = Store(rated_study).read("predictions").filter(model="metric-transformer-generator")
    folds = predictions.join(Store(rated_study).read("images"), on="image").group_by("fold")
    generators = folds.agg(pl.col("generator").n_unique())
    assert generators["generator"].to_list() == [1] * 5  # each of five generators is held out once


def test_transfer_with_rounds_is_refused(rated_study: Path) -> None:
    rounds = AttackRounds.__new__(AttackRounds)
    with pytest.raises(UserError, match="leave --rounds or --transfer out"):
        run(rated_study, recipe(), transfer=True, rounds=rounds)
