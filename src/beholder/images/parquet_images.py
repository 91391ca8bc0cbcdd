"""Images in Parquet files, as Hugging Face's ``datasets`` lays them out: a column of bytes, one row per image.

The column is a struct with the field ``bytes``, or plain bytes. Rows are read some megabytes at a time, and the
last few of these portions stay in memory, so that images in order cost one reading of the file. What is in memory
beyond that is the row group that is being read: of a file that has all its rows in one group, the entire column.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import polars as pl

from beholder.images.arrays import SourceFault
from beholder.images.lazy import Lazy
from beholder.images.tar_images import CAPTION_FIELDS

IMAGE_COLUMNS = ("image", "img", "jpg", "jpeg", "png", "webp")
"""Columns in which bytes, without a struct around them, are taken for images; the first of them first."""

NAME_COLUMN = "image_id"
"""The column with names that ``beholder export --format datasets`` writes."""

PORTION_BYTES = 16 << 20
"""About what is read at a time."""

PORTIONS = 8
"""How many of these stay in memory: one per thread that reads."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A column of a Parquet file, as long as the file does not change."""

    path: Path
    column: str
    inside: bool
    """Whether the bytes are a field of a struct."""
    changed: int


@dataclass(frozen=True, slots=True)
class ParquetImage:
    """An image in a row of a Parquet file: read with its neighbours."""

    name: str
    place: _Place
    row: int
    portion: int
    """Rows that are read together."""
    prompt: str | None = None

    def load(self) -> tuple[bytes, bytes]:
        """The bytes of the row and their hash; OSError where the row has none."""
        start = self.row - self.row % self.portion
        content: bytes | None = _portion(self.place, start, self.portion)[self.row - start]
        if content is None:
            raise OSError(f"row {self.row} has no bytes; images that lie elsewhere are not fetched")
        return hashlib.sha256(content).digest(), content


class _ParquetImages(Lazy[ParquetImage]):
    """The images of a Parquet file: names and prompts as columns, where it has them."""

    def __init__(self, place: _Place, rows: int, texts: Mapping[str, pl.Series]) -> None:
        self._place, self._rows = place, rows
        self._names, self._prompts = texts.get("name"), texts.get("prompt")
        self._portion = max(1, rows * PORTION_BYTES // max(place.path.stat().st_size, 1))

    def __len__(self) -> int:
        return self._rows

    def at(self, place: int) -> ParquetImage:
        """Return the image of a row."""
        name = None if self._names is None else self._names[place]
        prompt = None if self._prompts is None else self._prompts[place]
        return ParquetImage(
            name or f"{self._place.path}[{place}]", self._place, place, min(self._portion, self._rows), prompt
        )


def images_in_parquet(path: Path) -> Sequence[ParquetImage] | None:
    """Return the images of a Parquet file in the order of its rows; ``None`` where no column holds images.

    Args:
        path: The file. Names are those of the column ``image_id``, prompts those of ``prompt``, ``caption`` or
            ``text``, where there are such columns.

    Raises:
        SourceFault: Where it is no Parquet file, or several columns could hold the images.
    """
    try:
        schema = pl.read_parquet_schema(path)
        column = _image_column(schema)
        if column is None:
            return None
        place = _Place(path, column, schema[column] != pl.Binary, path.stat().st_mtime_ns)
        table = pl.scan_parquet(path, glob=False)
        columns = _text_columns(schema)
        texts = table.select(**{role: pl.col(name) for role, name in columns.items()}).collect()
        rows = table.select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise SourceFault(f"{path.name} cannot be read as a table ({str(error).partition(chr(10))[0]})") from error
    return _ParquetImages(place, rows, texts.to_dict())


def parquet_files(folder: Path) -> Iterator[Sequence[ParquetImage]]:
    """Yield the images of each Parquet file in a folder and its subfolders that has any, by name."""
    for path in sorted(folder.rglob("*.parquet")):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            images = images_in_parquet(path)
            if images is not None:
                yield images


def _image_column(schema: Mapping[str, pl.DataType]) -> str | None:
    structs = [
        name
        for name, kind in schema.items()
        if isinstance(kind, pl.Struct)
        and any(field.name == "bytes" and field.dtype == pl.Binary for field in kind.fields)
    ]
    plain = [name for name in IMAGE_COLUMNS if schema.get(name) == pl.Binary]
    if IMAGE_COLUMNS[0] in structs:
        return IMAGE_COLUMNS[0]
    if len(structs) > 1:
        raise SourceFault(f"several columns hold images: {', '.join(structs)}; call the one to use 'image'")
    return next(iter([*structs, *plain]), None)


def _text_columns(schema: Mapping[str, pl.DataType]) -> dict[str, str]:
    """Return where names and prompts are."""
    texts = [name for name, kind in schema.items() if kind == pl.String]
    prompt = next((name for name in CAPTION_FIELDS if name in texts), None)
    return ({"name": NAME_COLUMN} if NAME_COLUMN in texts else {}) | ({"prompt": prompt} if prompt else {})


@lru_cache(maxsize=PORTIONS)
def _portion(place: _Place, start: int, rows: int) -> pl.Series:
    content = pl.col(place.column).struct.field("bytes") if place.inside else pl.col(place.column)
    table = pl.scan_parquet(place.path, glob=False).select(pl.col(place.column)).slice(start, rows)
    try:
        return table.collect().select(content).to_series()
    except pl.exceptions.PolarsError as error:
        raise OSError(f"{place.path} cannot be read: {error}") from error
