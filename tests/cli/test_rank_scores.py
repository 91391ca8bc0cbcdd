"""``beholder rank --scores``: ratings by raters and scores, in the terminal, as JSON and in the report."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Ran

from beholder.collect.stage import run as simulate_raters
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.question import Design
from beholder.tables.catalogue import TABLES
from beholder.tables.provenance import Provenance
from beholder.tables.store import Store

Run = Callable[..., Ran]
QUESTION = RatingQuestion(name="mos", design=Design(raters=8, trials=12, raters_per_item=2))


def add_scores(folder: Path, scorer: str = "sharpness") -> None:
    """Scores as ``beholder measure`` would write them."""
    store, rng = Store(folder), np.random.default_rng(0)
    rows: list[dict[str, object]] = [
        {"scorer": scorer, "aspect": scorer, "image": image, "score": float(rng.normal())}
        for image in store.read("images").filter(~pl.col("real"))["image"]
    ]
    store.write({"scores": TABLES["scores"].frame(rows)}, Provenance("measure", {}, 0, {}))


@pytest.fixture
def judged(bare_study: Callable[..., Path]) -> Path:
    folder = bare_study(QUESTION, generators=("a", "b"), prompts=60, reals=0)
    design(folder)
    simulate_raters(folder, people=8)
    consolidate(folder)
    return folder


def test_ratings_follow_the_leaderboard_with_what_the_score_is_worth(run: Run, judged: Path) -> None:
    add_scores(judged)
    ran = run("rank", judged, "--scores", "sharpness")
    assert ran.code == 0, ran.err
    classical, powered = ran.out.split("by raters and sharpness (prediction-powered)")
    assert "mean opinion score" in classical
    assert "raters alone" in powered
    assert "than from raters alone" in powered or "as wide as from raters alone" in powered
    table = Store(judged).read("powered_ratings")
    assert set(table["generator"]) == {"a", "b"}
    ratings = Store(judged).read("ratings").filter(pl.col("slice") == "all").select("generator", "rating")
    same = table.join(ratings, on="generator", suffix="_of_rank")
    assert np.allclose(same["people_rating"], same["rating_of_rank"])


def test_the_numbers_as_json(run: Run, judged: Path) -> None:
    add_scores(judged)
    printed = json.loads(run("rank", judged, "--scores", "sharpness", "--json").out)
    (board,) = printed["powered"]
    assert (board["question"], board["metric"], len(board["rows"])) == ("mos", "sharpness", 2)
    assert "powered" not in json.loads(run("rank", judged, "--json").out)


def test_new_answers_bring_the_ratings_up_to_date_and_nothing_else_is_measured(run: Run, judged: Path) -> None:
    add_scores(judged)
    run("rank", judged, "--scores", "sharpness")
    before = Store(judged).provenance("powered_ratings")
    simulate_raters(judged, people=6, force=True)
    consolidate(judged)
    run("rank", judged, "--scores", "sharpness")
    after = Store(judged).provenance("powered_ratings")
    assert before is not None
    assert after is not None
    assert before.inputs["judgements"] != after.inputs["judgements"]
    assert not Store(judged).has("correlations")


def test_faults_are_said_before_any_work(run: Run, judged: Path) -> None:
    missing = run("rank", judged, "--scores", "sharpness")
    assert (missing.code, missing.out) == (2, "")
    assert f"beholder measure {judged} --scorer sharpness" in missing.err
    add_scores(judged)
    unknown = run("rank", judged, "--scores", "sharpnes")
    assert unknown.code == 2
    assert "Did you mean 'sharpness'?" in unknown.err
    assert not Store(judged).has("ratings")


def test_an_alias_names_the_scorer(run: Run, judged: Path) -> None:
    add_scores(judged, "clip-score")
    assert "by raters and clip-score" in run("rank", judged, "--scores", "clipscore").out


def test_where_nothing_can_be_powered_the_reason_is_said(run: Run, bare_study: Callable[..., Path]) -> None:
    folder = bare_study(QUESTION, generators=("a", "b"), prompts=24, reals=0)  # all of them are judged
    design(folder)
    simulate_raters(folder, people=8)
    consolidate(folder)
    add_scores(folder)
    ran = run("rank", folder, "--scores", "sharpness")
    assert ran.code == 2
    assert "48 judged images and 0 others" in ran.err


def test_the_report_has_them(run: Run, judged: Path) -> None:
    add_scores(judged)
    run("rank", judged, "--scores", "sharpness")
    run("report", judged)
    page = (judged / "report.html").read_text(encoding="utf-8")
    assert "By raters and scores together" in page
    assert "sharpness is of" in page or "With sharpness" in page
