"""Power, trained models and metrics against raters in Python: the numbers of the commands, as results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import beholder as bh
from beholder.errors import StudyError, UserError
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Design

Run = Callable[..., Any]


class TestPlan:
    def test_it_is_the_commands(self, run: Run) -> None:
        power = bh.plan("mos", raters=[12, 40], trials=20, studies=50, seed=3)
        ran = run("plan", "mos", "--raters", "12,40", "--trials", "20", "--studies", "50", "--seed", "3", "--json")
        printed = json.loads(ran.out)
        assert [row["power"]["value"] for row in printed["power"]] == power["power"].tolist()
        assert printed["formula"]["raters"] == power.formula.raters
        assert "By formula" in repr(power)
        assert power.plot().to_dict(validate=True)

    def test_faults(self) -> None:
        with pytest.raises(UserError, match="Did you mean 'hpd-pairs'"):
            bh.plan("hpd-pair")
        with pytest.raises(StudyError, match=r"a wage of 3\.00 an hour"):
            bh.plan("mos", wage=3)


class TestMeasure:
    def test_it_is_the_commands(self, run: Run, painted_study: Callable[..., Path]) -> None:
        folder = painted_study(RatingQuestion(name="quality", design=Design(raters=8, trials=20)), draws=200)
        bh.open_study(folder).run(simulate=8)
        table = bh.measure(folder, metrics=["vendi"], scorers=["sharpness", "contrast"], encoder="pixel")
        arguments = ("--metric", "vendi", "--scorer", "sharpness", "--scorer", "contrast", "--encoder", "pixel")
        printed = json.loads(run("measure", folder, *arguments, "--json").out)
        assert printed["skipped"]
        (verdict,) = printed["verdicts"]
        assert table["metric"].tolist() == [metric["name"] for metric in verdict["metrics"]]
        assert table["spearman"].tolist() == [metric["rho"] for metric in verdict["metrics"]]
        assert table.notes[:2] == (
            "Simulated raters gave these answers.",
            f"quality · quality: {verdict['sentences'][0]}",
        )
        assert table.plot().to_dict(validate=True)

    def test_names_are_checked_before_anything_is_read(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="metric 'frechett' is not known"):
            bh.measure(tmp_path, metrics=["frechett"])


class TestLearn:
    def test_faults_come_before_training(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match="recipe 'tiny-two'"):
            bh.learn(tmp_path, recipe="tiny-two")
        with pytest.raises(UserError, match=r"training\.stepps"):
            bh.learn(tmp_path, recipe="tiny-two-tower", settings={"training.stepps": 3})
