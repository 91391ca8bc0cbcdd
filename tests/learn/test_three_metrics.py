"""Three metrics of a published dataset, trained jointly: from the files of a release to held-out predictions."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.stats import spearmanr
from tests.formats.test_opinions import write_release

from beholder.cli.main import main
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run
from beholder.models.encoders.catalogue import ENCODERS
from beholder.models.encoders.stage_features import VARIANTS, Variant
from beholder.models.weights.checkpoint import read_record
from beholder.tables.store import Store

PROMPTS, PIXELS = 6, 64
STAGES = "efficientnet-lite0-stages"
ASPECTS = ("quality", "authenticity", "alignment")


def render(rng: np.random.Generator, quality: float, authenticity: float, alignment: float) -> Image.Image:
    """A disc on a plain ground: noise spoils its quality, stripes its authenticity; it fades out of alignment."""
    down, across = np.mgrid[0:PIXELS, 0:PIXELS]
    centre = rng.uniform(24, 40, 2)
    disc = (np.hypot(down - centre[0], across - centre[1]) < 16)[..., None]
    ground, ink = rng.uniform(70, 110, 3), rng.uniform(170, 250, 3)
    pixels = np.where(disc, ground + alignment * (ink - ground), ground)
    stripes = np.where(down // 4 % 2, 1.0, -1.0)[..., None]
    pixels = pixels + 40 * (1 - authenticity) * stripes
    pixels = pixels + 50 * (1 - quality) * rng.normal(size=pixels.shape)
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


@pytest.fixture
def release(tmp_path: Path) -> tuple[Path, dict[str, NDArray[np.float64]]]:
    """The release's folder with 144 rendered images, and the ground truth of its three aspects."""
    rng = np.random.default_rng(0)
    truth = {aspect: rng.uniform(0, 1, 24 * PROMPTS) for aspect in ASPECTS}
    folder = tmp_path / "AIGCIQA2023"
    images = folder / "Image" / "allimg"
    images.mkdir(parents=True)
    for number in range(24 * PROMPTS):
        render(rng, *(float(truth[aspect][number]) for aspect in ASPECTS)).save(images / f"{number}.png")
    means = {
        "quality": 10 + 80 * truth["quality"],
        "authenticity": 10 + 80 * truth["authenticity"],
        "correspondence": 10 + 80 * truth["alignment"],
    }
    write_release(folder, PROMPTS, means=means)
    return folder, truth


def test_published_means_of_three_aspects_train_one_model(
    release: tuple[Path, dict[str, NDArray[np.float64]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, truth = release
    at_twice_the_size = Variant("lite0", 2 * PIXELS, 2 * PIXELS)  # 512 px would show no more
    monkeypatch.setitem(VARIANTS, ENCODERS[STAGES].variant, at_twice_the_size)
    study = tmp_path / "study"
    assert main(["import", "aigciqa", str(folder), str(study)]) == 0
    assert main(["consolidate", str(study)]) == 0
    recipe = load_recipe(
        "metric-transformer",
        [
            f"model.encoders=['{STAGES}']",
            "training.epochs=25",
            "training.batch=32",
            "training.warmup=10",
            "split.test=0.3",
        ],
    )
    trained = run(study, recipe)
    assert read_record(trained.folder).aspects == tuple(sorted(ASPECTS))
    scores = Store(study).read("predictions").pivot("aspect", index="image", values="score").sort("image")
    assert scores.height == 24 * 2
    numbers = scores["image"].str.strip_suffix(".png").cast(pl.Int64).to_numpy()
    for aspect in ASPECTS:
        own, *others = (
            float(spearmanr(scores[aspect], truth[name][numbers]).statistic)
            for name in (aspect, *(name for name in ASPECTS if name != aspect))
        )
        assert own > 0.6, f"{aspect}: a rank correlation of {own:.2f} on prompts held out"
        assert all(abs(other) < own - 0.3 for other in others), f"{aspect} follows another aspect"
