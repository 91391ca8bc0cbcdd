"""Means, proportions, d′ and tests of groups: by hand, and against scipy, statsmodels and pingouin."""

import numpy as np
import pingouin
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from beholder.errors import StatisticsError
from beholder.stats.frames import detection, example_ratings, group_tests, mean_scores, proportions, t_test

RATINGS = example_ratings()


def test_means_by_hand() -> None:
    # Rater means of a: 1, 2, 3, 4, 5 → mean 3, s = 1.5811, SE = s/√5 = .7071, t(4) = 2.7764: ± 1.9632.
    scores = {"rater": list("vwxyz") * 2, "generator": ["a"] * 10, "score": [1, 2, 3, 4, 5] * 2}
    row = mean_scores(scores).to_frame().row(0, named=True)
    assert row["estimate"] == 3
    assert row["se"] == pytest.approx(np.sqrt(0.5))
    assert (row["low"], row["high"]) == (pytest.approx(3 - 1.96324, abs=1e-4), pytest.approx(4.96324, abs=1e-4))
    assert (row["raters"], row["answers"]) == (5, 10)


def test_raters_count_the_same_or_answers_do() -> None:
    # v gave 1, 1, 1, 5 (mean 2, a quarter named), w gave 4 (mean 4, none)
    scores = {
        "rater": list("vvvvw"),
        "generator": ["a"] * 5,
        "score": [1, 1, 1, 5, 4],
        "flag": [False] * 3 + [True, False],
    }
    assert mean_scores(scores)["estimate"][0] == 3.0
    assert mean_scores(scores, weight="answers")["estimate"][0] == pytest.approx(12 / 5)
    assert proportions(scores, answer="flag")["estimate"][0] == 1 / 8
    assert proportions(scores, answer="flag", weight="answers")["estimate"][0] == 1 / 5
    assert mean_scores(scores, rater=None)["estimate"][0] == pytest.approx(12 / 5)
    with pytest.raises(StatisticsError, match="found 'images'"):
        mean_scores(scores, weight="images")  # type: ignore[arg-type]


