"""Our tables as Parquet and as CSV, and the catalogue of formats."""

import json
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal
from tests.formats.conftest import Making, study_of

from beholder.collect.routes.researcher import FORMATS as OF_THE_SERVER
from beholder.formats import ours
from beholder.formats.answered import competition_ranks, public_paths
from beholder.formats.catalogue import FORMATS
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.study import load_study

QUESTION = RankingQuestion(name="order", images=3)


def small(making: Making) -> Making:
    making.prompt("p", 'a "cat",\nasleep')
    for name in "abc":
        making.image(name, "gen", prompt="p")
    making.session("r", "order")
    making.judged("r", QUESTION, ["a", "b", "c"], {"preference": {"ranking": [2, 1, 3]}}, prompt="p")
    return making


def test_the_server_offers_what_there_is() -> None:
    assert tuple(FORMATS) == OF_THE_SERVER


def test_parquet_is_row_for_row(making: Making, tmp_path: Path) -> None:
    tables, study = small(making).tables(), study_of(QUESTION)
    ours.write_parquet(study, tables, tmp_path)
    assert load_study(tmp_path) == study
    for name, frame in tables.items():
        assert_frame_equal(pl.read_parquet(tmp_path / "tables" / f"{name}.parquet"), frame)


def test_csv_holds_lists_as_json_and_moments_as_iso(making: Making, tmp_path: Path) -> None:
    tables = small(making).tables()
    maps = pl.DataFrame({"heatmap": [b"\x00\xff"]})
    ours.write_csv(study_of(QUESTION), tables | {"regions": maps}, tmp_path)
    answers = pl.read_csv(tmp_path / "answers.csv")
    assert json.loads(answers["ranking"][0]) == [2, 1, 3]
    assert answers["answered"][0] == "2026-01-31T13:00:00.000000Z"
    assert pl.read_csv(tmp_path / "prompts.csv")["text"][0] == 'a "cat",\nasleep'
    assert pl.read_csv(tmp_path / "regions.csv")["heatmap"][0] == "AP8="


def test_ranks_share_the_better_place() -> None:
    assert competition_ranks([0.5, 0.1, 0.5, 0.9]) == [2, 1, 2, 4]


def test_a_file_outside_the_study_is_not_named_by_its_place() -> None:
    images = pl.DataFrame({"image": ["a", "b", "c"], "path": ["images/a.png", "/secret/b.png", "C:\\c.png"]})
    assert public_paths(images) == {"a": "images/a.png", "b": "b", "c": "c"}
