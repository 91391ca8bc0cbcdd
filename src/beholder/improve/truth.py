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


def write_truth(improvement: Improvement, truths: Iterable[tuple[str, GroundTruth]]) -> None:
    """Write the ground truth of images by their path in the study folder."""
    rows = [
        {"path": path, "aspect": aspect, "score": getattr(truth, aspect)}
        for path, truth in truths
        for aspect in ASPECTS
    ]
    schema = {"path": pl.String, "aspect": pl.String, "score": pl.Float64}
    with write_atomically(improvement.folder / FILE) as file:
        pl.DataFrame(rows, schema=schema).unique(maintain_order=True).write_parquet(file)


def read_truth(improvement: Improvement) -> dict[str, dict[str, float]]:
    """Return the ground truth by path and aspect; empty where it is not known."""
    path: Path = improvement.folder / FILE
    if not path.is_file():
        return {}
    truth: dict[str, dict[str, float]] = {}
    for image, aspect, score in pl.read_parquet(path).select("path", "aspect", "score").iter_rows():
        truth.setdefault(image, {})[aspect] = score
    return truth
