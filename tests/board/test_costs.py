"""What images cost: ranked within one method only, on the Pareto front beside quality."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.board.tables import generation, score, write

from beholder.board.stage import run
from beholder.cli.main import main
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.store import Store


@pytest.fixture
def priced(bare_study: Callable[..., Path]) -> Path:
    """a is good and slow, b is fast and poor, c is slow and poor; energy of c is by another method."""
    folder = bare_study(RatingQuestion(name="opinion", text="?"), prompts=30)
    rng = np.random.default_rng(0)
    quality, seconds = {"a": 2.0, "b": 1.0, "c": 0.0}, {"a": 4.0, "b": 1.0, "c": 4.5}
    prompts = [f"p{p:02d}" for p in range(30)]
    costs: list[dict[str, object]] = [
        {"generator": g, "prompt": p, "sample": 0, "seconds": float(seconds[g] * rng.uniform(0.9, 1.1))}
        | {"energy_wh": seconds[g] / 10, "energy_method": "meter" if g != "c" else "codecarbon"}
        | {"cost": 0.01, "currency": "EUR"}
        for g in "abc"
        for p in prompts
    ]
    refused = generation("a", "p99", status="refused")
    rows = [generation(g, p) for g in "abc" for p in prompts]
    costs.append({"generator": "a", "prompt": "p99", "sample": 0, "seconds": 900.0})
    write(folder, generations=[*rows, refused], generation_costs=costs)
    scores = [score("sharpness", f"{g}/{p[1:]}", quality[g] + rng.normal() * 0.2) for g in "abc" for p in prompts]
    write(folder, scores=scores)
    return folder


def test_time_is_a_mean_over_prompts_of_images_that_exist(priced: Path) -> None:
    run(priced)
    rows = Store(priced).read("board_costs").filter(pl.col("measure") == "seconds per image").sort("entry")
    costs = Store(priced).read("generation_costs").filter(pl.col("seconds") < 100)
    expected = costs.group_by("generator").agg(pl.col("seconds").mean()).sort("generator")["seconds"]
    np.testing.assert_allclose(rows["value"], expected)
    assert rows["images"].to_list() == [30, 30, 30]
    assert rows["rank_low"].to_list() == [2, 1, 3]
    assert (rows["low"] < rows["value"]).all()


def test_the_pareto_front_has_the_good_and_the_fast(priced: Path) -> None:
    run(priced)
    rows = Store(priced).read("board_costs").filter(pl.col("measure") == "seconds per image").sort("entry")
    assert rows["pareto"].to_list() == [True, True, False]
    assert rows["surely_dominated"].to_list() == [False, False, True]


def test_energy_is_not_compared_across_methods(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["board", str(priced)]) == 0
    energy = Store(priced).read("board_costs").filter(pl.col("measure").str.starts_with("energy"))
    by_method = dict(energy.group_by("measure").agg(pl.col("entry").sort()).iter_rows())
    assert by_method == {"energy per image, Wh (codecarbon)": ["c"], "energy per image, Wh (meter)": ["a", "b"]}
    assert "price per image, EUR — lower is better" in capsys.readouterr().out


def test_other_costs_change_no_other_table(priced: Path) -> None:
    run(priced)
    before = {name: Store(priced).hash(name) for name in ("board", "utilities", "board_marks")}
    costs = Store(priced).read("generation_costs").with_columns(pl.col("seconds") * 2)
    write(priced, generation_costs=costs.to_dicts())
    outcome = run(priced)
    assert dict(outcome.rows).keys() == {"board_costs"}
    assert before == {name: Store(priced).hash(name) for name in before}
