"""What a trained model says of single scores: widths, unlike images, and rows of unseen generators on its card."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from safetensors.numpy import save_file

from beholder.api.scoring import score
from beholder.errors import UserError
from beholder.learn import shift
from beholder.learn.recipe import Recipe, load_recipe
from beholder.learn.stage import run
from beholder.models.shift import altered_set, light
from beholder.models.shift.train import FEWEST
from beholder.models.shift.warning import read_warning
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


@pytest.fixture
def enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the warning be trained on as many images as the studies have."""
    monkeypatch.setattr(shift, "MOST", 120)
    monkeypatch.setattr(altered_set, "FEWEST_EACH", 4)


@pytest.mark.usefixtures("enough")
def test_widths_and_a_warning_are_kept_with_the_model(rated_study: Path) -> None:
    outcome = run(rated_study, recipe())
    within = read_record(outcome.folder).about["within"]
    assert isinstance(within, dict)
    assert set(within) == {"alignment", "quality"}
    card = (outcome.folder / "README.md").read_text()
    assert f"alignment ±{within['alignment']:.2g}, quality ±{within['quality']:.2g}" in card
    assert (outcome.folder / SHIFT_FILE).is_file()
    warning = read_warning(outcome.folder / SHIFT_FILE)
    looked = "looks at `efficientnet-lite0-details`, `pixel-statistics`"
    assert f"{looked}. It was trained against {warning.altered} altered" in card
    assert f"calibrated on {warning.images} training and validation images" in card
    assert warning.images > 60
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


def test_too_few_images_give_neither(rated_study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shift, "MOST", FEWEST - 1)
    outcome = run(rated_study, recipe("split.validation=0.1"))
    assert read_record(outcome.folder).about["within"] == {}
    assert not (outcome.folder / SHIFT_FILE).exists()
    assert companion_of(f"{outcome.folder}:quality") is None
    card = (outcome.folder / "README.md").read_text()
    assert "was not measured" in card
    assert "Nothing warns of images unlike those it was trained on: that takes 20 images." in card


def test_without_the_light_encoder_statistics_of_pixels_warn_alone(
    rated_study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(light, "file_in_package", lambda *_: None)
    outcome = run(rated_study, recipe())
    assert read_warning(outcome.folder / SHIFT_FILE).encoders == ("pixel-statistics@none",)
    card = (outcome.folder / "README.md").read_text()
    assert "looks at `pixel-statistics` alone, as no light encoder was installed" in card


def test_the_warning_follows_from_images_and_seed(rated_study: Path) -> None:
    folders = [
        run(rated_study, recipe(*changes), name=name).folder
        for name, *changes in (("first",), ("again", "training.steps=2"), ("other", "split.seed=1"))
    ]
    first, again, other = ((folder / SHIFT_FILE).read_bytes() for folder in folders)
    assert first == again
    assert first != other


def test_a_warning_of_an_earlier_version_is_said_to_be_lacking(rated_study: Path) -> None:
    outcome = run(rated_study, recipe())
    save_file({"bounds": np.zeros(3, np.float32)}, outcome.folder / SHIFT_FILE)
    image = np.zeros((32, 32, 3), np.uint8)
    notes = score(images=[image], prompts="a cat", scorer=f"{outcome.folder}:quality").notes
    assert any("no warning of images unlike the training images" in note for note in notes)
    assert any("written by an earlier version; train the model again to be warned" in note for note in notes)
    run(rated_study, recipe(), transfer=True)  # writes the card again
    assert "an earlier version trained it" in (outcome.folder / "README.md").read_text()


@pytest.mark.usefixtures("enough")
def test_a_model_of_pixels_warns_as_well(paired_study: Path) -> None:
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
