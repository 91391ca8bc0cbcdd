"""What raters of a study say of images, from 0 to 1: the labels that thresholds and forecasts rest on."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import variance

import polars as pl

from beholder.feedback.labels import SCORED_BY, to_unit_scale
from beholder.improve.pictures import StudyPicture
from beholder.study.kinds.catalogue import kind_of
from beholder.study.study import load_study
from beholder.tables.store import Store

FALLBACK = ("quality", "overall")
"""Aspects that stand for the scorer's where raters were not asked about it, the first before the second."""


@dataclass(frozen=True, slots=True)
class LabelledPictures:
    """Images with labels of one aspect."""

    question: str
    aspect: str
    pictures: tuple[StudyPicture, ...]
    labels: tuple[float, ...]
    variance: float
    """Mean variance of a label, from the raters' disagreement about an image."""
    ratings: tuple[tuple[float, ...], ...] = ()
    """Of each image, the single ratings from 0 to 1 that are used; none where only means are there."""
    points: int = 0
    """Of the scale that they are on; 0: continuous."""


def labelled_pictures(folder: Path, aspect: str, pictures: list[StudyPicture]) -> LabelledPictures | None:
    """Return the images that raters rated on an aspect, on a general one, or on the only one asked about.

    ``None`` where the study has no ratings of images.
    """
    store, study = Store(folder), load_study(folder)
    scales = {question.name: kind_of(question).scale(question) for question in study.questions}
    labels = store.read_or_empty("labels").filter(
        pl.col("method").is_in(list(SCORED_BY)) & pl.col("word").is_null() & pl.col("other").is_null()
    )
    labels = labels.filter(pl.col("question").is_in([name for name, scale in scales.items() if scale is not None]))
    pairs = labels.select("question", "aspect").unique(maintain_order=True).rows()
    names = (aspect, *FALLBACK)
    matching = [pair for name in names for pair in pairs if pair[1] == name] or (pairs if len(pairs) == 1 else [])
    if not matching:
        return None
    question, own_aspect = matching[0]
    scale = scales[question]
    ends = (0.0, 1.0) if scale is None else scale.ends
    own = labels.filter((pl.col("question") == question) & (pl.col("aspect") == own_aspect))
    by_image = {
        row["image"]: to_unit_scale(row["value"], row["method"], ends) for row in own.iter_rows(named=True)
    }
    rated = [picture for picture in pictures if picture.image in by_image]
    ratings = _ratings(store, question, own_aspect, ends)
    return LabelledPictures(
        question,
        own_aspect,
        tuple(rated),
        tuple(by_image[picture.image] for picture in rated),
        _variance(ratings.values()),
        tuple(ratings.get(picture.image, ()) for picture in rated),
        0 if scale is None else scale.points,
    )


def _ratings(store: Store, question: str, aspect: str, ends: tuple[float, float]) -> dict[str, tuple[float, ...]]:
    """Return the ratings of each image that are used, from 0 to 1."""
    rows = store.read_or_empty("judgements").filter(
        (pl.col("question") == question) & (pl.col("aspect") == aspect) & pl.col("used")
    )
    by_image = rows.group_by("image", maintain_order=True).agg((pl.col("value") - ends[0]) / (ends[1] - ends[0]))
    return {image: tuple(ratings) for image, ratings in by_image.iter_rows()}


def _variance(ratings: Iterable[tuple[float, ...]]) -> float:
    """Return the mean over images of the variance of a label; 0 where no image has two ratings."""
    spreads = [variance(several) / len(several) for several in ratings if len(several) > 1]
    return sum(spreads) / len(spreads) if spreads else 0.0
