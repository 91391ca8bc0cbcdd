"""How often people are wrong about a generator's images: HYPE_∞'s score and Layer 6's error rate."""

from collections.abc import Iterator

import numpy as np
import polars as pl

from beholder.rank.rated import Rated
from beholder.stats.bootstrap import clustered_ratio, person_weights, ratio_of_sums
from beholder.stats.proportions import wilson
from beholder.study.study import Analysis


def error_rates(
    tests: pl.DataFrame, images: pl.DataFrame, analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """The share wrong on both, on generated and on real images.

    A person's error is the mean of their share wrong on the generator's images and on the real images they saw; a
    generator's rating is the mean over people, so people count alike however many trials they did. 50 % is chance;
    above it, people take generated images for real ones more readily than real ones.
    """
    judged = tests.with_columns(image=pl.col("images").list.first()).join(
        images.select("image", "generator", "real"), on="image"
    )
    wrong = (pl.col("said") != pl.col("expected")).cast(pl.Float64)
    judged = judged.with_columns(wrong=wrong)
    fake = judged.filter(~pl.col("real"))
    generators = tuple(sorted(fake["generator"].unique()))
    by_fake = fake.group_by("rater", "generator").agg(fake=pl.col("wrong").mean())
    by_real = judged.filter("real").group_by("rater").agg(real=pl.col("wrong").mean())
    people = by_fake.join(by_real, on="rater").sort("rater", "generator")
    if people.is_empty():
        return
    raters = people["rater"].unique().sort().to_list()
    shape = (len(raters), len(generators))
    row = people["rater"].replace_strict(raters, list(range(len(raters)))).to_numpy()
    column = people["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
    seen = np.zeros(shape)
    seen[row, column] = 1.0
    within = bool((seen.sum(axis=1) > 1).any())
    strata = np.zeros(len(raters), dtype=np.int64) if within else seen.argmax(axis=1)
    weights = person_weights(strata, analysis.draws, rng)
    error = (pl.col("fake") + pl.col("real")) / 2
    for method, score in (
        ("error-rate", error),
        ("fake-error-rate", pl.col("fake")),
        ("real-error-rate", pl.col("real")),
    ):
        scores = np.zeros(shape)
        scores[row, column] = people.select(score).to_series().to_numpy()
        tally = _tally(judged, generators, seen, raters, method)
        yield Rated(
            aspect="realism",
            method=method,
            generators=generators,
            estimates=clustered_ratio(scores, seen, weights, level=analysis.level),
            draws=ratio_of_sums(scores, seen, weights),
            naive=wilson(tally[:, 0], tally[:, 1], analysis.level),
            answers=tally[:, 1].astype(np.int64),
            images=tally[:, 2].astype(np.int64),
            within=within,
        )


def _tally(
    judged: pl.DataFrame, generators: tuple[str, ...], seen: np.ndarray, raters: list[str], method: str
) -> np.ndarray:
    """Wrong answers, answers and images behind each generator's rating: (generators, 3)."""
    rows = []
    for cell, generator in enumerate(generators):
        group = [rater for rater, saw in zip(raters, seen[:, cell], strict=True) if saw]
        mine = pl.col("generator") == generator
        which = {"error-rate": mine | pl.col("real"), "fake-error-rate": mine, "real-error-rate": pl.col("real")}[
            method
        ]
        part = judged.filter(pl.col("rater").is_in(group) & which)
        rows.append((part["wrong"].sum(), part.height, part["image"].n_unique()))
    return np.asarray(rows, dtype=np.float64)
