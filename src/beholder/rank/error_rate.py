"""How often raters are wrong about a generator's images: HYPE_∞'s score and Layer 6's error rate."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.rank.cells import Support, rate_cells, tally_cells
from beholder.rank.ratings import GeneratorRatings
from beholder.stats.intervals.proportions import wilson
from beholder.stats.psychophysics.detection import detection
from beholder.study.study import Analysis

D_PRIME = "d-prime"


def rate_by_errors(
    judgements: pl.DataFrame, images: pl.DataFrame, analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by the error rate on both, on generated and on real images; and by d′, of which lower is better.

    A rater's error rate is the mean of those on the generator's images and on the real images the rater saw; a
    generator's rating is the mean over raters, who weigh the same however many trials they did. 50 % is chance;
    above it, raters take generated images for real ones more readily than real ones. Where no real images were
    shown, only the error rate on generated ones is returned.
    """
    judged = (
        judgements.select("rater", "image", wrong=pl.col("value") != pl.col("expected"))
        .join(images.select("image", "generator", "real"), on="image", maintain_order="left")
        .with_columns(pl.col("wrong").cast(pl.Float64))
    )
    by_rater = _by_rater(judged)
    if not by_rater.is_empty():
        yield from _rate_by_methods(by_rater, _tallies(judged, by_rater), analysis)


def rate_by_counted_errors(
    totals: pl.DataFrame,
    published: pl.DataFrame,
    images: pl.DataFrame,
    analysis: Analysis,
) -> Iterator[GeneratorRatings]:
    """Rate by the same from raters' totals; the images behind a rating are those with a published label."""
    wrong, answers, real = pl.col("wrong").cast(pl.Float64), pl.col("answers").cast(pl.Float64), pl.col("real")
    by_rater = (
        totals.group_by("rater", "generator")
        .agg(
            missed=wrong.filter(~real).first(),
            fakes=answers.filter(~real).first(),
            alarms=wrong.filter(real).first(),
            reals=answers.filter(real).first(),
        )
        .drop_nulls()
        .with_columns(
            (pl.col("missed") / pl.col("fakes")).alias("fake-error-rate"),
            (pl.col("alarms") / pl.col("reals")).alias("real-error-rate"),
        )
        .with_columns(((pl.col("fake-error-rate") + pl.col("real-error-rate")) / 2).alias("error-rate"))
        .sort("rater", "generator")
    )
    if by_rater.is_empty():
        return
    by_rater = _with_d_prime(by_rater)
    sums = totals.group_by("generator", "real").agg(pl.col("wrong").sum(), pl.col("answers").sum())
    labelled = published.select("image", generator="among").join(images.select("image", "real"), on="image")
    image_counts = labelled.group_by("generator", "real").agg(images=pl.col("image").n_unique())
    counts = sums.join(image_counts, on=["generator", "real"], how="left").fill_null(0).sort("generator")
    fake_tally, real_tally = (
        counts.filter(pl.col("real") == kind).drop("generator", "real").cast(pl.Float64).to_numpy()
        for kind in (False, True)
    )
    both = fake_tally + real_tally
    tallies = {"error-rate": both, "fake-error-rate": fake_tally, "real-error-rate": real_tally, D_PRIME: both}
    yield from _rate_by_methods(by_rater, tallies, analysis)


def _rate_by_methods(
    by_rater: pl.DataFrame, tallies: dict[str, NDArray[np.float64]], analysis: Analysis
) -> Iterator[GeneratorRatings]:
    """Rate by every method, from one row per rater and generator."""
    for method, tally in tallies.items():
        cells = tally_cells(by_rater.select("rater", "generator", total=method, count=pl.lit(1.0)))
        yield rate_cells(
            cells,
            Support(tally[:, 1].astype(np.int64), tally[:, 2].astype(np.int64), _naive(method, tally, analysis)),
            aspect="realism",
            method=method,
            higher_is_better=method != D_PRIME,
            proportions=method != D_PRIME,
        )


