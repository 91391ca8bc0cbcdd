"""Features in Parquet files: a column of vectors, one row per image."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from beholder.distances.features import Features
from beholder.errors import StatisticsError

USUAL = "features"
"""The column that is taken where several hold vectors."""


def read_parquet_features(path: Path) -> Features:
    """Return the vectors of a file (images, dims), in the order of its rows and in their own precision.

    They are a column of lists or arrays of floating-point numbers: ``features``, or the only such column. Other
    columns are not read.

    Raises:
        StatisticsError: Where there is no such column, rows have none or vectors of different lengths, or it is no
            Parquet file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "0.parquet")
        ...     pl.DataFrame({"image": ["a", "b"], "vector": [[1.0, 2.0], [3.0, 4.0]]}).write_parquet(path)
        ...     read_parquet_features(path).tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """
    try:
        schema = pl.read_parquet_schema(path)
        vectors = pl.read_parquet(path, columns=[_column(path, schema)], glob=False).to_series()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise StatisticsError(f"{path} cannot be read as features: {str(error).partition(chr(10))[0]}") from error
    if isinstance(vectors.dtype, pl.Array):
        lengths = {vectors.dtype.shape[0]}
    else:
        lengths = {length or 0 for length in vectors.list.len().unique()}
    if vectors.null_count() or len(lengths) > 1 or 0 in lengths:
        raise StatisticsError(
            f"{path}: the column '{vectors.name}' must have a vector in every row, all of one length; "
            f"found {vectors.null_count()} rows without, and the lengths {', '.join(map(str, sorted(lengths)))}"
        )
    features: Features = vectors.explode().to_numpy().reshape(len(vectors), max(lengths, default=0))
    return features


def parquet_shape(path: Path) -> tuple[int, int]:
    """Return the numbers of images and of dims of such a file; of the vectors at most the first is read."""
    try:
        schema = pl.read_parquet_schema(path)
        name = _column(path, schema)
        rows = pl.scan_parquet(path, glob=False)
        images = int(rows.select(pl.len()).collect().item())
        kind = schema[name]
        if isinstance(kind, pl.Array):
            return images, kind.shape[0]
        first = rows.select(name).head(1).collect().to_series().to_list()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise StatisticsError(f"{path} cannot be read as features: {str(error).partition(chr(10))[0]}") from error
    return images, len(first[0] or ()) if first else 0


def is_parquet(path: Path) -> bool:
    """Return whether the name of a file says that it is Parquet."""
    return path.suffix.lower() == ".parquet"


def _column(path: Path, schema: Mapping[str, pl.DataType]) -> str:
    vectors = [
        name
        for name, kind in schema.items()
        if isinstance(kind, pl.List | pl.Array) and kind.inner in (pl.Float32, pl.Float64)
    ]
    if USUAL in vectors:
        return USUAL
    if len(vectors) != 1:
        number = "several" if vectors else "none"
        raise StatisticsError(
            f"{path}: expected one column with lists of floating-point numbers, or one of them called '{USUAL}'; "
            f"found {number} among {', '.join(schema)}"
        )
    return vectors[0]
