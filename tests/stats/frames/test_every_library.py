"""Every function gives the same numbers for pandas, Polars and Arrow, and returns the library that came in."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from beholder.stats import frames
from beholder.stats.frames import ResultTable

RNG = np.random.default_rng(0)
VOTES = frames.example_votes(raters=10)
RATINGS = frames.example_ratings(raters=10, prompts=6)
IMAGES = RATINGS.group_by("image", "generator", "prompt", "metric", maintain_order=True).agg(
    opinion=pl.col("score").mean(), error=pl.col("score").std() / pl.len().sqrt()
)
BETWEEN = RATINGS.filter(pl.col("rater").str.tail(1).cast(pl.Int64) % 4 == pl.col("generator").rank("dense") - 1)
TRIALS = pl.DataFrame(
    {
        "exposure": RNG.choice([50.0, 100, 200, 400], 200),
        "correct": RNG.random(200) < 0.75,
    }
)
REALISM = pl.DataFrame(
    {
        "rater": [f"r{n % 6}" for n in range(120)],
        "generated": [n // 6 % 2 == 0 for n in range(120)],
        "generator": [None if n // 6 % 2 else "ab"[n // 12 % 2] for n in range(120)],
        "answer": RNG.random(120) < 0.5,
    }
)
RANKINGS = pl.DataFrame(
    {
        "rater": [f"r{n // 3}" for n in range(36)],
        "item": [item for order in ("xyz", "xzy", "yxz") * 4 for item in order],
        "rank": [1, 2, 3] * 12,
    }
)
LABELS = IMAGES.select("image", label=pl.when(pl.col("opinion") > 3).then(pl.lit("good")).otherwise(pl.lit("bad")))
LABELS = LABELS.with_columns(good=pl.Series(RNG.random(len(LABELS)))).with_columns(bad=1 - pl.col("good"))
POWERED = RATINGS.select(
    "rater", "generator", prediction="metric", label=pl.when(pl.col("prompt") < "p04").then("score")
)
PAIRS = pl.DataFrame({"first_score": RNG.normal(size=80), "second_score": RNG.normal(size=80)}).with_columns(
    proportion=pl.Series((RNG.random(80) < 0.5).astype(float))
)

CALLS: dict[str, tuple[pl.DataFrame, Callable[[object], ResultTable]]] = {
    "bradley_terry": (VOTES, lambda f: frames.bradley_terry(f, tie="tie")),
    "bradley_terry, sides": (
        VOTES,
        lambda f: frames.bradley_terry(f, first="first", second="second", outcome="outcome"),
    ),
    "bradley_terry, pairs": (VOTES, lambda f: frames.bradley_terry(f, tie="tie").pairs()),
    "thurstone": (VOTES, lambda f: frames.thurstone(f, tie="tie")),
    "plackett_luce": (RANKINGS, lambda f: frames.plackett_luce(f, ranking="rater")),
    "active_pairs": (VOTES, lambda f: frames.active_pairs(f, tie="tie")),
    "mean_scores": (RATINGS, frames.mean_scores),
    "proportions": (RATINGS, lambda f: frames.proportions(f, answer="flawed", positive="yes")),
    "detection": (REALISM, lambda f: frames.detection(f, generator="generator")),
    "mean_opinion_scores": (RATINGS, lambda f: frames.mean_opinion_scores(f, screening="bt500")),
    "agreement": (
        RATINGS,
        lambda f: frames.agreement(
            f,
            item="image",
            answer="score",
            scale="ordinal",
            coefficient=["krippendorff-alpha", "gwet-ac1", "gwet-ac2", "fleiss-kappa", "icc", "kendall-w"],
            replicates=50,
        ),
    ),
    "aggregate": (RATINGS, lambda f: frames.aggregate(f, item="image", label="flawed")),
    "aggregate, raters": (RATINGS, lambda f: frames.aggregate(f, item="image", label="flawed").of_raters()),
    "aggregate, probabilities": (
        RATINGS,
        lambda f: frames.aggregate(f, item="image", label="flawed").probabilities(),
    ),
    "label_errors": (LABELS, lambda f: frames.label_errors(f, item="image", probabilities=["good", "bad"])),
    "correlate": (
        IMAGES,
        lambda f: frames.correlate(f, error="error", prompt="prompt", generator="generator", replicates=50),
    ),
    "compare_correlations": (
        IMAGES,
        lambda f: frames.compare_correlations(f, metrics=["metric", "error"], prompt="prompt", replicates=50),
    ),
    "prediction_powered_mean": (POWERED, lambda f: frames.prediction_powered_mean(f, group="generator")),
    "prediction_powered_mean, pairs": (
        POWERED,
        lambda f: frames.prediction_powered_mean(f, group="generator").pairs(),
    ),
    "confidence_sequence": (
        RATINGS,
        lambda f: frames.confidence_sequence(f, group="generator", bounds=(1, 5)).latest(),
    ),
    "sequential_separation": (RATINGS, lambda f: frames.sequential_separation(f, bounds=(1, 5))),
    "interval_widths": (RATINGS, lambda f: frames.interval_widths(f, raters=[5, 20], replicates=50)),
    "group_tests": (BETWEEN, frames.group_tests),
    "group_tests, pairs": (BETWEEN, lambda f: frames.group_tests(f).pairs()),
    "t_test": (RATINGS, lambda f: frames.t_test(f, group="flawed")),
    "psychometric": (TRIALS, frames.psychometric),
    "calibration": (PAIRS, frames.calibration),
    "conformal_interval": (IMAGES, lambda f: frames.conformal_interval(f, prediction="metric", label="opinion")),
}
WITHOUT_FRAMES = {"power", "raters_needed", "example_votes", "example_ratings"}


@pytest.mark.parametrize("name", CALLS)
def test_libraries_agree(name: str) -> None:
    frame, call = CALLS[name]
    table = call(frame)
    rows = table.to_frame()
    assert isinstance(rows, pl.DataFrame)
    assert len(rows) > 0
    in_pandas, in_arrow = call(frame.to_pandas()), call(frame.to_arrow())
    assert isinstance(in_pandas.to_frame(), pd.DataFrame)
    assert isinstance(in_arrow.to_frame(), pa.Table)
    assert_frame_equal(in_pandas.to_frame("polars"), rows, check_exact=True)
    assert_frame_equal(in_arrow.to_frame("polars"), rows, check_exact=True)
    assert repr(in_pandas) == repr(table)


@pytest.mark.parametrize("name", CALLS)
def test_every_result_shows_itself(name: str) -> None:
    frame, call = CALLS[name]
    table = call(frame)
    assert table.method
    assert table.to_latex().count(r"\\") == len(table) + 1
    assert len(table.to_markdown().splitlines()) == len(table) + 2
    assert "<table" in table._repr_html_()
    assert table.plot().to_dict()["layer"]


def test_every_function_is_here() -> None:
    functions = {name for name in vars(frames)["__all__"] if name.islower()} - WITHOUT_FRAMES
    assert functions == {name.split(",")[0] for name in CALLS}


def test_rows_in_another_order_give_the_same_estimates() -> None:
    shuffled = VOTES.sample(fraction=1, shuffle=True, seed=1)
    assert_frame_equal(
        frames.bradley_terry(shuffled, tie="tie").to_frame(), frames.bradley_terry(VOTES, tie="tie").to_frame()
    )