def test_raters_with_equal_numbers_have_the_t_interval_of_their_means() -> None:
    table = mean_scores(RATINGS).to_frame()
    for generator, low, high in table.select("generator", "low", "high").iter_rows():
        own = RATINGS.filter(pl.col("generator") == generator).group_by("rater").agg(pl.col("score").mean())
        theirs = stats.ttest_1samp(own["score"], 0).confidence_interval(0.95)
        assert (low, high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


def test_pairs_of_two_are_a_paired_t_test() -> None:
    two = RATINGS.filter(pl.col("generator").is_in(["dune", "ember"]))
    pair = mean_scores(two).pairs()
    means = two.group_by("rater", "generator").agg(pl.col("score").mean()).pivot(on="generator", values="score")
    theirs = stats.ttest_rel(means["ember"], means["dune"])
    assert pair["p_value"][0] == pytest.approx(theirs.pvalue)
    assert pair["low"][0] == pytest.approx(theirs.confidence_interval(0.95).low)
    single = t_test(two, group="generator")
    assert single.method == "paired t"
    assert single["difference"][0] == pytest.approx(-pair["difference"][0])
    assert single["p_value"][0] == pytest.approx(theirs.pvalue)


def test_unanimous_proportions_have_wilsons_interval() -> None:
    answers = {"rater": [f"r{n}" for n in range(10)], "generator": ["a"] * 10, "answer": [True] * 10}
    table = proportions(answers)
    assert (table["low"][0], table["high"][0]) == pytest.approx(proportion_confint(10, 10, method="wilson"))


def test_proportions_of_labels_and_of_flags_are_the_same() -> None:
    flags = RATINGS.with_columns(seen=pl.col("flawed") == "yes")
    by_flag = proportions(flags, answer="seen").to_frame()
    assert by_flag.equals(proportions(RATINGS, answer="flawed", positive="yes").to_frame())
    assert (
        proportions(RATINGS, answer="flawed", positive="yes", higher_is_better=False)
        .to_frame()["generator"]
        .to_list()
        == by_flag["generator"].to_list()[::-1]
    )
    with pytest.raises(StatisticsError, match="no answer is 'maybe'; found no, yes"):
        proportions(RATINGS, answer="flawed", positive="maybe")


def test_detection_by_hand() -> None:
    # Each of five raters calls 3 of 4 generated and 1 of 4 real images generated: H = 3.5/5 = .7, F = 1.5/5 = .3,
    # d′ = z(.7) − z(.3) = 2 · .5244 = 1.0488, criterion 0, error rate ¼.
    answers = {
        "rater": [rater for rater in "vwxyz" for _ in range(8)],
        "generated": [True, True, True, True, False, False, False, False] * 5,
        "answer": [True, True, True, False, True, False, False, False] * 5,
    }
    row = detection(answers).to_frame().row(0, named=True)
    assert row["estimate"] == pytest.approx(1.0488, abs=1e-4)
    assert row["criterion"] == pytest.approx(0, abs=1e-12)
    assert (row["hit_rate"], row["false_alarm_rate"], row["error_rate"]) == (0.75, 0.25, 0.25)
    with pytest.raises(StatisticsError, match="found only generated ones in column 'generated'"):
        detection(answers | {"generated": [True] * 40})


def test_raters_without_real_images_do_not_count() -> None:
    answers = pl.DataFrame(
        {
            "rater": [f"r{n % 6}" for n in range(60)] + ["alone"] * 5,
            "generated": [n // 6 % 2 == 0 for n in range(60)] + [True] * 5,
            "answer": [n % 3 == 0 for n in range(65)],
        }
    )
    assert detection(answers)["raters"].tolist() == [6]


def between() -> pl.DataFrame:
    """Another set of raters for each generator."""
    return RATINGS.with_columns(rater=pl.col("rater") + pl.col("generator"))


def test_group_tests_against_scipy() -> None:
    means = between().group_by("rater", "generator").agg(pl.col("score").mean()).sort("generator")
    groups = [part["score"].to_numpy() for part in means.partition_by("generator")]
    table = group_tests(between())
    oracles = [stats.f_oneway(*groups), stats.kruskal(*groups), stats.levene(*groups, center="median")]
    assert table["statistic"] == pytest.approx([statistic for statistic, _ in oracles])
    assert table["p_value"] == pytest.approx([p_value for _, p_value in oracles])
    assert table.to_frame().select("degrees", "degrees_within").rows() == [(3, 44), (3, None), (3, 44)]
    tukey = table.pairs("tukey")
    theirs = stats.tukey_hsd(*groups)
    places = np.triu_indices(4, k=1)
    assert tukey["p_adjusted"] == pytest.approx(np.asarray(theirs.pvalue)[places], abs=1e-6)
    assert tukey["low"] == pytest.approx(np.asarray(theirs.confidence_interval(0.95).low)[places], abs=1e-6)
    howell = pingouin.pairwise_gameshowell(means.to_pandas(), dv="score", between="generator")
    assert table.pairs()["p_adjusted"] == pytest.approx(howell["pval"].to_numpy(), abs=1e-3)


def test_groups_that_share_raters_are_refused() -> None:
    with pytest.raises(StatisticsError, match=r"use mean_scores\(…\).pairs\(\)"):
        group_tests(RATINGS)


def test_t_tests_against_scipy() -> None:
    two = between().filter(pl.col("generator").is_in(["dune", "ember"]))
    means = two.group_by("rater", "generator").agg(pl.col("score").mean()).sort("generator")
    groups = [part["score"].to_numpy() for part in means.partition_by("generator")]
    for pooled in (False, True):
        table, theirs = t_test(two, group="generator", pooled=pooled), stats.ttest_ind(*groups, equal_var=pooled)
        assert table["p_value"][0] == pytest.approx(theirs.pvalue)
        assert table["low"][0] == pytest.approx(theirs.confidence_interval(0.95).low)
    with pytest.raises(StatisticsError, match="two groups; found 4 in column 'generator'"):
        t_test(RATINGS, group="generator")


def test_raters_of_one_group_only_are_left_out_of_a_paired_test() -> None:
    scores = {"rater": list("aabbccd"), "condition": [*["new", "old"] * 3, "new"], "score": [4, 3, 5, 3, 4, 1, 9]}
    table = t_test(scores)
    assert table["difference"][0] == pytest.approx(2)
    assert table.notes == ("1 raters judged one of the two only and are left out.",)
