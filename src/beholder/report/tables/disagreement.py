"""How much raters disagree about each image: 0 where they agree, 1 where they are evenly divided."""

from collections.abc import Mapping

import polars as pl

from beholder.judgements.coding import PAIRED

Scales = Mapping[tuple[str, str], tuple[float, float]]
"""Question, aspect -> the ends of its scale."""

OF = ["question", "aspect", "value_kind", "image"]

SUMS = (
    pl.len().cast(pl.Float64).alias("votes"),
    pl.col("value").sum().alias("sum"),
    (pl.col("value") ** 2).sum().alias("squares"),
)
"""Of answers in steps these are exact, in whatever order threads add."""

SPREAD = (pl.col("squares") / pl.col("votes") - (pl.col("sum") / pl.col("votes")) ** 2).clip(lower_bound=0).sqrt()
"""Their standard deviation."""


def disagreements(judgements: pl.LazyFrame, scales: Scales, *, parts: int = 1) -> pl.DataFrame:
    """Return ``image`` and ``disagreement``, the mean over the aspects by which two raters judged the same.

    By an aspect it is the standard deviation of the answers used, as a proportion of the largest possible; of
    categories, the proportion that is not the commonest. Pairs are compared with themselves only, and ranks with
    the highest and lowest that the image has.

    Args:
        judgements: The table of that name.
        scales: The ends of the scales.
        parts: The images are worked through in so many parts, the judgements of one in memory at a time.

    Returns:
        One row per image that has a disagreement, rounded to three digits.

    Example:
        >>> votes = pl.LazyFrame({"question": "q", "aspect": "a", "value_kind": "rating", "image": ["x", "x", "y"],
        ...                       "other": [None, None, None], "value": [1.0, 5.0, 3.0], "used": True},
        ...                      schema_overrides={"other": pl.String})
        >>> disagreements(votes, {("q", "a"): (1.0, 5.0)}).rows()
        [('x', 1.0)]
    """
    ends = pl.LazyFrame(
        [(*key, *scale) for key, scale in scales.items()],
        schema={"question": pl.String, "aspect": pl.String, "low": pl.Float64, "high": pl.Float64},
        orient="row",
    )
    by_part = [
        _of_images(_sides(judgements, part, parts), ends).collect(engine="streaming") for part in range(parts)
    ]
    return pl.concat(by_part).sort("image")


def _sides(judgements: pl.LazyFrame, part: int, parts: int) -> pl.LazyFrame:
    """One row per judgement used and image of this part; a pair has two images."""
    used = judgements.filter("used").select(*OF, "other", "value")
    paired = used.filter(pl.col("value_kind").is_in(list(PAIRED)))
    turned = paired.select(
        "question", "aspect", "value_kind", image="other", other="image", value=-pl.col("value")
    )
    both = pl.concat([used, turned])
    return both.filter(pl.col("image").hash(0) % parts == part) if parts > 1 else both


def _of_images(sides: pl.LazyFrame, ends: pl.LazyFrame) -> pl.LazyFrame:
    kind = pl.col("value_kind")
    paired = _paired(sides.filter(kind.is_in(list(PAIRED))))
    categories = _categories(sides.filter(kind == "category"))
    scaled = _scaled(sides.filter(~kind.is_in([*PAIRED, "category"])), ends)
    by_aspect = pl.concat([part.select(*OF, "disagreement") for part in (paired, categories, scaled)])
    return by_aspect.group_by("image").agg(pl.col("disagreement").sort().mean().round(3))


def _paired(sides: pl.LazyFrame) -> pl.LazyFrame:
    """Of each rival by itself, weighted by the number of votes."""
    won = pl.when(pl.col("value") == 0).then(0.5).otherwise((pl.col("value") > 0).cast(pl.Float64))
    rivals = sides.with_columns(value=won).group_by(*OF, "other").agg(SUMS)
    repeated = rivals.filter(pl.col("votes") > 1).with_columns(apart=(2 * SPREAD).clip(0, 1))
    weighted = (pl.col("apart") * pl.col("votes")).sort().sum() / pl.col("votes").sum()
    return repeated.group_by(OF).agg(disagreement=weighted)


def _categories(sides: pl.LazyFrame) -> pl.LazyFrame:
    counts = sides.group_by(*OF, "value").agg(votes=pl.len())
    totals = counts.group_by(OF).agg(most=pl.col("votes").max(), votes=pl.col("votes").sum())
    return totals.filter(pl.col("votes") > 1).with_columns(disagreement=1 - pl.col("most") / pl.col("votes"))


def _scaled(sides: pl.LazyFrame, ends: pl.LazyFrame) -> pl.LazyFrame:
    value = pl.col("value")
    spread = sides.group_by(OF).agg(*SUMS, least=value.min(), most=value.max())
    ranked = pl.col("value_kind") == "rank"
    reach = pl.when(ranked).then(pl.col("most") - pl.col("least")).otherwise(pl.col("high") - pl.col("low"))
    apart = pl.when(reach > 0).then((2 * SPREAD / reach).clip(0, 1)).otherwise(0.0)
    with_ends = spread.filter(pl.col("votes") > 1).join(ends, on=["question", "aspect"], how="left")
    return with_ends.with_columns(disagreement=apart)
