"""The examples run."""

import importlib.util
import shutil
from pathlib import Path

import polars as pl

from beholder.study.study import load_study

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_study_of_ones_own(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("own_study", EXAMPLES / "own_study.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    ratings: pl.DataFrame = example.main(tmp_path)
    assert ratings["generator"].sort().to_list() == ["aurora", "cirrus", "ember"]
    assert (ratings["low"] < ratings["rating"]).all()
    assert (ratings["rating"] < ratings["high"]).all()


def test_the_commented_study_file_is_sound(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "study.toml", tmp_path)
    study = load_study(tmp_path)
    assert [question.kind for question in study.questions] == ["pair", "rating"]
