"""Answers as numbers about items: what agreement, screening and labels have in common."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.stats.agreement.krippendorff import Scale
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import LEFT, RIGHT, TIE
from beholder.study.kinds.realism import GENERATED
from beholder.study.kinds.side_by_side import SIDE_BY_SIDE
from beholder.study.kinds.sweep import SweepQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.ranked_pairs import pairs_of_rankings
from beholder.tables.sweep_credits import credits_of_sweeps

FIRST, SECOND, EVEN = 0.0, 1.0, 2.0
"""Codes of a vote on a pair whose images are put in the order of their ids."""

LEANINGS = {choice: float(2 - place) for place, choice in enumerate(SIDE_BY_SIDE.choices)}
"""Of the five answers how far each leans to the left image: 2, 1, 0, −1, −2."""


@dataclass(frozen=True, slots=True)
class Coded:
    """Answers to one aspect as columns ``rater``, ``item``, ``code`` (and what identifies the item)."""

    aspect: str
    scale: Scale
    frame: pl.DataFrame

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], list[str]]:
        """Rater numbers, item numbers, codes, and the raters' names in the order of their numbers."""
        names = self.frame["rater"].unique().sort()
        items = self.frame["item"].unique().sort()
        return (
            _numbered(self.frame["rater"], names),
            _numbered(self.frame["item"], items),
            self.frame["code"].to_numpy(),
            names.to_list(),
        )

    def of(self, raters: set[str]) -> "Coded":
        """The answers of these people alone."""
        return replace(self, frame=self.frame.filter(pl.col("rater").is_in(list(raters))))


def code_answers(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame | None = None) -> Iterator[Coded]:
    """The answers to the test trials of a question, coded by aspect; of a person's answers to an item, the first.

    A person has several only where they took part twice. ``marks`` are needed for sweeps, whose answers they are.
    """
    pressed = TABLES["marks"].empty() if marks is None else marks
    for coded in CODERS[question.kind](question, tests, pressed):
        once = coded.frame.unique(["rater", "item"], keep="first", maintain_order=True)
        yield replace(coded, frame=once)


def _realism(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:  # noqa: ARG001
    """1 where an image was called generated."""
    image = pl.col("images").list.first()
    frame = tests.select("rater", item=image, image=image, code=(pl.col("choice") == GENERATED).cast(pl.Float64))
    yield Coded("realism", "nominal", frame)


def _pair(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:  # noqa: ARG001
    """Which image of the pair won, whichever side it stood on."""
    left = pl.when("in_order").then(FIRST).otherwise(SECOND)
    right = pl.when("in_order").then(SECOND).otherwise(FIRST)
    said = pl.col("choice")
    code = pl.when(said == LEFT).then(left).when(said == RIGHT).then(right).when(said == TIE).then(EVEN)
    yield Coded("preference", "nominal", _paired(tests, code))


def _ranking(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:
    """Every two images of a ranking as a pair."""
    yield from _pair(question, pairs_of_rankings(tests.select("rater", "images", "ranking")), marks)


def _side_by_side(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:  # noqa: ARG001
    """How far the answer leans to the image that is first by id, from −2 to 2."""
    leaning = pl.col("choice").replace_strict(LEANINGS, return_dtype=pl.Float64)
    code = pl.when("in_order").then(leaning).otherwise(0.0 - leaning)
    yield Coded("preference", "ordinal", _paired(tests, code))


def _paired(tests: pl.DataFrame, code: pl.Expr) -> pl.DataFrame:
    """Votes on pairs; ``code`` may ask whether the images stood in the order of their ids, by ``in_order``."""
    left, right = pl.col("images").list.get(0), pl.col("images").list.get(1)
    return (
        tests.select("rater", "choice", image=pl.min_horizontal(left, right), other=pl.max_horizontal(left, right))
        .with_columns(in_order=tests.select(left < right).to_series())
        .with_columns(item=pl.concat_str("image", "other", separator="\n"), code=code)
        .drop("choice", "in_order")
    )


def _rating(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:  # noqa: ARG001
    """The value given, aspect by aspect."""
    image = pl.col("images").list.first()
    for (aspect,), answers in sorted(tests.partition_by("aspect", as_dict=True).items()):
        yield Coded(str(aspect), "ordinal", answers.select("rater", item=image, image=image, code="value"))


def _sweep(question: AnyQuestion, tests: pl.DataFrame, marks: pl.DataFrame) -> Iterator[Coded]:
    """The credit that each image has from the presses after it."""
    assert isinstance(question, SweepQuestion)
    credit = credits_of_sweeps(
        tests.select("rater", "trial", "session", "images"),
        marks,
        each_ms=question.each_ms,
        latency_ms=question.latency_ms,
        latency_sd_ms=question.latency_sd_ms,
    )
    image = pl.col("images").list.first()
    yield Coded("realism", "interval", credit.select("rater", item=image, image=image, code="value"))


def _numbered(values: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    """The place of each value among the sorted names."""
    order = pl.DataFrame({"name": names, "place": np.arange(len(names))})
    return values.to_frame("name").join(order, on="name", maintain_order="left")["place"].to_numpy()


Coder = Callable[[AnyQuestion, pl.DataFrame, pl.DataFrame], Iterator[Coded]]
"""From a question, its answers to test trials and its marks to codes."""

CODERS: dict[str, Coder] = {
    "realism": _realism,
    "timed-realism": _realism,
    "pair": _pair,
    "ranking": _ranking,
    "side-by-side-5": _side_by_side,
    "rating": _rating,
    "rich-feedback": _rating,
    "sweep": _sweep,
}
"""How the answers of each question kind are coded."""
