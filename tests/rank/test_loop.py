"""The loop on a small synthetic world: the ground truth is recovered, and bad raters are excluded."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
from scipy.stats import binom, kendalltau

from beholder.collect.stage import run as run_simulated
from beholder.consolidate.stage import run as consolidate
from beholder.design.stage import run as design
from beholder.rank.stage import run as rank
from beholder.simulate.policies import GENERATORS
from beholder.simulate.raters import BAD, SUBTLE
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.tables.store import TRUTH_ROOM, Store

SEEDS = range(6)
CELL = ["question", "aspect", "method", "generator"]
HEADLINES = ("error-rate", "bradley-terry", "mean-opinion")
FEWER: dict[str, dict[str, object]] = {
    "hype-infinity": {"raters": 50, "trials": 40, "qualification": 60},
    "hpd-pairs": {"raters": 50, "trials": 40, "attention_every": 10, "repeats": 0},
    "mos": {"raters": 50, "trials": 40, "attention_every": 10, "raters_per_item": None},
}


def questions() -> list[AnyQuestion]:
    return [
        question.model_copy(update={"design": question.design.model_copy(update=fewer)})
        for protocol, fewer in FEWER.items()
        for question in PROTOCOLS[protocol].questions()
    ]


def test_the_loop(painted_study: Callable[..., Path]) -> None:
    ratings, raters = [], []
    for seed in SEEDS:
        folder = painted_study(*questions(), seed=seed, name=f"seed-{seed}")
        design(folder)
        run_simulated(folder, people=60, bad=10)
        consolidate(folder)
        rank(folder)
        store, truth = Store(folder), Store(folder, TRUTH_ROOM)
        ground_truth = truth.read("ratings").select(*CELL, ground_truth="rating")
        overall = store.read("ratings").filter((pl.col("slice") == "all") & (pl.col("method") != "d-prime"))
        ratings.append(
            overall.join(ground_truth, on=CELL, how="full", coalesce=True).with_columns(seed=pl.lit(seed))
        )
        habits = truth.read("raters").select("question", "rater", habit=pl.col("reasons").list.first())
        raters.append(store.read("raters").join(habits, on=["question", "rater"]).with_columns(seed=pl.lit(seed)))
    ratings_and_truth, all_raters = pl.concat(ratings), pl.concat(raters)

    assert ratings_and_truth.height == 30 * len(SEEDS)
    assert ratings_and_truth["rating"].null_count() == ratings_and_truth["ground_truth"].null_count() == 0
    bad_raters_are_excluded(all_raters)
    true_order_is_recovered(ratings_and_truth)
    intervals_cover(ratings_and_truth)


def bad_raters_are_excluded(raters: pl.DataFrame) -> None:
    used = raters.filter("used")
    passed = used.filter(pl.col("habit").is_in(BAD))
    assert passed.is_empty(), passed.select("seed", "question", "rater", "habit")
    honest = raters.filter(~pl.col("habit").is_in([*BAD, *SUBTLE]))
    by_question = honest.group_by("question").agg(pl.col("used").mean())
    # BT.500, attention checks and the qualification exclude some honest raters too, but few
    assert (by_question["used"] > 0.85).all(), by_question


def true_order_is_recovered(ratings_and_truth: pl.DataFrame) -> None:
    order = [policy.name for policy in GENERATORS]
    for (seed, aspect, method), part in ratings_and_truth.filter(pl.col("method").is_in(HEADLINES)).group_by(
        "seed", "aspect", "method"
    ):
        rating = dict(part.select("generator", "rating").iter_rows())
        tau = kendalltau([rating[name] for name in order], range(len(order), 0, -1)).statistic
        assert tau > 0.79, (seed, aspect, method, rating)


def intervals_cover(ratings_and_truth: pl.DataFrame) -> None:
    inside = pl.col("ground_truth").is_between("low", "high")
    covered = ratings_and_truth.group_by("method").agg(inside=inside.sum(), cells=pl.len()).sort("method")
    cells, hits = sum(covered["cells"].to_list()), sum(covered["inside"].to_list())
    low, high = binom.interval(0.999, cells, 0.95)
    assert low <= hits <= high, covered
    differing = ratings_and_truth.filter(pl.col("method") == "real-error-rate")  # by everyone's own criterion
    narrower = (differing["naive_high"] - differing["naive_low"]) < (differing["high"] - differing["low"])
    assert sum(narrower.to_list()) > 0.8 * len(narrower)
