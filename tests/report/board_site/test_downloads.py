"""The downloads: what they hold, and whether the tools that read such files accept them."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import polars as pl
import pytest
import yaml

from beholder.report.board_site.citation import citation_file
from beholder.report.board_site.croissant import Publication
from beholder.report.board_site.data_files import board_schema
from beholder.tables.provenance import file_hash
from beholder.tables.store import Store


def test_json_follows_its_schema_and_the_schema_forbids_what_is_not_declared(site: Path) -> None:
    board = json.loads((site / "data" / "board.json").read_text(encoding="utf-8"))
    schema = json.loads((site / "data" / "board.schema.json").read_text(encoding="utf-8"))
    assert schema == board_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(board, schema)
    board["board"][0]["chance_best"] = 1.5
    with pytest.raises(jsonschema.ValidationError, match="maximum"):
        jsonschema.validate(board, schema)


def test_tables_are_copied_byte_for_byte(site: Path, board_study: Path) -> None:
    for name in ("board", "board_pairs", "claims", "prompts"):
        assert file_hash(site / "data" / f"{name}.parquet") == Store(board_study).hash(name)
    assert not (site / "data" / "judgements.parquet").exists()


READ_CROISSANT = """
import json, sys
import mlcroissant

dataset = mlcroissant.Dataset(sys.argv[1])
records = list(dataset.records("board"))
print(json.dumps({
    "errors": list(map(str, dataset.metadata.ctx.issues.errors)),
    "records": len(records),
    "first": float(records[0]["board/value"]),
    "record_sets": [record_set.id for record_set in dataset.metadata.record_sets],
}))
"""
"""In a process of its own: the logger that mlcroissant imports closes the files of whoever captures its output."""


def test_croissant_validates_and_its_records_are_the_tables(site: Path, board_study: Path) -> None:
    command = (sys.executable, "-W", "ignore", "-c", READ_CROISSANT, str(site / "data" / "croissant.json"))
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    board = Store(board_study).read("board")
    assert (answer["errors"], answer["records"]) == ([], board.height)
    assert answer["first"] == pytest.approx(board["value"][0])
    assert set(answer["record_sets"]) >= {"board", "prompts", "prompt_values"}
    assert pl.read_parquet(site / "data" / "prompt_values.parquet").height == 5 * 24 * 6


def test_a_citation_has_what_the_format_requires() -> None:
    stated = Publication(
        "Painters", "About them", date(2026, 11, 17), ("A. Rater",), "CC-BY-4.0", "https://example.org"
    )
    content = yaml.safe_load(citation_file(stated))
    assert {"cff-version", "message", "title", "authors"} <= set(content)  # required by 1.2.0
    assert (content["type"], content["license"]) == ("dataset", "CC-BY-4.0")
    assert content["date-released"] == date(2026, 11, 17)
    unsigned = yaml.safe_load(citation_file(Publication("Painters", "About them", date(2026, 11, 17))))
    assert unsigned["authors"] == [{"name": "The authors of “Painters”"}]
    assert "license" not in unsigned
