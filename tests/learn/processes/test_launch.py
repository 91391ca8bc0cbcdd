"""``beholder learn --processes``: one command, the same model, one printed outcome, faults without a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.learn.test_stage import SMALL, recipe

from beholder.learn.stage import run
from beholder.tables.store import Store


def learn(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    changes = [word for change in SMALL for word in ("--set", change)]
    command = [sys.executable, "-m", "beholder", "learn", str(folder), "--recipe", "tiny-two-tower", *changes]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [*command, "--processes", "2", *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_two_processes_train_the_model_of_one(paired_study: Path) -> None:
    run(paired_study, recipe(), name="alone")
    done = learn(paired_study, "--name", "both")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The model and its card") == 1
    training = Store(paired_study).read("training")
    alone, both = (training.filter(pl.col("model") == name).drop("model") for name in ("alone", "both"))
    assert alone.drop("value").equals(both.drop("value"))
    assert alone["value"].to_list() == pytest.approx(both["value"].to_list(), abs=1e-5)


def test_a_fault_is_printed_without_a_traceback(paired_study: Path) -> None:
    done = learn(paired_study, "--set", "training.batch=1", "--set", "training.accumulate=1")
    assert done.returncode == 2, done.stderr
    assert "training.batch is 1; expected at least 2" in done.stderr
    assert "Traceback" not in done.stderr
