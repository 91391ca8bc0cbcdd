"""Likely label errors."""

import numpy as np
import polars as pl

from beholder.consolidate.items import JudgedItems
from beholder.consolidate.labels import label
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion


def proportion(flags: pl.Series) -> float:
    return float(flags.to_numpy().mean())


def test_careful_raters_outvoted_by_guessers_are_right() -> None:
    # Two careful raters judge all of 200 images and slip on 3 %; of five who guess, three judge each image, so the
    # majority goes against the careful ones now and then.
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    rows = []
    for rater in range(7):
        careful = rater < 2
        judged = range(200) if careful else rng.choice(200, 120, replace=False)
        for image in judged:
            answer = truth[image] if careful else rng.integers(0, 2)
            answer = 1 - answer if careful and rng.random() < 0.03 else answer
            rows.append((f"p{rater}", f"i{image:03d}", float(answer)))
    frame = pl.DataFrame(rows, schema=["rater", "image", "value"], orient="row").with_columns(item="image")
    labels = label(RealismQuestion(name="q"), JudgedItems("realism", "detection", frame), 0.95)[0]
    words = pl.Series("truth", ["generated" if t else "real" for t in truth])
    labels_and_truth = labels.sort("image").with_columns(words)
    doubted = labels_and_truth.filter(pl.col("suggested").is_not_null())
    assert doubted.height >= 5
    assert proportion(doubted["suggested"] == doubted["truth"]) > 0.85
    assert (doubted["doubt"] > 0.5).all()
    assert (doubted["suggested"] != doubted["choice"]).all()
    wrong = labels_and_truth.filter(pl.col("choice") != pl.col("truth"))
    assert proportion(wrong["suggested"].is_not_null()) > 0.7  # most wrong labels are listed
    sure = labels_and_truth.filter(pl.col("choice").is_not_null() & (pl.col("choice") == pl.col("truth")))
    assert proportion(sure["suggested"].is_null()) > 0.95


def test_means_have_no_doubt() -> None:
    frame = pl.DataFrame({"rater": ["a", "b"], "image": "i", "item": "i", "value": [1.0, 5.0]})
    labels = label(RatingQuestion(name="q"), JudgedItems("quality", "rating", frame), 0.95)[0]
    assert "doubt" not in labels.columns