def _naive(
    method: str, tally: NDArray[np.float64], analysis: Analysis
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's confidence interval of an error rate; d′ has none."""
    if method == D_PRIME:
        return np.full(len(tally), np.nan), np.full(len(tally), np.nan)
    return wilson(tally[:, 0], tally[:, 1], analysis.level)


def _with_d_prime(by_rater: pl.DataFrame) -> pl.DataFrame:
    """Add each rater's d′, from ``fakes`` and ``reals`` shown and ``missed`` and ``alarms`` among them."""
    fakes, reals, missed, alarms = (by_rater[name].to_numpy() for name in ("fakes", "reals", "missed", "alarms"))
    detections = detection(fakes - missed, fakes, alarms, reals)
    return by_rater.with_columns(pl.Series(D_PRIME, detections.d_prime))


def _by_rater(judged: pl.DataFrame) -> pl.DataFrame:
    """Return one row per rater and generator, with the rater's error rate in a column named by the method."""
    wrong = pl.col("wrong")
    by_fake = (
        judged.filter(~pl.col("real"))
        .group_by("rater", "generator")
        .agg(wrong.mean().alias("fake-error-rate"), missed=wrong.sum(), fakes=pl.len().cast(pl.Float64))
    )
    by_real = (
        judged.filter("real")
        .group_by("rater")
        .agg(wrong.mean().alias("real-error-rate"), alarms=wrong.sum(), reals=pl.len().cast(pl.Float64))
    )
    if by_real.is_empty():
        return by_fake.sort("rater", "generator")
    both = (pl.col("fake-error-rate") + pl.col("real-error-rate")) / 2
    by_rater = by_fake.join(by_real, on="rater").with_columns(both.alias("error-rate")).sort("rater", "generator")
    return _with_d_prime(by_rater)


def _tallies(judged: pl.DataFrame, by_rater: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
    """Count, for each method, wrong answers, answers and images behind each generator: (generators, 3)."""
    rater_generators = by_rater.select("rater", "generator")
    fake = _tally(judged.filter(~pl.col("real")).join(rater_generators, on=["rater", "generator"], how="semi"))
    if "error-rate" not in by_rater.columns:
        return {"fake-error-rate": fake}
    real = _tally_of_real(judged.filter("real").select("rater", "image", "wrong"), rater_generators)
    return {"error-rate": fake + real, "fake-error-rate": fake, "real-error-rate": real, D_PRIME: fake + real}


def _tally_of_real(judged: pl.DataFrame, rater_generators: pl.DataFrame) -> NDArray[np.float64]:
    """Count the same on real images, which count for every generator that the rater judged."""
    by_rater = judged.group_by("rater").agg(pl.col("wrong").sum(), answers=pl.len().cast(pl.Float64))
    sums = rater_generators.join(by_rater, on="rater").group_by("generator").agg(pl.col("wrong", "answers").sum())
    raters = judged["rater"].unique().sort()
    who = (judged["rater"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    what = (judged["image"].rank("dense").cast(pl.Int64) - 1).to_numpy()
    rows = []
    for generator, wrong, answers in sums.sort("generator").iter_rows():
        judges = raters.is_in(rater_generators.filter(pl.col("generator") == generator)["rater"].implode())
        images = np.zeros(int(what.max(initial=-1)) + 1, np.bool_)
        images[what[judges.to_numpy()[who]]] = True
        rows.append((wrong, answers, images.sum()))
    return np.asarray(rows, np.float64).reshape(-1, 3)


def _tally(judged: pl.DataFrame) -> NDArray[np.float64]:
    counts = judged.group_by("generator").agg(pl.col("wrong").sum(), pl.len(), pl.col("image").n_unique())
    return counts.sort("generator").drop("generator").cast(pl.Float64).to_numpy()
