"""Ratings in the form of published tables, and what screening changed."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from scipy import stats

from beholder.cli.stages import rank as command
from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.errors import StageError
from beholder.rank.as_published import published_table
from beholder.rank.stage import run as rank
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design, Screening
from beholder.tables.store import Store


def test_mean_and_error_over_raters_and_the_effect_of_screening(bare_study: Callable[..., Path]) -> None:
    screening = Screening(max_same_share=0.7)
    folder = bare_study(RealismQuestion(name="q", design=Design(raters=12, trials=16), screening=screening))
    design(folder)
    run_simulated(folder, people=12, bad=4)
    consolidate(folder)
    rank(folder)
    store = Store(folder)
    ratings, raters = store.read("ratings"), store.read("raters")
    assert 2 < raters["used"].sum() < 12
    used = raters.filter("used").select("rater")
    answers = store.read("answers").join(store.read("trials").select("trial", "images", "expected"), on="trial")
    wrong = (pl.col("choice") != pl.col("expected")).cast(pl.Float64)
    fakes = (
        answers.with_columns(wrong=wrong, generator=pl.col("images").list.first().str.head(1))
        .filter(pl.col("expected") == "generated")
        .group_by("rater", "generator")
        .agg(pl.col("wrong").mean())
    )
    for row in ratings.filter(pl.col("method") == "fake-error-rate").to_dicts():
        of_generator = fakes.filter(pl.col("generator") == row["generator"])
        used_rates = of_generator.join(used, on="rater", how="semi")["wrong"].to_numpy()
        assert row["rating"] == pytest.approx(used_rates.mean())
        assert row["se"] == pytest.approx(stats.sem(used_rates))
        assert row["rating_all"] == pytest.approx(of_generator["wrong"].to_numpy().mean())
        assert (row["raters"], row["raters_all"]) == (len(used_rates), of_generator.height)

    head, *rows = published_table(ratings, "layer6")
    assert head == ["question", "generator", "raters", "error rate", "fake", "real"]
    best = ratings.filter(pl.col("method") == "error-rate").sort("rating", descending=True).row(0, named=True)
    assert rows[0][1] == best["generator"]
    assert rows[0][3] == f"{best['rating']:.2f} ± {best['se']:.2f}"
    printed = CliRunner().invoke(command, [str(folder), "--like", "hype"])
    assert printed.exit_code == 0
    assert "HYPE∞ (%)" in printed.output
    assert f"{100 * best['rating']:.1f}" in printed.output


def test_a_study_without_real_images_has_no_such_table(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(RatingQuestion(name="q", design=Design(raters=3, trials=8)))
    design(folder)
    run_simulated(folder, people=3)
    consolidate(folder)
    rank(folder)
    with pytest.raises(StageError, match="it is for questions of the kind realism"):
        published_table(Store(folder).read("ratings"), "hype")
