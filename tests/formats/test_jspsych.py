"""jsPsych's trials, there and back."""

import json
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal
from tests.formats.conftest import Making, study_of

from beholder.errors import TableError
from beholder.formats import jspsych
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion

PAIR, ORDER, MOS = PairQuestion(name="pair"), RankingQuestion(name="order", images=3), RatingQuestion(name="mos")


@pytest.fixture
def small(making: Making) -> Making:
    making.prompt("p", "a cat")
    for name in "abc":
        making.image(name, "gen", prompt="p")
    for question in (PAIR, ORDER, MOS):
        making.session("r", question.name)
    making.judged("r", PAIR, ["a", "b"], {"preference": {"choice": "left"}}, prompt="p", seconds=1.234)
    making.judged("r", PAIR, ["b", "c"], {"preference": {"choice": "tie"}}, prompt="p", valid=False)
    making.judged("r", ORDER, ["a", "b", "c"], {"preference": {"ranking": [2, 1, 3]}}, prompt="p")
    making.judged("r", MOS, ["a"], {"quality": {"value": 4.0}, "alignment": {"value": 2.5}}, prompt="p")
    return making


def test_a_trial_by_hand(small: Making, tmp_path: Path) -> None:
    """The session began at 12:00, the first answer came at 13:00: 3,600,000 ms later."""
    (file,) = jspsych.write(study_of(PAIR, ORDER, MOS), small.tables(), tmp_path).files
    first, second, order, mos = json.loads(file.read_text())
    assert first["trial_type"] == "html-button-response"
    assert (first["trial_index"], second["trial_index"], order["trial_index"]) == (0, 1, 0)
    assert first["time_elapsed"] == 3_600_000
    assert first["rt"] == pytest.approx(1234)
    assert first["stimulus"] == ["images/a.png", "images/b.png"]
    assert (first["response"], first["subject_id"]) == ("left", "r")
    assert mos["stimulus"] == "images/a.png"
    assert mos["response"] == {"quality": 4.0, "alignment": 2.5}
    assert second["valid"] is False


def test_what_was_written_is_read_again(small: Making, tmp_path: Path) -> None:
    (file,) = jspsych.write(study_of(PAIR, ORDER, MOS), small.tables(), tmp_path).files
    assert_frame_equal(jspsych.read(file), small.tables()["answers"])


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    complete = dict.fromkeys(jspsych.NEEDED, "x") | {"rt": 1, "aspects": ["a"], "at": "2026-01-31T12:00:00+00:00"}
    path = tmp_path / "x.json"
    path.write_text(json.dumps([complete, {"rt": 3}, complete | {"rt": -1, "response": {"b": 1}, "at": "noon"}]))
    with pytest.raises(TableError) as caught:
        jspsych.read(path)
    assert caught.value.faults == (
        "entry 1: lacks trial_type, response, subject_id, session, trial, question, aspects, attempt, at",
        "entry 2: rt: milliseconds were expected; found -1",
        "entry 2: response: answers to a were expected",
        "entry 2: at: a moment as in 2026-01-31T12:00:00+00:00 was expected; found 'noon'",
    )
