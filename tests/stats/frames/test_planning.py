"""Confidence sequences, sequential separation, sample sizes and psychometric functions of frames."""

import numpy as np
import polars as pl
import pytest
from scipy import special
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from beholder.errors import StatisticsError
from beholder.stats.frames import (
    confidence_sequence,
    example_ratings,
    interval_widths,
    power,
    psychometric,
    raters_needed,
    sequential_separation,
)
from beholder.stats.intervals import betting_sequence
from beholder.stats.psychophysics import fit_psychometric, threshold_estimate


def test_raters_arrive_in_the_order_of_their_last_answers() -> None:
    # b finishes first (row 2), then a (row 3), whose mean is ½.
    scores = {"rater": ["a", "b", "b", "a"], "score": [1, 1, 1, 0]}
    table = confidence_sequence(scores)
    assert table.to_frame()["rater"].to_list() == ["b", "a"]
    assert table["estimate"].tolist() == [1.0, 0.75]
    theirs = betting_sequence([1.0, 0.5])
    assert table["low"].tolist() == theirs.low.tolist()


def test_intervals_never_widen_and_are_as_wide_for_other_bounds() -> None:
    ratings = example_ratings(raters=30)
    table = confidence_sequence(ratings, group="generator", bounds=(1, 5))
    for part in table.to_frame().partition_by("generator"):
        assert part["low"].is_sorted()
        assert part["high"].is_sorted(descending=True)
    unit = ratings.with_columns(score=(pl.col("score") - 1) / 4)
    scaled = confidence_sequence(unit, group="generator")
    assert 1 + 4 * scaled["high"] == pytest.approx(table["high"])
    assert len(table.latest()) == 4
    assert table.latest()["raters"].tolist() == [30] * 4


def test_without_bounds_the_sequence_begins_at_fifty_raters() -> None:
    rng = np.random.default_rng(0)
    scores = {"rater": np.arange(80), "score": rng.normal(size=80)}
    table = confidence_sequence(scores, bounds=None)
    assert "asymptotic" in table.method
    assert np.isinf(table["low"][:49]).all()
    assert np.isfinite(table["low"][49:]).all()
    with pytest.raises(StatisticsError, match=r"lie within 0\.0 … 1\.0"):
        confidence_sequence(scores)


def test_what_is_separated_stays_separated() -> None:
    ratings = example_ratings(raters=60)
    table = sequential_separation(ratings, bounds=(1, 5)).to_frame()
    early = table.filter(pl.col("after") <= 30)
    assert len(early) > 0
    sooner = sequential_separation(ratings.filter(pl.col("rater") < "r30"), bounds=(1, 5)).to_frame()
    assert sooner.filter("separated").select("generator", "other").equals(early.select("generator", "other"))


def test_raters_needed_by_hand() -> None:
    # .55 against ½: ((1.96 · .5 + .8416 · √(.55 · .45))/.05)² = ((.98 + .41869)/.05)² = 782.5 → 783.
    # 20 answers each, correlated by .05: × 1.95 = 1,526.9 → 1,527 answers, 76.4 → 77 raters.
    row = raters_needed(preference=0.55, answers_each=20, correlation=0.05).to_frame().row(0, named=True)
    assert (row["independent_answers"], row["answers"], row["raters"]) == (783, 1527, 77)
    assert power(77, preference=0.55, answers_each=20, correlation=0.05)["power"][0] == pytest.approx(
        0.8, abs=0.01
    )


def test_power_against_statsmodels() -> None:
    group = raters_needed(difference=0.3, sd=1.2).to_frame()["raters"][0]
    theirs = NormalIndPower().solve_power(effect_size=0.25, alpha=0.05, power=0.8)
    assert group == pytest.approx(theirs, abs=1)
    ours = power([50, 200], proportions=(0.4, 0.5))["power"]
    effect = proportion_effectsize(0.4, 0.5)
    oracle = [NormalIndPower().power(effect, count, 0.05) for count in (50, 200)]
    assert ours == pytest.approx(oracle, abs=0.01)
    assert len(raters_needed(proportions=(0.4, 0.5)).notes) == 1


def test_one_way_of_saying_what_is_to_be_shown() -> None:
    for request in ({}, {"preference": 0.6, "difference": 1.0, "sd": 1.0}, {"difference": 1.0}, {"sd": 1.0}):
        with pytest.raises(StatisticsError, match="in one way"):
            raters_needed(**request)  # type: ignore[arg-type]
        with pytest.raises(StatisticsError, match="in one way"):
            power(10, **request)  # type: ignore[arg-type]


def test_four_times_as_many_raters_halve_the_interval() -> None:
    scores = {"rater": np.arange(200), "score": np.random.default_rng(0).normal(size=200)}
    widths = interval_widths(scores, raters=[50, 200])["width"]
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.1)


def test_thresholds_of_each_rater() -> None:
    rng = np.random.default_rng(0)
    exposure = rng.choice([50.0, 100, 200, 400, 800], 600)
    chance = 0.5 + 0.5 * special.expit((exposure - 300) / 50)
    frame = pl.DataFrame(
        {"rater": [f"r{n % 2}" for n in range(600)], "exposure": exposure, "correct": rng.random(600) < chance}
    )
    table = psychometric(frame, group="rater", shape="logistic", lapse=0.02)
    own = frame.filter(pl.col("rater") == "r1")
    fit = fit_psychometric(own["exposure"].to_numpy(), own["correct"].to_numpy(), shape="logistic", lapse=0.02)
    theirs = threshold_estimate(fit, 0.75)
    row = table.to_frame().row(1, named=True)
    assert (row["estimate"], row["low"], row["high"]) == (theirs.value, theirs.low, theirs.high)
    assert row["low"] < 300 < row["high"]
    assert table["trials"].tolist() == [300, 300]
