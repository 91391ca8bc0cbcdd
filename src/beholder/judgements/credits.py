"""Key presses of a sweep, credited to the images that may have caused them (Krishna et al., 2016)."""

import math

import polars as pl

from beholder.study.kinds.coding import CreditCoding

CANDIDATES = 4
"""Images among which a press is divided: those whose onset makes its latency most likely."""


def credits_of_sweeps(sweeps: pl.DataFrame, marks: pl.DataFrame, coding: CreditCoding) -> pl.DataFrame:
    """Return one row per image of each row's ``images``: ``place``, ``image``, its credit (0 to 1) as ``value``.

    A press at t is divided among the four images with the most likely latencies t − onset, none of them negative,
    in proportion to the normal density N(latency; mean, sd). An image that several presses point at has at most 1.
    ``marks`` has the presses by ``trial`` and ``session``. The other columns are repeated.
    """
    each_ms, latency_ms, latency_sd_ms = coding.each_ms, coding.latency_ms, coding.latency_sd_ms
    images = (
        sweeps.with_row_index("row")
        .explode("images")
        .with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64).over("row"))
    )
    length = images.group_by("row").agg(length=pl.len().cast(pl.Int64))
    rows = sweeps.select("trial", "session").with_row_index("row").join(length, on="row")
    presses = (
        marks.filter(pl.col("at_ms").is_not_null())
        .select("trial", "session", "at_ms")
        .join(rows, on=["trial", "session"], maintain_order="left_right")
        .with_row_index("press")
    )
    middle = ((pl.col("at_ms") - latency_ms) / each_ms).floor().cast(pl.Int64)
    steps = pl.int_range(1 - CANDIDATES // 2, CANDIDATES // 2 + 1, dtype=pl.Int64, eager=True).to_frame("step")
    latency = pl.col("at_ms") - pl.col("place") * each_ms
    density = (-((pl.col("latency") - latency_ms) ** 2) / (2 * latency_sd_ms**2)).exp() + math.ulp(0.0)
    credit = (
        presses.join(steps, how="cross")
        .with_columns(place=middle + pl.col("step"))
        .filter((pl.col("place") >= 0) & (pl.col("place") < pl.col("length")))
        .with_columns(latency=latency)
        .filter(pl.col("latency") >= 0)
        .with_columns(density=density)
        .with_columns(credit=pl.col("density") / pl.col("density").sum().over("press"))
        .sort("row", "place", "press")  # sums are taken in one order, so that they repeat to the last digit
        .group_by("row", "place", maintain_order=True)
        .agg(pl.col("credit").sum())
    )
    value = pl.col("credit").fill_null(0.0).clip(0.0, 1.0)
    return (
        images.join(credit, on=["row", "place"], how="left", maintain_order="left")
        .with_columns(value=value)
        .rename({"images": "image"})
        .drop("row", "credit")
    )
