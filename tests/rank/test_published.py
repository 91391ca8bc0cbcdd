"""Generators by published labels: the mean by hand, what is resampled, and styles."""

import numpy as np
import polars as pl
import pytest

from beholder.rank.published import rate_by_published_labels
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

ANALYSIS = Analysis()


def tables(
    *rows: tuple[str, str, str | None, str | None, float],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Published labels and images of rows (image, generator, prompt, style, value)."""
    common: dict[str, object] = {"question": "q", "aspect": "quality", "method": "published-mean", "raters": 20}
    published = TABLES["published"].frame([common | {"image": row[0], "value": row[4]} for row in rows])
    common_columns: dict[str, object] = {
        "real": False,
        "gold": False,
        "width": 1,
        "height": 1,
        "sha256": "unknown",
    }
    images = [
        common_columns | {"image": image, "path": image, "generator": generator, "prompt": prompt, "style": style}
        for image, generator, prompt, style, _ in rows
    ]
    return published, TABLES["images"].frame(images)


def test_means_by_hand() -> None:
    """a: (1 + 2 + 6)/3 = 3, two of its images of one prompt; b: (4 + 6)/2 = 5."""
    published, images = tables(
        ("a1", "a", "p", None, 1.0),
        ("a2", "a", "p", None, 2.0),
        ("a3", "a", "q", None, 6.0),
        ("b1", "b", "p", None, 4.0),
        ("b2", "b", "q", None, 6.0),
    )
    ((slice_name, rated),) = rate_by_published_labels(published, images, ANALYSIS)
    assert (slice_name, rated.generators, rated.method) == ("all", ("a", "b"), "published-mean")
    assert rated.estimates().value.tolist() == [3.0, 5.0]
    assert rated.rater_counts is not None
    assert (rated.rater_counts.tolist(), rated.answers.tolist(), rated.images.tolist()) == (
        [20, 20],
        [60, 40],
        [3, 2],
    )
    # prompts are the sample: p is 3 − 2 · 3 below a's mean in three images, and 4 − 5 below b's in two
    assert rated.influence.influence.tolist() == [[-1.0, -0.5], [1.0, 0.5]]


def test_the_interval_is_that_of_a_mean_over_prompts() -> None:
    """60 prompts with one image each: the half-width is t.975,59 · s/√60 = 2.000995 · s/√60."""
    rng = np.random.default_rng(1)
    values = rng.normal(3, 1, 60)
    published, images = tables(*((f"i{n}", "a", f"p{n}", None, float(v)) for n, v in enumerate(values)))
    ((_, rated),) = rate_by_published_labels(published, images, ANALYSIS)
    half = (rated.estimates().high[0] - rated.estimates().low[0]) / 2
    assert half == pytest.approx(2.000995 * values.std(ddof=1) / np.sqrt(60), rel=1e-6)


def test_styles_have_ratings_of_their_own_and_real_images_none() -> None:
    published, images = tables(
        ("a1", "a", None, "anime", 1.0), ("a2", "a", None, "photo", 3.0), ("r", "real", None, None, 5.0)
    )
    images = images.with_columns(real=pl.col("generator") == "real")
    by_slice = dict(rate_by_published_labels(published, images, ANALYSIS))
    assert {slice_name: rated.estimates().value.tolist() for slice_name, rated in by_slice.items()} == {
        "all": [2.0],
        "anime": [1.0],
        "photo": [3.0],
    }


def test_other_labels_and_words_do_not_count() -> None:
    published, images = tables(("a1", "a", "p", None, 1.0))
    word = published.with_columns(word=pl.lit(0, dtype=pl.Int64))
    share = published.with_columns(method=pl.lit("share"))
    assert list(rate_by_published_labels(pl.concat([word, share]), images, ANALYSIS)) == []
