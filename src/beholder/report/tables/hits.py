"""Hits and false alarms: how often raters pressed for generated and for real images of a rapid series."""

import math
from dataclasses import dataclass

import polars as pl
from scipy.special import stdtrit

from beholder.report.tables.leaderboard import Board


@dataclass(frozen=True, slots=True)
class HitRate:
    """The mean credit from presses that images of one generator have, with its confidence interval."""

    generator: str
    real: bool
    rate: float
    low: float | None
    high: float | None
    images: int
    resampled: str
    """What the confidence interval resamples."""


def build_hits(board: Board, labels: pl.LazyFrame, images: pl.DataFrame) -> tuple[HitRate, ...]:
    """Hit rates of the generators (1 less the pass rate), then false alarms, the mean over real images."""
    rates = [
        HitRate(
            row.generator,
            real=False,
            rate=1 - row.rating,
            low=None if row.high is None else 1 - row.high,
            high=None if row.low is None else 1 - row.low,
            images=row.images,
            resampled="raters",
        )
        for row in board.rows
    ]
    real = (
        labels.filter((pl.col("question") == board.question) & (pl.col("method") == "credit"))
        .join(images.lazy().filter("real").select("image"), on="image", how="semi", maintain_order="left")
        .select("value")
        .collect()["value"]
        .to_numpy()
    )
    if len(real):
        mean = float(real.mean())
        reach = math.nan
        if len(real) > 1:
            t = float(stdtrit(len(real) - 1, (1 + board.level) / 2))
            reach = t * float(real.std(ddof=1)) / math.sqrt(len(real))
        ends = (None, None) if math.isnan(reach) else (max(mean - reach, 0.0), min(mean + reach, 1.0))
        rates.append(HitRate("real", True, mean, ends[0], ends[1], len(real), "images"))
    return tuple(rates)
