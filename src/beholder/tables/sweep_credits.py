"""Key presses of a sweep as credit to the images that may have caused them (Krishna et al., 2016)."""

import math

import polars as pl

CANDIDATES = 4
"""Images among which a press is shared: those whose onset makes its latency likeliest."""


def credits_of_sweeps(
    sweeps: pl.DataFrame, marks: pl.DataFrame, *, each_ms: float, latency_ms: float, latency_sd_ms: float
) -> pl.DataFrame:
    """A row for every image of each row's ``images`` with the credit, from 0 to 1, as ``value``.

    A press at t is shared among the four images with the likeliest latencies t − onset, none of them negative, in
    proportion to the normal density N(latency; mean, sd). An image that several presses point at has at most 1.
    ``images`` becomes the one image; ``marks`` has the presses by ``trial`` and ``session``. The other columns
    are repeated.
    """
    shown = (
        sweeps.with_row_index("row")
        .explode("images")
        .with_columns(place=pl.int_range(pl.len(), dtype=pl.Int64).over("row"))
    )
    length = shown.group_by("row").agg(length=pl.len().cast(pl.Int64))
    rows = sweeps.select("trial", "session").with_row_index("row").join(length, on="row")
    presses = (
        marks.filter(pl.col("at_ms").is_not_null())
        .select("trial", "session", "at_ms")
        .join(rows, on=["trial", "session"])
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
        .group_by("row", "place")
        .agg(pl.col("credit").sum())
    )
    found = shown.drop("value", strict=False).join(credit, on=["row", "place"], how="left", maintain_order="left")
    value = pl.col("credit").fill_null(0.0).clip(0.0, 1.0)
    return found.with_columns(images=pl.concat_list("images"), value=value).drop("row", "place", "credit")
