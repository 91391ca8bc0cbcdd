"""The packaged scorer of quality: on images that people have rated, and on images unlike these."""

import os
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.images.sources import ArrayImage, named_files
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.quality.training_set import training_images
from beholder.scorers.catalogue import BEST, load_scorer
from beholder.scorers.score import score
from beholder.tables.provenance import file_hash

SOURCE = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "agiqa-3k"
IMAGES = 40


@pytest.mark.skipif(not SOURCE.is_dir(), reason="needs AGIQA-3K below BEHOLDER_SHARED")
def test_held_out_images_are_ordered_as_people_do() -> None:
    table = pl.read_csv(SOURCE / "data.csv").sample(fraction=1, shuffle=True, seed=0)
    files = {name: SOURCE / "image" / name for name in table["name"]}
    held_out = list(islice((name for name in files if file_hash(files[name]) not in training_images()), IMAGES))
    opinions = dict(table.select("name", "mos_quality").iter_rows())
    quality, shift = load_scorer(BEST), load_scorer("agiqa-shift")
    sources = named_files(held_out, [files[name] for name in held_out])
    scores = score(sources, [None] * IMAGES, [quality, shift])
    expected = [opinions[name] for name in scores.names]
    assert stats.spearmanr(scores.values[BEST], expected).statistic > 0.65
    assert np.mean(scores.values["agiqa-shift"] > 1) < 0.25


def test_noise_is_unlike_the_training_images_and_bad() -> None:
    rng = np.random.default_rng(0)
    sources = [ArrayImage(f"{n}", rng.integers(0, 256, (64, 64, 3), np.uint8)) for n in range(3)]
    scores = score(sources, [None] * 3, [load_scorer(BEST), load_scorer("agiqa-shift")])
    assert (scores.values["agiqa-shift"] > 1).all()
    assert (scores.values[BEST] < 2.5).all()


def test_small_and_drawn_images_are_unlike_the_training_images() -> None:
    rng = np.random.default_rng(2)
    smooth = np.kron(rng.integers(0, 256, (4, 4, 3)), np.ones((8, 8, 1))).astype(np.uint8)  # 32 px
    drawn = np.full((256, 256, 3), (40, 90, 200), np.uint8)
    drawn[60:180, 80:200] = (220, 40, 40)
    scores = score(
        [ArrayImage("smooth", smooth), ArrayImage("drawn", drawn)], [None] * 2, [load_scorer("agiqa-shift")]
    )
    assert (scores.values["agiqa-shift"] > 1).all()


def test_the_default_encoder_s_features_come_from_the_same_forward_pass() -> None:
    rng = np.random.default_rng(1)
    sources = [ArrayImage(f"{n}", rng.integers(0, 256, (300, 260, 3), np.uint8)) for n in range(3)]
    encoder = load_encoder("efficientnet-lite0")
    alone = score(sources, [None] * 3, [], encoders=[encoder]).features[0]
    shared = score(sources, [None] * 3, [load_scorer(BEST)], encoders=[encoder]).features[0]
    np.testing.assert_array_equal(shared.vectors, alone.vectors)
