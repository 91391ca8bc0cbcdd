"""The packaged scorer of alignment: on images that people have rated, and with prompts of other images."""

import os
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from scipy import stats

from beholder.models.alignment.packaged import load_alignment_model
from beholder.models.quality.training_set import training_images
from beholder.models.text.sentence_encoder import PACKAGE
from beholder.scorers.catalogue import load_scorer
from beholder.tables.provenance import file_hash

pytest.importorskip(PACKAGE, reason="the sentence encoder's package is not installed")

SOURCE = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "agiqa-3k"
IMAGES = 48


@pytest.mark.skipif(not SOURCE.is_dir(), reason="needs AGIQA-3K below BEHOLDER_SHARED")
def test_held_out_images_fit_their_own_prompts() -> None:
    table = pl.read_csv(SOURCE / "data.csv").sample(fraction=1, shuffle=True, seed=1)
    files = {name: SOURCE / "image" / name for name in table["name"]}
    held_out = list(islice((name for name in files if file_hash(files[name]) not in training_images()), IMAGES))
    rows = {row["name"]: row for row in table.iter_rows(named=True)}
    prompts = [rows[name]["prompt"] for name in held_out]
    scorers = [load_scorer("agiqa-alignment"), load_scorer("class-words")]
    pixels = [np.asarray(Image.open(files[name]).convert("RGB")) for name in held_out]
    vectors = np.concatenate([encoder.encode(pixels) for encoder in scorers[0].encoders], axis=1)
    opinions = [rows[name]["mos_align"] for name in held_out]
    for scorer, least in zip(scorers, (0.4, 0.1), strict=True):
        assert scorer.of_vectors is not None
        own, others = (scorer.of_vectors(vectors, texts) for texts in (prompts, prompts[7:] + prompts[:7]))
        assert stats.spearmanr(own, opinions).statistic > least
        assert stats.ttest_rel(own, others, alternative="greater").pvalue < 1e-2


def test_it_needs_a_prompt_and_says_how_to_read_it() -> None:
    scorer = load_scorer("agiqa-alignment")
    image = np.full((40, 60, 3), 128, np.uint8)
    scores = scorer([image, image], ["a grey wall", "a cat and two dogs in a boat, top view"])
    assert scores.shape == (2,)
    assert ((scores >= 0) & (scores <= 5)).all()
    head = load_alignment_model().head
    assert 0 < head.conformal_width < head.unseen_width < 5
    assert f"±{head.conformal_width:.2f}; of generators that it was not trained on" in str(scorer.remark)
    assert str(scorer.remark).endswith(f"±{head.unseen_width:.2f}")
