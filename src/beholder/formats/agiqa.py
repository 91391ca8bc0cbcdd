"""AGIQA-3K: ``data.csv``, one row per image with the mean and the spread of 21 raters' scores from 0 to 5.

``name`` is the file's; up to the second underscore it tells the generator and its setting (``sd1.5_lowstep_012``).
The words of ``adj1`` and ``adj2`` are part of ``prompt`` and have no place of their own in our tables.
"""

from pathlib import Path

import polars as pl

from beholder.formats.format import Imported, Tables, Written
from beholder.formats.imported import UNKNOWN, ImageRecord
from beholder.formats.opinions import Layout, read_means, study_from, write_means
from beholder.study.study import Study

FILE, IMAGES = "data.csv", "image"

LAYOUT = Layout(
    name="agiqa-3k",
    title="AGIQA-3K",
    columns={
        "name": pl.String,
        "prompt": pl.String,
        "adj1": pl.String,
        "adj2": pl.String,
        "style": pl.String,
        "mos_quality": pl.Float64,
        "std_quality": pl.Float64,
        "mos_align": pl.Float64,
        "std_align": pl.Float64,
    },
    aspects={"quality": ("mos_quality", "std_quality"), "alignment": ("mos_align", "std_align")},
    scale=(0.0, 5.0),
    raters=21,
)

NOTES = ("adj1 and adj2 are left out: their words stand in the prompt.",)


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Means of every rating question with the aspects quality and alignment."""
    nothing = pl.lit(None, dtype=pl.String)
    return write_means(
        LAYOUT,
        study,
        tables,
        folder,
        {"prompt": pl.col("text"), "adj1": nothing, "adj2": nothing, "style": pl.col("style")},
    )


def read(path: Path) -> pl.DataFrame:
    """The rows of the file."""
    return read_means(LAYOUT, path)


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from ``data.csv`` or the folder with it; images are looked for in ``image/`` beside it."""
    path = source / FILE if source.is_dir() else source
    rows = read(path)
    if images is None and (path.parent / IMAGES).is_dir():
        images = path.parent / IMAGES
    records = {
        name: ImageRecord(prompt or None, generator=generator_of(name), style=style or None)
        for name, prompt, style in rows.select("name", "prompt", "style").iter_rows()
    }
    return study_from(LAYOUT, rows, records, images, NOTES)


def generator_of(name: str) -> str:
    """``sd1.5`` of sd1.5_normal_012.jpg, ``sd1.5-lowstep`` of sd1.5_lowstep_012.jpg."""
    parts = Path(name).name.split("_")
    if len(parts) < 3:
        return UNKNOWN
    return parts[0] if parts[1] == "normal" else f"{parts[0]}-{parts[1]}"
