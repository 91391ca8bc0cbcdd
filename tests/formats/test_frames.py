"""Votes and ratings of data frames as studies: from any library, and ranked as the library ranks them."""

from pathlib import Path
from typing import Any

import datasets
import numpy as np
import polars as pl
import pytest

import beholder as bh
from beholder.errors import FrameError, StudyError, UserError
from beholder.stats.frames.bradley_terry import bradley_terry

GENERATORS = ("aurora", "cirrus", "ember")


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    """Twelve raters, each with thirty votes on pairs of three generators, some of them ties."""
    rng = np.random.default_rng(0)
    first, second = np.array([rng.permutation(3)[:2] for _ in range(360)]).T
    lead = first - second + rng.normal(0, 1.5, 360)
    return pl.DataFrame(
        {
            "rater": [f"r{row // 30:02d}" for row in range(360)],
            "first": [GENERATORS[place] for place in first],
            "second": [GENERATORS[place] for place in second],
            "outcome": ["tie" if abs(gap) < 0.3 else "first" if gap > 0 else "second" for gap in lead],
            "prompt": [f"prompt {row % 10}" for row in range(360)],
        }
    )


def in_library(frame: pl.DataFrame, library: str) -> Any:  # noqa: ANN401 - of another library
    if library == "datasets":
        return datasets.Dataset(frame.to_arrow())
    return {"polars": frame, "pandas": frame.to_pandas(), "arrow": frame.to_arrow()}.get(library, frame.to_dict())


class TestVotes:
    @pytest.mark.parametrize("library", ["polars", "pandas", "arrow", "datasets", "columns"])
    def test_the_study_is_the_same_whatever_holds_the_votes(
        self, votes: pl.DataFrame, library: str, tmp_path: Path
    ) -> None:
        sides = {"first": "first", "second": "second", "outcome": "outcome", "prompt": "prompt"}
        study = bh.study_from_votes(in_library(votes, library), tmp_path / "study", **sides)
        assert study.answers["choice"].value_counts().sort("choice").rows() == [
            (choice, (votes["outcome"] == outcome).sum())
            for choice, outcome in (("left", "first"), ("right", "second"), ("tie", "tie"))
        ]
        assert study.images.height == 30
        assert study.prompts.height == 10
        assert study.sessions.height == 12

    def test_it_is_ranked_as_the_frame_is(self, votes: pl.DataFrame, tmp_path: Path) -> None:
        study = bh.study_from_votes(votes, tmp_path / "study", first="first", second="second", outcome="outcome")
        study.run()
        of_study = study.leaderboard().to_frame()
        of_frame = bradley_terry(votes, first="first", second="second", outcome="outcome").to_frame()
        assert of_study["generator"].to_list() == of_frame["item"].to_list()
        for column, own in (("rating", "estimate"), ("low", "low"), ("high", "high")):
            assert of_study[column].to_list() == pytest.approx(of_frame[own].to_list(), abs=1e-9)
        assert of_study["rank_low"].to_list() == of_frame["rank_low"].to_list()

    def test_winners_and_losers_favour_no_side(self, votes: pl.DataFrame, tmp_path: Path) -> None:
        decided = votes.filter(pl.col("outcome") != "tie").with_columns(
            winner=pl.when(pl.col("outcome") == "first").then("first").otherwise("second"),
            loser=pl.when(pl.col("outcome") == "first").then("second").otherwise("first"),
        )
        study = bh.study_from_votes(decided, tmp_path / "study")
        assert any("stood left is not in the frame" in note for note in study.notes)
        study.run()
        of_frame = bradley_terry(decided).to_frame()
        assert study.leaderboard()["rating"].tolist() == pytest.approx(of_frame["estimate"].to_list(), abs=1e-9)
        left = study.trials.select(pl.col("images").list.first()).to_series()
        assert set(left) == {"aurora", "cirrus"}  # the name that comes first

    def test_votes_without_raters(self, votes: pl.DataFrame, tmp_path: Path) -> None:
        sides = {"first": "first", "second": "second", "outcome": "outcome"}
        study = bh.study_from_votes(votes.drop("rater"), tmp_path / "study", rater=None, **sides)
        assert study.sessions.height == 360
        assert any("each counts as another rater's" in note for note in study.notes)

    def test_image_files_are_measured(self, photographs: Path, tmp_path: Path) -> None:
        names = sorted(path.name for path in photographs.iterdir())
        frame = {"rater": ["a", "b"], "winner": ["x", "y"], "loser": ["y", "x"]}
        frame |= {"better": names[:2], "worse": [names[2], names[3]]}
        study = bh.study_from_votes(
            frame, tmp_path / "study", first_image="better", second_image="worse", images=photographs
        )
        assert (study.images["width"] > 1).all()
        assert dict(study.images.select("image", "generator").iter_rows())[names[2]] == "y"

    def test_all_faults_of_columns_at_once_and_nothing_is_written(self, tmp_path: Path) -> None:
        with pytest.raises(FrameError, match=r"(?s)no column 'winner'.*no column 'rater'"):
            bh.study_from_votes({"Winner": ["a"], "loser": ["b"]}, tmp_path / "study")
        assert not (tmp_path / "study").exists()
        frame = {
            "rater": ["a", "b"],
            "winner": ["x", "y"],
            "loser": ["y", "x"],
            "better": ["i", "i"],
            "worse": ["j", "k"],
        }
        with pytest.raises(StudyError, match="several generators or prompts: i"):
            bh.study_from_votes(frame, tmp_path / "study", first_image="better", second_image="worse")

    def test_a_folder_that_holds_something_is_refused_before_anything_is_read(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(StudyError, match="not an empty folder"):
            bh.study_from_votes({}, tmp_path)


class TestRatings:
    def test_several_aspects(self, tmp_path: Path) -> None:
        frame = pl.DataFrame(
            {
                "rater": ["a", "a", "b", "b"],
                "image": ["i", "j", "i", "j"],
                "generator": ["x", "y", "x", "y"],
                "Visual Quality": [5, 2, 4, 1],
                "alignment": [3, 3, 3, 4],
            }
        )
        study = bh.study_from_ratings(frame, tmp_path / "study", rating=["Visual Quality", "alignment"])
        study.run()
        board = study.leaderboard(aspect="visual-quality")
        assert dict(zip(board["generator"], board["rating"], strict=True)) == {"x": 4.5, "y": 1.5}

    def test_ratings_off_the_scale(self, tmp_path: Path) -> None:
        frame = {"rater": ["a"], "image": ["i"], "generator": ["x"], "rating": [5.5]}
        with pytest.raises(UserError, match=r"has 5\.5; points=5 goes from 1 to 5"):
            bh.study_from_ratings(frame, tmp_path / "study")
        study = bh.study_from_ratings(frame, tmp_path / "study", points=0)
        assert study.answers["value"].to_list() == [5.5]
