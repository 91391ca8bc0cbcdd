"""Answers as numbers about items: what agreement, screening and labels have in common."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.stats.krippendorff import Scale
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import LEFT, RIGHT, TIE
from beholder.study.kinds.realism import GENERATED

FIRST, SECOND, EVEN = 0.0, 1.0, 2.0
"""Codes of a vote on a pair whose images are put in the order of their ids."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Answers to one aspect as columns ``rater``, ``item``, ``code`` (and what identifies the item)."""

    aspect: str
    scale: Scale
    frame: pl.DataFrame

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], list[str]]:
        """Rater numbers, item numbers, codes, and the raters' names in the order of their numbers."""
        numbered = self.frame.select(
            pl.col("rater", "item").rank("dense").cast(pl.Int64) - 1, pl.col("code"), name="rater"
        )
        names = numbered["name"].unique().sort().to_list()
        return numbered["rater"].to_numpy(), numbered["item"].to_numpy(), numbered["code"].to_numpy(), names


def code_answers(question: AnyQuestion, tests: pl.DataFrame) -> Iterator[Coded]:
    """The answers to the test trials of a question, coded by aspect; of a person's answers to an item, the first.

    A person has several only where they took part twice.
    """
    for coded in CODERS[question.kind](tests):
        once = coded.frame.unique(["rater", "item"], keep="first", maintain_order=True)
        yield Coded(coded.aspect, coded.scale, once)


def _realism(tests: pl.DataFrame) -> Iterator[Coded]:
    """1 where an image was called generated."""
    image = pl.col("images").list.first()
    frame = tests.select("rater", item=image, image=image, code=(pl.col("choice") == GENERATED).cast(pl.Float64))
    yield Coded("realism", "nominal", frame)


def _pair(tests: pl.DataFrame) -> Iterator[Coded]:
    """Which image of the pair won, whichever side it stood on."""
    first, second = pl.col("images").list.get(0), pl.col("images").list.get(1)
    in_order = first < second
    left_code = pl.when(in_order).then(FIRST).otherwise(SECOND)
    right_code = pl.when(in_order).then(SECOND).otherwise(FIRST)
    frame = tests.select(
        "rater",
        image=pl.min_horizontal(first, second),
        other=pl.max_horizontal(first, second),
        code=pl.when(pl.col("choice") == LEFT)
        .then(left_code)
        .when(pl.col("choice") == RIGHT)
        .then(right_code)
        .when(pl.col("choice") == TIE)
        .then(EVEN),
    ).with_columns(item=pl.concat_str("image", "other", separator="\n"))
    yield Coded("preference", "nominal", frame)


def _rating(tests: pl.DataFrame) -> Iterator[Coded]:
    """The value given, aspect by aspect."""
    image = pl.col("images").list.first()
    for (aspect,), answers in sorted(tests.partition_by("aspect", as_dict=True).items()):
        yield Coded(str(aspect), "ordinal", answers.select("rater", item=image, image=image, code="value"))


CODERS: dict[str, Callable[[pl.DataFrame], Iterator[Coded]]] = {
    "realism": _realism,
    "pair": _pair,
    "rating": _rating,
}
"""The kinds that can be consolidated."""
