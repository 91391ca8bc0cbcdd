"""Prompts and raters for a claim on a board: from a study's own tables, or from stated variances."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.board.tables import judgement, score, write

import beholder as bh
from beholder.cli.main import main
from beholder.errors import UserError
from beholder.study.kinds.rating import RatingQuestion


@pytest.fixture
def rated(bare_study: Callable[..., Path]) -> Path:
    """Three entries rated by eight raters on 30 prompts, each rater on all of them."""
    folder = bare_study(RatingQuestion(name="opinion", text="?"), prompts=30)
    rng = np.random.default_rng(0)
    fit = rng.normal(0, 0.5, (3, 30))
    judgements = [
        judgement(r, f"{g}/{p:02d}", float(3 + lead + fit[k, p] + rng.normal(0, 0.5)))
        for r in range(8)
        for p in range(30)
        for k, (g, lead) in enumerate((("a", 0.6), ("b", 0.3), ("c", 0.0)))
    ]
    scores = [score("sharpness", f"{g}/{p:02d}", fit[k, p]) for k, g in enumerate("abc") for p in range(30)]
    write(folder, judgements=judgements, scores=scores)
    return folder


def test_a_study_is_planned_from_its_own_variances(rated: Path) -> None:
    plan = bh.plan_board(rated, entries=["a", "c"], prompts=[30, 120], raters=[8, 16])
    assert plan["prompts"].tolist() == [30, 30, 120, 120]
    assert (np.diff(plan["power"]) > 0).all()
    # 8 raters × 30 prompts × 3 entries; a rating takes 10 s
    assert plan["answers"][0] == 720
    assert plan["cost"][0] == pytest.approx(12 * plan["hours"][0])
    assert "opinion: quality" in plan.title
    winner = bh.plan_board(rated, claim="winner", prompts=[30], raters=[8])
    order = bh.plan_board(rated, claim="order", prompts=[30], raters=[8])
    assert order["power"][0] <= winner["power"][0]


def test_a_scorer_has_no_raters_and_no_cost(rated: Path) -> None:
    plan = bh.plan_board(rated, measure="sharpness", prompts=[50, 500])
    assert plan["raters"].tolist() == [0, 0]
    assert plan["cost"].tolist() == [0, 0]
    assert plan["half_width"][0] / plan["half_width"][1] == pytest.approx(np.sqrt(10), rel=0.05)


def test_the_command_prints_and_answers_in_json(rated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(rated), "--claim", "half-width", "--half-width", "0.2", "--prompts", "50"]) == 0
    printed = capsys.readouterr().out
    assert "the interval of a difference is at most ± 0.2" in printed
    assert "differences that were found by chance" in printed
    call = ["plan", "mos", "--variances", "0.02,0.3,0.9", "--difference", "0.2", "--prompts", "50,200"]
    assert main([*call, "--raters", "10", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [(row["prompts"], round(row["power"], 2)) for row in content["board"]] == [(50, 0.5), (200, 0.86)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mos", "--variances", "1,2"], "not three variances"),
        (["mos", "--variances", "-1,2,3"], "a variance is at least 0"),
        (["nowhere"], "and no study folder"),
    ],
)
def test_faults_of_the_command(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_faults(rated: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="two different entries of a, b, c"):
        bh.plan_board(rated, entries=["a", "x"])
    with pytest.raises(UserError, match="beauty"):
        bh.plan_board(rated, measure="beauty")
    with pytest.raises(UserError, match="neither a study folder"):
        bh.plan_board(tmp_path / "nothing")
    with pytest.raises(UserError, match="not all 0"):
        bh.plan_board("mos", variances=(0.0, 0.0, 0.0))
