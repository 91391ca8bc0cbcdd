"""The ground truth of improved images, where the synthetic world painted them: kept beside the improvement.

Simulated raters of the blind comparison see it; people see images.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from beholder.improve.improvement import Improvement
from beholder.simulate.painter import GroundTruth
from beholder.tables.atomic import write_atomically

FILE = "truth.parquet"
ASPECTS = ("plausibility", "alignment", "aesthetics", "overall", "detectability")

UNDETECTED = "−detectability"
"""The ground truth's d′ with its sign turned, so that more is better."""


def true_aspect(aspect: str) -> str:
    """Return the aspect of the ground truth that a scorer's aspect is about: ``overall`` where none is like it.

    >>> true_aspect("plausibility"), true_aspect("realism"), true_aspect("preference")
    ('plausibility', '−detectability', 'overall')
    """
    if aspect in ("realism", "detectability"):
        return UNDETECTED
    return aspect if aspect in ASPECTS else "overall"


def true_score(truth: GroundTruth, aspect: str) -> float:
    """Return the ground truth of an aspect by :func:`true_aspect`; more is better."""
    return -truth.detectability if aspect == UNDETECTED else float(getattr(truth, aspect))


def write_truth(improvement: Improvement, truths: Iterable[tuple[str, GroundTruth]], *, add: bool = False) -> None:
    """Write the ground truth of images by their path in the study folder, or add it to what is there."""
    rows = [
        {"path": path, "aspect": aspect, "score": getattr(truth, aspect)}
        for path, truth in truths
        for aspect in ASPECTS
    ]
    schema = {"path": pl.String, "aspect": pl.String, "score": pl.Float64}
    path = improvement.folder / FILE
    table = pl.DataFrame(rows, schema=schema)
    if add and path.is_file():
        table = pl.concat([pl.read_parquet(path), table])
    with write_atomically(path) as file:
        table.unique(["path", "aspect"], keep="last", maintain_order=True).write_parquet(file)


def read_truth(improvement: Improvement) -> dict[str, dict[str, float]]:
    """Return the ground truth by path and aspect; empty where it is not known."""
    path: Path = improvement.folder / FILE
    if not path.is_file():
        return {}
    truth: dict[str, dict[str, float]] = {}
    for image, aspect, score in pl.read_parquet(path).select("path", "aspect", "score").iter_rows():
        truth.setdefault(image, {})[aspect] = score
    return truth
