"""``beholder rounds --simulate``: a rehearsed round says what comes next, and faults are the user's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from beholder.study.kinds.pair import PairQuestion
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store


@pytest.fixture
def predicted(painted_study: Callable[..., Path]) -> Path:
    """A study with predictions of a model that prefers whichever image comes later."""
    folder = painted_study(PairQuestion(name="preference"), seed=3, draws=200)
    images = Store(folder).read("images").filter(~pl.col("real") & ~pl.col("gold"))["image"]
    rows = [
        {"model": "small", "fold": 0, "aspect": "preference", "image": image, "better": "higher"}
        | {"score": float(number), "held_out": True}
        for number, image in enumerate(images)
    ]
    Store(folder).write({"predictions": TABLES["predictions"].frame(rows)}, Provenance("learn", {}, 0, {}))
    return folder


def test_a_rehearsed_round_and_what_comes_next(run: Callable[..., Any], predicted: Path) -> None:
    made = run("rounds", predicted, "--simulate", "6", "--model", "small")
    assert made.code == 0, made.err
    assert f"claims about models/small in {predicted / 'rounds' / '1'}" in made.out
    assert f"beholder learn {predicted} --recipe RECIPE --rounds" in made.out
    again = run("rounds", predicted, "--simulate", "6", "--model", "small", "--json")
    content = json.loads(again.out)
    assert (content["target"], Path(content["folder"]).name) == ("models/small", "2")


def test_faults_of_the_user(run: Callable[..., Any], predicted: Path) -> None:
    assert run("rounds", predicted, "--simulate", "6").code == 2
    refused = run("rounds", predicted, "--simulate", "6", "--model", "absent")
    assert refused.code == 2
    assert "found: small" in refused.err
    assert not (predicted / "rounds").exists()
