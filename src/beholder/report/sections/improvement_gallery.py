"""Images before and after an improvement, side by side, with where they were wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from PIL import Image

from beholder.images.thumbnail import data_uri, open_or_none, shrunk
from beholder.report.site.overlay import draw_heatmap

SIDE = 320
"""Longest side of a picture in the gallery, in pixels."""
MOST_KEPT, MOST_LEFT = 12, 4
"""Changes in the gallery, for each method: kept ones, and others; the first of each, not the best."""


@dataclass(frozen=True, slots=True)
class GalleryCard:
    """One change: the images, and what is said of it."""

    title: str
    prompt: str
    before: str | None
    heatmap: str | None
    after: str | None
    accepted: bool
    caption: str


def build_gallery(
    folder: Path, changes: pl.DataFrame, background: str
) -> Iterator[tuple[str, tuple[GalleryCard, ...]]]:
    """Yield, for each method, the first changes that were kept and the first that were not."""
    pictured = changes.filter(pl.col("before").is_not_null() & pl.col("after").is_not_null())
    for (method,), part in pictured.group_by("method", maintain_order=True):
        changed = part.filter(pl.col("kept") & (pl.col("before") != pl.col("after"))).head(MOST_KEPT)
        others = part.filter(~pl.col("kept")).head(MOST_LEFT)
        rows = [row for rows in (changed, others) for row in rows.iter_rows(named=True)]
        yield str(method), tuple(_card(folder, row, background) for row in rows)


def _card(folder: Path, row: Mapping[str, object], background: str) -> GalleryCard:
    before, after = (open_or_none(folder / str(row[when]), background) for when in ("before", "after"))
    heatmap = None
    if row["heatmap"] and before is not None and (folder / str(row["heatmap"])).is_file():
        with Image.open(folder / str(row["heatmap"])) as file:
            levels = np.asarray(file.convert("L"), np.float32) / 255
        heatmap = data_uri(draw_heatmap(levels, before, "implausibility", side=SIDE))
    return GalleryCard(
        title=str(row["change"]),
        prompt=str(row["prompt"] or ""),
        before=None if before is None else data_uri(shrunk(before, SIDE)),
        heatmap=heatmap,
        after=None if after is None else data_uri(shrunk(after, SIDE)),
        accepted=bool(row["kept"]),
        caption=_caption(row),
    )


def _caption(row: Mapping[str, object]) -> str:
    parts = []
    for name, label in (("own", "score"), ("held_out", "held out"), ("truth", "ground truth")):
        before, after = row[f"{name}_before"], row[f"{name}_after"]
        if isinstance(before, float) and isinstance(after, float):
            parts.append(f"{label} {before:.2f} → {after:.2f}")
    return "; ".join([*parts, str(row["reason"])])
