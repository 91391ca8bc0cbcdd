"""``beholder plan --error-times``: the time of a trial comes from answers under time limits."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
PLAN = ("plan", "hpd-pairs", "--trials", 20, "--raters", "10", "--studies", 50)


def test_measured_times_set_the_pay(run: Run, tmp_path: Path) -> None:
    curve = tmp_path / "curve.csv"
    # floor .1, time constant 2 s: a trial needs 2·log 20 = 6 s
    curve.write_text("limit,errors,answers\n.5,412,1000\n1,343,1000\n2,247,1000\n4,154,1000\n8,107,1000\n")
    said = run(*PLAN, "--error-times", curve)
    assert said.code == 0, said.err
    assert said.out.startswith("a trial needs ")
    plain, measured = (
        json.loads(run(*PLAN, "--json", *more).out)["pay"]["minutes"] for more in ((), ("--error-times", curve))
    )
    assert measured / plain == pytest.approx(1.0, abs=0.15)  # the usual time of a pair is 6 s, too


def test_a_file_without_the_columns(run: Run, tmp_path: Path) -> None:
    (tmp_path / "curve.csv").write_text("limit,errors\n1,2\n")
    ran = run(*PLAN, "--error-times", tmp_path / "curve.csv")
    assert (ran.code, "needs the columns limit, errors and answers" in ran.err) == (2, True)
