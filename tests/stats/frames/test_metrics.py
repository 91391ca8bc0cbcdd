"""Correlations, calibration, conformal and prediction-powered inference of frames."""

import numpy as np
import polars as pl
import pytest
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import special, stats

from beholder.errors import StatisticsError
from beholder.stats.correlation import Opinions, compare_coefficients, metric_agreement
from beholder.stats.frames import (
    calibration,
    compare_correlations,
    conformal_interval,
    correlate,
    example_ratings,
    prediction_powered_mean,
)
from beholder.stats.intervals import rater_weights

IMAGES = (
    example_ratings()
    .group_by("image", "generator", "prompt", "metric", maintain_order=True)
    .agg(opinion=pl.col("score").mean(), error=pl.col("score").std() / pl.len().sqrt())
)


def test_correlations_against_scipy() -> None:
    table = correlate(IMAGES, replicates=50).to_frame()
    x, y = IMAGES["metric"].to_numpy(), IMAGES["opinion"].to_numpy()
    theirs = [stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)]
    assert table["estimate"].to_list() == pytest.approx([oracle.statistic for oracle in theirs])
    assert "baseline" not in table.columns
    assert "ceiling" not in table.columns


def test_the_interval_is_that_of_the_measure_stage() -> None:
    table = correlate(IMAGES, error="error", prompt="prompt", generator="generator", replicates=50, seed=3)
    prompts = IMAGES["prompt"].rank("dense").to_numpy().astype(np.int64) - 1
    weights = rater_weights(np.zeros(10, np.int64), 50, np.random.default_rng(3))
    opinions = Opinions(IMAGES["opinion"].to_numpy(), IMAGES["error"].to_numpy())
    theirs = metric_agreement.agreement(
        IMAGES["metric"].to_numpy(), opinions, "spearman", weights, clusters=prompts
    )
    row = table.to_frame().filter(pl.col("statistic") == "spearman").row(0, named=True)
    assert (row["estimate"], row["low"], row["high"]) == (theirs.value, theirs.low, theirs.high)
    assert row["baseline"] < row["ceiling"] < 1
    assert table.settings["seed"] == 3


def test_the_baseline_is_perfect_where_only_generators_differ() -> None:
    frame = pl.DataFrame(
        {
            "prompt": [f"p{n // 2}" for n in range(20)],
            "generator": ["a", "b"] * 10,
            "opinion": [0.0, 1.0] * 10,
            "metric": np.arange(20.0),
        }
    )
    table = correlate(frame, prompt="prompt", generator="generator", statistic="pearson", replicates=20)
    assert table["baseline"][0] == pytest.approx(1)


def test_unknown_statistics_are_named() -> None:
    with pytest.raises(StatisticsError, match=r"statistic 'spearmen' is not known.*Did you mean 'spearman'"):
        correlate(IMAGES, statistic="spearmen")  # type: ignore[arg-type]


def test_closed_forms_are_those_of_the_coefficients() -> None:
    columns = {name: IMAGES[name].to_numpy() for name in ("opinion", "metric", "error")}
    r1, r2, r12 = (
        stats.pearsonr(columns[a], columns[b]).statistic
        for a, b in (("opinion", "metric"), ("opinion", "error"), ("metric", "error"))
    )
    for test in ("williams", "steiger", "meng"):
        theirs = compare_coefficients(r1, r2, r12, len(IMAGES), test=test)
        ours = compare_correlations(
            IMAGES,
            metrics=["metric", "error"],
            statistic="pearson",
            test=test,
        )
        assert ours["p_value"][0] == pytest.approx(theirs.p_value)
        assert (ours["low"][0], ours["high"][0]) == (pytest.approx(theirs.low), pytest.approx(theirs.high))
        assert ours.seed is None


def test_comparisons_that_are_not_defined_are_refused() -> None:
    with pytest.raises(StatisticsError, match="two metrics; found 1"):
        compare_correlations(IMAGES, metrics=["metric"])
    with pytest.raises(StatisticsError, match="need test='bootstrap'; found test='meng'"):
        compare_correlations(IMAGES, metrics=["metric", "error"], test="meng", prompt="prompt")


