"""How often people are wrong about a generator's images: HYPE_∞'s score and Layer 6's error rate."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
    above it, people take generated images for real ones more readily than real ones. Where no real images were
    shown, only the share wrong on generated ones is given.
    """
    judged = (
        tests.select("rater", image=pl.col("images").list.first(), wrong=pl.col("said") != pl.col("expected"))
        .join(images.select("image", "generator", "real"), on="image", maintain_order="left")
        .with_columns(pl.col("wrong").cast(pl.Float64))
    )
    people = _people(judged)
    if not people.is_empty():
        yield from _rated(people, _tallies(judged, people), analysis, rng)


def counted_error_rates(
    totals: pl.DataFrame,
    published: pl.DataFrame,
    images: pl.DataFrame,
    analysis: Analysis,
    rng: np.random.Generator,
) -> Iterator[Rated]:
    """The same from people's totals; the images behind a rating are those with a published label."""
    share = (pl.col("wrong") / pl.col("answers")).first()
    people = totals.group_by("rater", "generator").agg(
        share.filter(~pl.col("real")).alias("fake-error-rate"), share.filter("real").alias("real-error-rate")
    )
    both = (pl.col("fake-error-rate") + pl.col("real-error-rate")) / 2
    people = people.drop_nulls().with_columns(both.alias("error-rate")).sort("rater", "generator")
    if people.is_empty():
        return
    sums = totals.group_by("generator", "real").agg(pl.col("wrong").sum(), pl.col("answers").sum())
    seen = published.select("image", generator="among").join(images.select("image", "real"), on="image")
    shown = seen.group_by("generator", "real").agg(images=pl.col("image").n_unique())
    counts = sums.join(shown, on=["generator", "real"], how="left").fill_null(0).sort("generator")
    fake, real = (
        counts.filter(pl.col("real") == kind).drop("generator", "real").cast(pl.Float64).to_numpy()
        for kind in (False, True)
    )
    tallies = {"error-rate": fake + real, "fake-error-rate": fake, "real-error-rate": real}
    yield from _rated(people, tallies, analysis, rng)


def _rated(
    people: pl.DataFrame, tallies: dict[str, NDArray[np.float64]], analysis: Analysis, rng: np.random.Generator
) -> Iterator[Rated]:
    """Ratings by every method, from a row a person and generator."""
    generators = tuple(people["generator"].unique().sort().to_list())
    raters = people["rater"].unique().sort().to_list()
    row = people["rater"].replace_strict(raters, list(range(len(raters)))).to_numpy()
    column = people["generator"].replace_strict(list(generators), list(range(len(generators)))).to_numpy()
    seen = np.zeros((len(raters), len(generators)))
    seen[row, column] = 1.0
    within = bool((seen.sum(axis=1) > 1).any())
    strata = np.zeros(len(raters), dtype=np.int64) if within else seen.argmax(axis=1)
    weights = person_weights(strata, analysis.draws, rng)
    for method, tally in tallies.items():
        scores = np.zeros_like(seen)
        scores[row, column] = people[method].to_numpy()
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


def _people(judged: pl.DataFrame) -> pl.DataFrame:
    """One row a person and generator, with the person's share wrong as a column named by the method."""
    by_fake = (
        judged.filter(~pl.col("real"))
        .group_by("rater", "generator")
        .agg(pl.col("wrong").mean().alias("fake-error-rate"))
    )
    by_real = judged.filter("real").group_by("rater").agg(pl.col("wrong").mean().alias("real-error-rate"))
    if by_real.is_empty():
        return by_fake.sort("rater", "generator")
    both = (pl.col("fake-error-rate") + pl.col("real-error-rate")) / 2
    return by_fake.join(by_real, on="rater").with_columns(both.alias("error-rate")).sort("rater", "generator")


def _tallies(judged: pl.DataFrame, people: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Of each method, wrong answers, answers and images behind each generator's rating: (generators, 3)."""
    seen = people.select("rater", "generator")
    fake = _tally(judged.filter(~pl.col("real")).join(seen, on=["rater", "generator"], how="semi"))
    if "error-rate" not in people.columns:
        return {"fake-error-rate": fake}
    real = _tally(judged.filter("real").drop("generator").join(seen, on="rater"))
    return {"error-rate": fake + real, "fake-error-rate": fake, "real-error-rate": real}


def _tally(judged: pl.DataFrame) -> NDArray[np.float64]:
    counts = judged.group_by("generator").agg(pl.col("wrong").sum(), pl.len(), pl.col("image").n_unique())
    return counts.sort("generator").drop("generator").cast(pl.Float64).to_numpy()
