"""What single judgements say of generators, as numbers within known bounds whose mean is a rating."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from beholder.judgements.coding import PAIRED
from beholder.judgements.generator_votes import generator_votes
from beholder.judgements.rankings import RANK
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.kinds.coding import ChoiceCoding, Coding

UNIT = (0.0, 1.0)
GRADES = (-2.0, 2.0)
"""Bounds of a graded vote."""

FAKE_ERRORS, OPINION, WINS, PREFERENCE, PASSES, COUNTED = (
    "fake-error-rate",
    "mean-opinion",
    "win-rate",
    "mean-preference",
    "pass-rate",
    "option-share",
)

COLUMNS = ("rater", "generator", "image", "rival", "other", "value")


@dataclass(frozen=True, eq=False)
class GeneratorValues:
    """Judgements of one aspect as values of generators: higher is better, and ``method`` names their mean."""

    aspect: str
    method: str
    bounds: tuple[float, float]
    rows: pl.DataFrame
    """``rater``, ``generator``, ``image`` and ``value``; of a comparison also the ``rival`` and its image,
    ``other``, one row for either generator."""


def generator_values(
    question: AnyQuestion, judgements: pl.DataFrame, images: pl.DataFrame
) -> Iterator[GeneratorValues]:
    """Yield the values of generators in the judgements of a question, aspect by aspect.

    Ratings are taken as they are; a generated image called real is a 1; of a rapid series, 1 less the credit of
    presses; a vote or an implied vote of a ranking is 1 for the winner, 0 for the loser and ½ for both in a tie;
    a graded vote from −2 to 2 for either; a named option is a 1 where it counts. Adaptive exposures yield nothing:
    errors there follow the staircase.
    """
    kind = kind_of(question)
    coding = kind.coding(question)
    value_kind = coding.value_kind
    if kind.adaptive(question) is not None or judgements.is_empty():
        return
    if value_kind in PAIRED or value_kind == RANK:
        graded = value_kind == "graded-vote"
        rows = _compared(generator_votes(judgements, images), graded=graded)
        method, bounds = (PREFERENCE, GRADES) if graded else (WINS, UNIT)
        if not rows.is_empty():
            yield GeneratorValues("preference", method, bounds, rows)
        return
    generators = images.filter(~pl.col("real")).select("image", "generator")
    judged = judgements.join(generators, on="image", maintain_order="left")
    for (aspect,), part in sorted(judged.partition_by("aspect", as_dict=True).items()):
        match value_kind:
            case "detection":
                method, bounds, value = FAKE_ERRORS, UNIT, (pl.col("value") == 0).cast(pl.Float64)
            case "credit":
                method, bounds, value = PASSES, UNIT, 1 - pl.col("value")
            case "category":
                method, bounds, value = COUNTED, UNIT, counts(coding).cast(pl.Float64)
            case _:
                scale = kind.scale(question)
                method, bounds, value = OPINION, UNIT if scale is None else scale.ends, pl.col("value")
        yield GeneratorValues(str(aspect), method, bounds, _single(part, value))


def counts(coding: Coding) -> pl.Expr:
    """Whether the ``value`` of a judgement is the place of an option that counts."""
    places = coding.counted if isinstance(coding, ChoiceCoding) else ()
    return pl.col("value").is_in(list(places))


def _compared(votes: pl.DataFrame, *, graded: bool) -> pl.DataFrame:
    """Return two rows per vote: how it values either generator."""
    lead = pl.col("value") if graded else (1 + pl.col("value").sign()) / 2
    loss = 0.0 - lead if graded else 1 - lead
    both = [
        votes.select("rater", "image", "other", generator="first", rival="second", value=lead),
        votes.select("rater", image="other", other="image", generator="second", rival="first", value=loss),
    ]
    return pl.concat([part.select(COLUMNS) for part in both])


def _single(judged: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    nobody = pl.lit(None, pl.String)
    return judged.select("rater", "generator", "image", rival=nobody, other=nobody, value=value).select(COLUMNS)
