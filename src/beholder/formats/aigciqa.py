"""AIGCIQA2023: one row per image, the mean and the standard deviation of 28 raters' scores from 0 to 100.

It is read as its authors publish it, a folder of MATLAB and Excel files, or as the CSV file that AAPMT made of
them. Neither names the generators: images 0 to 2399 are six blocks of 400, one for each model. ``class`` (of
prompts) has no column in our tables.
"""

from pathlib import Path

import polars as pl

from beholder.errors import TableError
from beholder.formats.format import Imported, Tables, Written
from beholder.formats.imported import UNKNOWN, ImageRecord
from beholder.formats.opinions import Layout, check_means, read_means, study_from, write_means
from beholder.study.study import Study

BLOCK, IMAGES = 400, 2400

LAYOUT = Layout(
    name="aigciqa2023",
    title="AIGCIQA2023",
    columns={
        "": pl.Int64,
        "name": pl.String,
        "prompt": pl.String,
        "style": pl.String,
        "class": pl.String,
        "quality_mos": pl.Float64,
        "authenticity_mos": pl.Float64,
        "correspondence_mos": pl.Float64,
        "quality_std": pl.Float64,
        "authenticity_std": pl.Float64,
        "correspondence_std": pl.Float64,
    },
    aspects={
        "quality": ("quality_mos", "quality_std"),
        "authenticity": ("authenticity_mos", "authenticity_std"),
        "alignment": ("correspondence_mos", "correspondence_std"),
    },
    scale=(0.0, 100.0),
    raters=28,
)

NOTES = ("class, a kind of prompt, is left out.", "correspondence is called alignment, as elsewhere.")
BLOCKS = "Nothing there names the generators: the six blocks of 400 images are called model-1 to model-6."
NAMELESS = "The file names no generators, and is not the whole release of 2,400 images: nothing can be ranked."


def write(study: Study, tables: Tables, folder: Path) -> Written:
    """Means of every rating question with the aspects quality, authenticity and alignment."""
    other = {
        "": pl.int_range(pl.len(), dtype=pl.Int64),
        "prompt": pl.col("text"),
        "style": pl.col("style"),
        "class": pl.lit(None, dtype=pl.String),
    }
    return write_means(LAYOUT, study, tables, folder, other)


def read(path: Path) -> pl.DataFrame:
    """The rows of the file."""
    return read_means(LAYOUT, path)


def read_study(source: Path, *, images: Path | None = None) -> Imported:
    """A study from the release, from AAPMT's CSV file, or from the only CSV file of a folder."""
    if source.is_dir() and (source / "DATA" / "MOS").is_dir():
        from beholder.formats.aigciqa_release import read_release  # noqa: PLC0415 - Excel, MATLAB: seldom needed

        rows = check_means(LAYOUT, str(source), read_release(source))
        published_images = source / "Image" / "allimg"
        images = published_images if images is None and published_images.is_dir() else images
    else:
        rows = read(_only(source) if source.is_dir() else source)
    names = rows["name"].to_list()
    complete = names == [f"{number}.png" for number in range(IMAGES)]
    records = {
        name: ImageRecord(
            prompt or None, generator=f"model-{1 + place // BLOCK}" if complete else UNKNOWN, style=style or None
        )
        for place, (name, prompt, style) in enumerate(rows.select("name", "prompt", "style").iter_rows())
    }
    return study_from(LAYOUT, rows, records, images, (*NOTES, BLOCKS if complete else NAMELESS))


def _only(folder: Path) -> Path:
    files = sorted(folder.glob("*.csv"))
    if len(files) != 1:
        raise TableError(str(folder), [f"one CSV file was expected; found {len(files)}"])
    return files[0]
