"""Training in several processes: the same losses and weights as in one, also across interruptions."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.learn.small_model import NumbersLoader, SmallModel, settings, validation_of
from torch import distributed

from beholder.errors import TrainingError
from beholder.learn.train import train

pytestmark = pytest.mark.skipif(not distributed.is_gloo_available(), reason="torch is built without gloo")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("together")
    script = Path(__file__).parents[1] / "trained_together.py"
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {path.parent.name: torch.load(path) for path in folder.glob("*/outcome.pt")}


def assert_equal(first: Mapping[str, Any], second: Mapping[str, Any], *, within: float = 1e-5) -> None:
    assert [point[:2] for point in first["curve"]] == [point[:2] for point in second["curve"]]
    values, others = ([point[2] for point in each["curve"]] for each in (first, second))
    assert values == pytest.approx(others, abs=within)
    for name, weights in first["weights"].items():
        assert torch.allclose(weights, second["weights"][name], atol=within), name


@pytest.mark.parametrize("processes", [2, 4])
def test_losses_and_weights_do_not_depend_on_the_number_of_processes(
    outcomes: Mapping[str, dict[str, Any]], processes: int
) -> None:
    losses = [value for _, measure, value in outcomes["plain-1"]["curve"] if measure == "loss"]
    assert len(losses) == 6
    assert len(set(losses)) == 6
    assert_equal(outcomes["plain-1"], outcomes[f"plain-{processes}"])


def test_a_run_goes_on_with_another_number_of_processes(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["plain-1"], outcomes["resumed"])


@pytest.mark.parametrize("processes", [2, 4])
def test_with_fixed_parts_dropout_is_the_same_as_well(
    outcomes: Mapping[str, dict[str, Any]], processes: int
) -> None:
    assert_equal(outcomes["dropout-1"], outcomes[f"dropout-{processes}"])


def test_batch_normalisation_is_over_all_processes(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["normalised-1"], outcomes["normalised-2"])


def test_sharded_training_is_the_same(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["plain-1"], outcomes["sharded"])


def test_a_sharded_run_goes_on_unsharded_and_the_other_way(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["plain-1"], outcomes["sharded-then-not"])


def test_gradient_checkpointing_changes_nothing(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["plain-1"], outcomes["checkpointed"], within=0)


def test_bf16_in_two_processes_is_near_one(outcomes: Mapping[str, dict[str, Any]]) -> None:
    assert_equal(outcomes["bf16-1"], outcomes["bf16-2"], within=0.02)
    losses = [[value for _, _, value in outcomes[name]["curve"]] for name in ("bf16-1", "plain-1")]
    assert losses[0] != losses[1]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sharded": True}, "--processes"),
        ({"parts": 2, "batch": 16}, "normalises over complete batches"),
    ],
)
def test_what_cannot_be_divided_is_refused(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    model = SmallModel()
    model.module[1] = torch.nn.BatchNorm1d(8)
    with pytest.raises(TrainingError, match=says):
        train(
            model,
            NumbersLoader(),
            lambda: validation_of(model),
            settings(**changes),
            tmp_path,
            fingerprint="f",
            resume=False,
        )
