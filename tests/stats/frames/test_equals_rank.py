"""A study's judgements as a frame give exactly the numbers that ``beholder rank`` writes."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.stats.frames import Ratings, bradley_terry, detection, mean_scores, plackett_luce
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.ranking import RankingQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design
from beholder.tables.store import Store

DESIGN = Design(raters=10, trials=18)
QUESTIONS = (
    PairQuestion(name="pref", design=DESIGN),
    RatingQuestion(name="mos", design=DESIGN),
    RealismQuestion(name="real", design=DESIGN),
    RankingQuestion(name="order", images=3, design=Design(raters=10, trials=8)),
)
EXACT = ["rank_low", "rank_high", "raters", "answers"]
CLOSE = ["rating", "low", "high", "se"]


def test_ratings_and_separations_are_those_of_the_command(bare_study: Callable[..., Path]) -> None:
    folder = bare_study(*QUESTIONS)
    design(folder)
    run_simulated(folder, people=10)
    consolidate(folder)
    rank(folder)
    store = Store(folder)
    judged = store.read("judgements").filter("used")
    generators = store.read("images").select("image", "generator", "real")

    def of(question: str) -> pl.DataFrame:
        own = judged.filter(pl.col("question") == question)
        other = generators.select(other="image", second="generator")
        return own.join(generators, on="image").join(other, on="other", how="left")

    votes = of("pref").filter(pl.col("generator") != pl.col("second"))
    ratings = bradley_terry(votes, first="generator", second="second", outcome="value")
    same(store, "pref", "bradley-terry", ratings)
    same(store, "mos", "mean-opinion", mean_scores(of("mos"), score="value"))
    answers = of("real").with_columns(generated=~pl.col("real"), answer=pl.col("value") == 1)
    detected = detection(answers, generator="generator")
    same(store, "real", "d-prime", detected)
    errors = store.read("ratings").filter(pl.col("method") == "error-rate").sort("generator")
    ours = detected.to_frame().sort("generator")
    for column, end in (("rating", ""), ("low", "_low"), ("high", "_high")):
        assert ours[f"error_rate{end}"].to_list() == pytest.approx(errors[column].to_list(), rel=1e-12)
    ranks = of("order").with_columns(ranking=pl.concat_str("trial", "rater", separator=" "))
    same(store, "order", "plackett-luce", plackett_luce(ranks, item="generator", rank="value"))


def same(store: Store, question: str, method: str, table: Ratings) -> None:
    """Compare with the rows of ``ratings`` and ``separations``."""
    chosen = (pl.col("question") == question) & (pl.col("method") == method) & (pl.col("slice") == "all")
    theirs = store.read("ratings").filter(chosen).sort("generator")
    key = table.to_frame().columns[0]
    ours = table.to_frame().rename({key: "generator", "estimate": "rating"}).sort("generator")
    assert len(theirs) == 3
    assert ours["generator"].equals(theirs["generator"])
    for name in EXACT:
        assert ours[name].to_list() == theirs[name].to_list()
    for name in CLOSE:
        assert ours[name].to_list() == pytest.approx(theirs[name].to_list(), rel=1e-12, abs=1e-12)
    pairs = store.read("separations").filter(chosen).sort("generator", "other")
    own = table.pairs().to_frame().rename({key: "generator"}).sort("generator", "other")
    assert own.select("generator", "other", "separated", "more_raters").equals(
        pairs.select("generator", "other", "separated", "more_raters")
    )
    for name in ("difference", "low", "high", "p_adjusted"):
        assert own[name].to_list() == pytest.approx(pairs[name].to_list(), rel=1e-10, abs=1e-12)
