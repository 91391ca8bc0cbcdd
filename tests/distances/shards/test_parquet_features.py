"""Features in Parquet files: equal to those of NumPy's format, and what is no table of features."""

from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.distances.shards.frechet import frechet_of_shards
from beholder.distances.shards.shard import FeatureFile
from beholder.errors import StatisticsError


def test_distances_are_those_of_the_same_features_in_numpys_format(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    sets: dict[str, list[list[FeatureFile]]] = {"npy": [], "parquet": []}
    for name in ("real", "generated"):
        parts = [rng.normal(size=(rows, 6)).astype(np.float32) for rows in (20, 13)]
        for kind, files in sets.items():
            files.append([FeatureFile(tmp_path / f"{name}{number}.{kind}") for number in range(len(parts))])
        for number, part in enumerate(parts):
            np.save(tmp_path / f"{name}{number}.npy", part)
            frame = pl.DataFrame({"image": [str(row) for row in range(len(part))], "features": part})
            lists = frame.with_columns(pl.col("features").cast(pl.List(pl.Float32)))  # as other tools write them
            (frame if number else lists).write_parquet(tmp_path / f"{name}{number}.parquet")
    for numpy, parquet in zip(*(chain(*files) for files in sets.values()), strict=True):
        assert parquet().dtype == np.float32
        np.testing.assert_array_equal(parquet(), numpy())
    assert frechet_of_shards(*sets["parquet"]) == frechet_of_shards(*sets["npy"])


def test_the_only_column_of_vectors_is_taken_and_of_several_the_one_called_features(tmp_path: Path) -> None:
    path = tmp_path / "0.parquet"
    pl.DataFrame({"clip": [[1.0, 2.0]], "width": [8]}).write_parquet(path)
    assert FeatureFile(path)().tolist() == [[1.0, 2.0]]
    pl.DataFrame(schema={"clip": pl.Array(pl.Float32, 3)}).write_parquet(path)
    assert FeatureFile(path)().shape == (0, 3)
    pl.DataFrame({"clip": [[1.0]], "features": [[2.0]]}).write_parquet(path)
    assert FeatureFile(path)().tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        ({"width": [8]}, "found none among width"),
        ({"clip": [[1.0]], "dino": [[2.0]]}, "found several among clip, dino"),
        ({"clip": [[1.0], None]}, "found 1 rows without"),
        ({"clip": [[1.0], [1.0, 2.0]]}, "the lengths 1, 2"),
        ({"clip": [["a"]]}, "found none"),
    ],
)
def test_what_is_no_table_of_features_is_said(
    tmp_path: Path, columns: dict[str, list[object]], fault: str
) -> None:
    path = tmp_path / "0.parquet"
    pl.DataFrame(columns).write_parquet(path)
    with pytest.raises(StatisticsError, match=fault):
        FeatureFile(path)()


def test_a_file_that_is_no_parquet_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "0.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(StatisticsError, match="cannot be read as features"):
        FeatureFile(tmp_path / "0.parquet")()
