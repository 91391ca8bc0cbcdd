"""A folder that Hugging Face's ``datasets.load_dataset`` loads: Parquet files, and a card that describes them.

It has up to three configurations, each with one split, ``train``: ``images`` (the files themselves, in the layout
of the feature ``Image``: bytes and path), ``answers`` (one row per answer that counts), and ``labels``, where the
study has any. The features stand in the card's YAML, from which ``datasets`` takes them. Neither ``datasets`` nor
pyarrow is needed to write it.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from beholder.errors import ImageError
from beholder.formats.answered import answered_tests, public_paths
from beholder.formats.dataset_card import CARD, Configuration, write_card
from beholder.formats.format import Tables, Written
from beholder.formats.reading import shortened
from beholder.study.study import Study

SHARD_BYTES = 256 * 2**20
"""Bytes of images after which another Parquet file is begun."""

ROW_GROUP_BYTES = 16 * 2**20
"""About the bytes of images that a reader has to hold at a time."""

IMAGE = pl.Struct({"bytes": pl.Binary, "path": pl.String})
"""How the feature ``Image`` is stored."""

LABEL_COLUMNS = ("question", "aspect", "method", "image", "other", "word", "value", "choice", "low", "high")
COUNT_COLUMNS = ("answers", "raters")


def write(study: Study, tables: Tables, folder: Path, *, source: Path, licence: str | None = None) -> Written:
    """Write the images, answers and labels of a study, and the card ``README.md``.

    Args:
        study: The study.
        tables: Its tables.
        folder: Where to write.
        source: The study folder, to which the paths of the images are relative.
        licence: The licence as the hub spells it, such as ``cc-by-4.0``; by default none is claimed.

    Returns:
        The files, and what they lack.

    Raises:
        ImageError: With all image files that are there but cannot be read.
    """
    notes: list[str] = []
    configurations = [_write_images(tables, source, folder, notes)]
    answers = _answers(study, tables)
    if answers.height:
        configurations.append(_write_frame("answers", answers, folder))
        notes.append("raters are numbered from 0")
    if tables["marks"].height:
        notes.append("marks are left out; the format parquet has them")
    labels = _labels(tables)
    if labels is None:
        notes.append("no labels yet: beholder consolidate writes them")
    else:
        configurations.append(_write_frame("labels", labels, folder))
    if licence is None:
        notes.append("no licence is claimed: name one with --licence before you publish the folder")
    write_card(folder, study, tables, configurations, licence)
    files = [file for configuration in configurations for file in configuration.files]
    return Written((folder / CARD, *files), tuple(notes))


def _write_images(tables: Tables, source: Path, folder: Path, notes: list[str]) -> Configuration:
    """One row per image with the bytes of its file, in files of a bounded size."""
    rows = _image_rows(tables)
    paths = [source / path for path in tables["images"]["path"]]
    _check_readable(paths)
    absent = sum(not path.is_file() for path in paths)
    if absent:
        notes.append(
            f"the files of {absent:,} of {len(paths):,} images are not available; their rows have no image"
        )
    public = list(public_paths(tables["images"]).values())
    shards = list(_shards(paths))
    files = []
    for number, shard in enumerate(shards):
        content = [
            {"bytes": paths[row].read_bytes(), "path": Path(public[row]).name} if paths[row].is_file() else None
            for row in shard
        ]
        images = pl.Series("image", content, dtype=IMAGE)
        frame = rows[shard.start : shard.stop].insert_column(0, images)
        size = sum(len(image["bytes"]) for image in content if image)
        path = folder / "images" / f"train-{number:05d}-of-{len(shards):05d}.parquet"
        files.append(_write_parquet(frame, path, max(1, len(shard) * ROW_GROUP_BYTES // max(size, 1))))
    schema = {"image": IMAGE, **rows.schema}
    return Configuration("images", tuple(files), rows.height, schema)


def _image_rows(tables: Tables) -> pl.DataFrame:
    """What is known of each image besides its file."""
    texts = tables["prompts"].select("prompt", "text")
    return (
        tables["images"]
        .join(texts, on="prompt", how="left", maintain_order="left")
        .select(
            image_id="image",
            generator="generator",
            real="real",
            gold="gold",
            prompt="text",
            style="style",
            width="width",
            height="height",
            sha256="sha256",
        )
    )


def _check_readable(paths: list[Path]) -> None:
    """Raise an error that names every file that is there and cannot be read, before anything is written."""
    faults = []
    for path in (path for path in paths if path.is_file()):
        try:
            path.open("rb").close()
        except OSError as error:
            faults.append(f"{path}: {error.strerror}")
    if faults:
        raise ImageError("images", shortened(faults))


def _shards(paths: list[Path]) -> Iterator[range]:
    """Ranges of rows whose images take about :data:`SHARD_BYTES` together; at least one, if only of no rows."""
    start, size = 0, 0
    for row, path in enumerate(paths):
        size += path.stat().st_size if path.is_file() else 0
        if size >= SHARD_BYTES and row + 1 < len(paths):
            yield range(start, row + 1)
            start, size = row + 1, 0
    yield range(start, len(paths))


def _answers(study: Study, tables: Tables) -> pl.DataFrame:
    """Every answer that counts; raters are numbered over all questions."""
    answers = pl.concat(
        [
            answered_tests(tables, question.name).with_columns(kind=pl.lit(question.kind))
            for question in study.questions
        ]
    )
    numbers: Mapping[str, int] = {
        rater: number for number, rater in enumerate(answers["rater"].unique(maintain_order=True))
    }
    return answers.select(
        "question",
        "kind",
        "aspect",
        pl.col("rater").replace_strict(numbers, return_dtype=pl.Int64),
        image_ids="images",
        prompt=pl.col("text"),
        choice="choice",
        value="value",
        ranking="ranking",
        seconds="seconds",
        answered="answered",
    )


def _labels(tables: Tables) -> pl.DataFrame | None:
    """The labels, if ``consolidate`` wrote any."""
    labels = tables.get("labels")
    if labels is None or labels.is_empty():
        return None
    return labels.select(*LABEL_COLUMNS, *COUNT_COLUMNS).rename({"image": "image_id", "other": "other_id"})


def _write_frame(name: str, frame: pl.DataFrame, folder: Path) -> Configuration:
    file = _write_parquet(frame, folder / name / "train-00000-of-00001.parquet")
    return Configuration(name, (file,), frame.height, dict(frame.schema))


def _write_parquet(frame: pl.DataFrame, path: Path, rows_per_group: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.write_parquet(path, compression="zstd", row_group_size=rows_per_group)
    return path
