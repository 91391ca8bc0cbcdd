"""Tables in parts: rows dealt into files by bucket."""

from pathlib import Path

import polars as pl
import pytest

from beholder.tables import parts
from beholder.tables.parts import shuffled


@pytest.mark.parametrize("gathered", [1, 25, 1_000])
def test_every_bucket_has_its_rows_in_their_order(
    gathered: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROWS_GATHERED", gathered)
    rows = pl.DataFrame({"row": range(100)})
    files = shuffled(iter(rows.iter_slices(10)), pl.col("row") % 3, tmp_path, "rows")
    assert sorted(files) == [0, 1, 2]
    for bucket, its_files in files.items():
        dealt = pl.concat(pl.read_parquet(file) for file in its_files)
        assert dealt["row"].to_list() == [row for row in range(100) if row % 3 == bucket]
    turns = {1: 10, 25: 4, 1_000: 1}[gathered]  # of 25: after the 3rd, 6th and 9th batch, and at the end
    assert len(list(tmp_path.iterdir())) == 3 * turns
