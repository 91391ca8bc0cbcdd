"""A study in Python: its tables, stages, leaderboards and figures, equal to the command line's."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import polars as pl
import pytest
from tests.conftest import SmallWorld

import beholder as bh
from beholder.api.leaderboard import Leaderboard
from beholder.api.results import load_results
from beholder.api.study_folder import StudyFolder
from beholder.errors import MissingTableError, StageError, StudyError, UserError
from beholder.report.tables.leaderboard import format_board
from beholder.simulate.world import MANIFEST
from beholder.study.kinds.pair import PairQuestion
from beholder.tables.store import Store


@pytest.fixture(scope="module")
def study(small_world: SmallWorld, tmp_path_factory: pytest.TempPathFactory) -> StudyFolder:
    """Two questions about a synthetic world, answered by simulated raters."""
    new = bh.new_study(
        ["hpd-pairs", "mos"],
        tmp_path_factory.mktemp("made") / "study",
        manifest=small_world.folder / "images" / MANIFEST,
        raters=12,
        trials=20,
        numbers={"repeats": 0, "gold_every": 0},
    )
    new.run(simulate=12)
    return new


class TestTables:
    def test_every_table_is_an_attribute(self, study: StudyFolder) -> None:
        assert study.ratings.equals(Store(study.folder).read("ratings"))
        assert {"labels", "ratings", "judgements", "images"} <= set(study.tables) <= set(dir(study))
        assert study.settings.question("opinion").kind == "rating"

    def test_a_missing_table_says_which_command_makes_it(self, study: StudyFolder) -> None:
        assert not hasattr(study, "correlations")
        with pytest.raises(MissingTableError, match=f"'correlations' yet: beholder measure {study.folder}"):
            study.correlations  # noqa: B018
        assert issubclass(MissingTableError, StageError)

    def test_a_misspelt_name(self, study: StudyFolder) -> None:
        with pytest.raises(AttributeError, match=r"no table or attribute 'rating'. Did you mean 'ratings'"):
            study.rating  # noqa: B018
        with pytest.raises(UserError, match="Did you mean 'labels'"):
            study.table("label")

    def test_it_says_what_it_holds(self, study: StudyFolder) -> None:
        text = repr(study)
        assert "questions: preference (pair), opinion (rating)" in text
        assert "sessions: 24, 24 simulated" in text
        assert "<li>tables: prompts, images, trials" in study._repr_html_()

    def test_only_studies_are_opened(self, tmp_path: Path) -> None:
        with pytest.raises(StudyError, match=r"no study\.toml here"):
            bh.open_study(tmp_path)


class TestLeaderboards:
    def test_they_are_the_terminals(self, study: StudyFolder) -> None:
        headlines = load_results(study.folder).headlines
        boards = study.leaderboards()
        assert len(boards) == len(headlines) == 3
        for board, own in zip(boards, headlines, strict=True):
            assert repr(board).startswith(format_board(own))
            assert "Simulated raters gave these answers." in repr(board)
        ratings = study.ratings.filter(pl.col("slice") == "all", pl.col("method") == "bradley-terry")
        board = study.leaderboard("preference")
        assert (
            board.to_frame()
            .sort("generator")
            .select("rating", "low", "high", "rank_low")
            .equals(ratings.sort("generator").select("rating", "low", "high", "rank_low"))
        )
        assert board.level == 0.95

    def test_pairs_have_the_verdicts_of_the_table(self, study: StudyFolder) -> None:
        pairs = study.leaderboard("preference").pairs()
        table = study.separations.filter(pl.col("slice") == "all", pl.col("question") == "preference")
        assert pairs["separated"].tolist() == table["separated"].to_list()
        assert pairs["difference"].tolist() == table["difference"].to_list()

    def test_one_of_several_has_to_be_named(self, study: StudyFolder) -> None:
        with pytest.raises(UserError, match="several leaderboards; choose one of:\n  'preference'"):
            study.leaderboard()
        with pytest.raises(UserError, match="no such leaderboard; choose one of:\n"):
            study.leaderboard("opinion", method="elo")

    def test_before_ranking_there_are_none(self, painted_study: Callable[..., Path]) -> None:
        empty = bh.open_study(painted_study(PairQuestion(name="preference")))
        assert empty.leaderboards() == ()
        with pytest.raises(UserError, match="no ratings of the judgements as they are now: beholder rank"):
            empty.leaderboard()

    def test_other_libraries_and_latex(self, study: StudyFolder) -> None:
        board = study.leaderboard("opinion", aspect="quality")
        assert isinstance(board.to_frame("pandas"), pd.DataFrame)
        latex = board.to_latex()
        assert r"\toprule" in latex
        assert all(name in latex for name in board["generator"])
        assert "<table" in board._repr_html_()


class TestFigures:
    def test_all_charts_of_the_report(self, study: StudyFolder, tmp_path: Path) -> None:
        figures = study.figures()
        report = {path.stem for path in (study.folder / "report").glob("*.svg")}
        assert set(figures) == report
        chart = figures["preference-ratings"]
        chart.to_dict(validate=True)
        for ending in ("svg", "pdf"):
            chart.save(tmp_path / f"figure.{ending}")
        assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
        svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
        assert "aurora" in svg
        assert "var(--" not in svg

    def test_a_leaderboard_is_drawn_as_in_the_report(self, study: StudyFolder) -> None:
        chart: Any = study.leaderboard("opinion", aspect="quality").plot(width=300)
        assert isinstance(chart, alt.LayerChart)
        spec = chart.to_dict()
        assert spec["width"] == 300
        assert {
            row["generator"] for rows in spec["datasets"].values() for row in rows if "generator" in row
        } == set(study.leaderboard("opinion", aspect="quality")["generator"])


class TestDatasets:
    def test_all_tables_and_the_pictures_themselves(self, study: StudyFolder) -> None:
        tables = study.to_datasets()
        assert set(tables) == set(study.tables)
        assert tables["ratings"].num_rows == study.ratings.height
        first = tables["images"][0]
        assert first["file"].size == (first["width"], first["height"])
        assert tables["trials"][0]["images"] == study.trials["images"][0].to_list()


class TestRunning:
    def test_what_each_stage_did(self, study: StudyFolder) -> None:
        again = study.run()
        assert again["rank"].skipped
        assert again.report.is_file()
        assert repr(again).splitlines()[0] == "design: unchanged"
        with pytest.raises(UserError, match="stage 'rnk' is not known"):
            again["rnk"]
        assert study.report() == again.report

    def test_what_excluded_raters_said_is_marked(self, study: StudyFolder, tmp_path: Path) -> None:
        shutil.copytree(study.folder, tmp_path / "copy")
        copy = bh.open_study(tmp_path / "copy")
        copy.run(include_excluded=True)
        assert "not for publication" in repr(copy.leaderboard("opinion", aspect="quality"))


class TestMaking:
    def test_a_new_study_has_the_numbers_that_were_named(self, study: StudyFolder) -> None:
        design = study.settings.question("opinion").design
        assert (design.raters, design.trials, design.repeats, design.gold_every) == (12, 20, 0, None)
        assert study.notes
        assert isinstance(study.leaderboard("opinion", aspect="quality"), Leaderboard)

    def test_an_unknown_format(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="Did you mean 'agiqa'"):
            bh.import_study("agiqa3k", tmp_path, tmp_path / "study")
