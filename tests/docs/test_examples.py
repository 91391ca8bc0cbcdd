"""The examples run."""

import importlib.util
import shutil
from pathlib import Path

from beholder.study.study import load_study

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_study_of_ones_own(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("own_study", EXAMPLES / "own_study.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    leaderboard = example.main(tmp_path)
    assert sorted(leaderboard["generator"]) == ["aurora", "cirrus", "ember"]
    assert (leaderboard["low"] < leaderboard["rating"]).all()
    assert (leaderboard["rating"] < leaderboard["high"]).all()
    assert "ember" in (tmp_path / "ratings.svg").read_text(encoding="utf-8")


def test_the_commented_study_file_is_sound(tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "study.toml", tmp_path)
    study = load_study(tmp_path)
    assert [question.kind for question in study.questions] == ["pair", "rating"]