def test_holm_over_three_metrics() -> None:
    frame = IMAGES.with_columns(third=pl.col("metric") ** 2)
    table = compare_correlations(frame, metrics=["metric", "error", "third"], replicates=200)
    assert len(table) == 3
    assert (table["p_holm"] >= table["p_value"]).all()


def powered_frame() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, 300)
    label = [*(quality[:60] + rng.normal(0, 0.5, 60)), *[None] * 240]
    return pl.DataFrame({"label": label, "prediction": quality + rng.normal(0, 0.5, 300)})


@pytest.mark.parametrize("tuning", [None, 1.0])
def test_prediction_powered_means_against_ppi_py(tuning: float | None) -> None:
    frame = powered_frame()
    known = frame.filter(pl.col("label").is_not_null())
    arrays = (
        known["label"].to_numpy(),
        known["prediction"].to_numpy(),
        frame.filter(pl.col("label").is_null())["prediction"].to_numpy(),
    )
    table = prediction_powered_mean(frame, cluster=None, tuning=tuning)
    weight = table["tuning"][0]
    assert table["estimate"][0] == pytest.approx(ppi_mean_pointestimate(*arrays, lam=weight)[0])
    low, high = ppi_mean_ci(*arrays, alpha=0.05, lam=weight)
    assert table["high"][0] - table["low"][0] == pytest.approx(
        high[0] - low[0], rel=0.06
    )  # t and normal quantiles
    assert table["high"][0] - table["low"][0] < table["classical_high"][0] - table["classical_low"][0]
    assert (table["labels"][0], table["unlabelled"][0]) == (60, 240)


def test_prediction_powered_groups_and_clusters() -> None:
    frame = powered_frame().with_columns(
        rater=pl.when(pl.col("label").is_not_null()).then(pl.int_range(pl.len()) % 8),
        generator=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("b")),
        item=pl.int_range(pl.len()),
    )
    table = prediction_powered_mean(frame, group="generator")
    assert table.raters == 8
    assert table["clusters"].tolist() == [4, 4]
    plain = prediction_powered_mean(frame, group="generator", tuning=1)
    assert plain.pairs()["difference"][0] == pytest.approx(plain["estimate"][0] - plain["estimate"][1])
    assert len(table.pairs()) == 1
    both = prediction_powered_mean(frame, group="generator", cluster=["rater", "item"])
    assert "clustered by rater and item" in both.method
    with pytest.raises(StatisticsError, match="no row of 'b' has a label"):
        prediction_powered_mean(
            frame.with_columns(label=pl.when(pl.col("generator") == "a").then("label")), group="generator"
        )
    with pytest.raises(StatisticsError, match="nulls where there is a label"):
        prediction_powered_mean(frame.with_columns(rater=pl.lit(None, dtype=pl.Int64)))
    with pytest.raises(StatisticsError, match="name their column with group="):
        prediction_powered_mean(frame).pairs()


def test_proportions_are_cut_at_one() -> None:
    frame = {"label": [1, 1, 1, 0, None, None], "prediction": [0.9, 0.8, 0.9, 0.1, 0.9, 0.8]}
    table = prediction_powered_mean(frame, cluster=None, proportion=True)
    assert table["high"][0] <= 1


def test_calibration_recovers_the_scale() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 4000))
    wins = rng.random(4000) < special.expit(1.5 * (first - second))
    table = calibration({"first_score": first, "second_score": second, "proportion": wins})
    assert table.scale.low < 1.5 < table.scale.high
    assert table.ece < 3 * table.ece_by_chance
    assert table["pairs"].sum() == 4000


def test_conformal_width_by_hand() -> None:
    # 19 errors 1 … 19; the ⌈.9 · 20⌉ = 18th smallest is 18.
    items = {"prediction": [0.0] * 19, "label": list(range(1, 20))}
    assert conformal_interval(items, level=0.9)["half_width"][0] == 18
    few = conformal_interval({"prediction": [0.0] * 3, "label": [1, 2, 3]}, level=0.9)
    assert few["half_width"][0] == np.inf
    assert "∞" in repr(few)
