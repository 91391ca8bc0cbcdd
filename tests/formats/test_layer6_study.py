"""Layer 6's release from its files to ratings: the published numbers, the way back, and what does not add up."""

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from beholder.consolidate import stage as consolidate
from beholder.design import stage as design
from beholder.errors import TableError
from beholder.formats import layer6
from beholder.formats.folder import write_folder
from beholder.formats.layer6_files import IMAGE_COLUMNS, RATER_COLUMNS
from beholder.formats.layer6_study import read_study
from beholder.rank import stage as rank
from beholder.stats.agreement.krippendorff import alpha_of_counts
from beholder.study.study import load_study
from beholder.tables.store import Store

SHARED = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared"))
RELEASE = SHARED / "data" / "layer6-realism"
needs_release = pytest.mark.skipif(not RELEASE.exists(), reason=f"the Layer 6 release is not at {RELEASE}")
METHODS = {"error-rate": "err_rt", "fake-error-rate": "f_err_rt", "real-error-rate": "r_err_rt"}


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The release, imported, consolidated and ranked."""
    folder = tmp_path_factory.mktemp("layer6") / "study"
    write_folder(read_study(RELEASE), folder, form="layer6", source=RELEASE)
    assert design.run(folder).skipped
    consolidate.run(folder)
    rank.run(folder)
    return Store(folder)


def people(dataset: str) -> list[dict[str, str]]:
    with (RELEASE / "data" / f"{dataset}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def expected() -> list[dict[str, str]]:
    with (RELEASE / "expected_human_error_by_model.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@needs_release
@pytest.mark.parametrize(("method", "column"), METHODS.items())
def test_every_mean_and_standard_error_is_the_published_one(ranked: Store, method: str, column: str) -> None:
    """The table has six digits; each rater's row has all of them, and there the ninth agrees."""
    ratings = ranked.read("ratings").filter((pl.col("method") == method) & (pl.col("slice") == "all"))
    by_generator = {(row["question"], row["generator"]): row for row in ratings.to_dicts()}
    assert len(by_generator) == len(expected()) == 24
    for row in expected():
        rated = by_generator[row["dataset"], row["model"]]
        values = [float(p[column]) for p in people(row["dataset"]) if p["model"] == row["model"]]
        assert rated["raters"] == len(values) == int(row["n_participants"])
        assert rated["answers"] == len(values) * (200 if method == "error-rate" else 100)
        assert rated["rating"] == pytest.approx(np.mean(values), abs=1e-9)
        assert rated["se"] == pytest.approx(stats.sem(values), abs=1e-9)
        assert rated["rating"] == pytest.approx(float(row[f"{column}_mean"]), abs=5.1e-7)
        assert rated["se"] == pytest.approx(float(row[f"{column}_sem"]), abs=5.1e-7)


@needs_release
def test_intervals_over_people_are_as_wide_as_published_and_naive_ones_too_narrow(ranked: Store) -> None:
    """The published width is that of a percentile bootstrap; ours is widened for 25 raters by about 1.08."""
    ratings = ranked.read("ratings").filter((pl.col("method") == "error-rate") & (pl.col("slice") == "all"))
    by_generator = {(row["question"], row["generator"]): row for row in ratings.to_dicts()}
    for row in expected():
        rated = by_generator[row["dataset"], row["model"]]
        published = float(row["err_ci95_hi"]) - float(row["err_ci95_lo"])
        assert 1.0 < (rated["high"] - rated["low"]) / published < 1.3
    published_ratio = json.loads((RELEASE / "expected_statistics.json").read_text())
    for dataset, numbers in published_ratio.items():
        dataset_rows = [row for (question, _), row in by_generator.items() if question == dataset]
        # the naive interval is Wilson's, (high − low)/2 ≈ 1.96 · binomial SE
        ratios = [row["se"] / ((row["naive_high"] - row["naive_low"]) / 2 / 1.959964) for row in dataset_rows]
        assert np.mean(ratios) == pytest.approx(numbers["mean_ratio_clusterSE_to_binomialSE"], rel=1e-3)


@needs_release
def test_agreement_is_the_published_one(ranked: Store) -> None:
    published = json.loads((RELEASE / "expected_statistics.json").read_text())
    rows = ranked.read("agreement").filter(pl.col("people") == "all").to_dicts()
    assert {row["question"] for row in rows} == set(published)
    for row in rows:
        numbers = published[row["question"]]
        assert row["value"] == pytest.approx(numbers["krippendorff_alpha_nominal_all"], abs=1e-9)
        assert row["items"] == numbers["images_ge2"]
        assert row["raters"] == numbers["n"]
        assert row["low"] is None


@needs_release
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_group_statistics_of_the_imported_people(ranked: Store, dataset: str) -> None:
    """Every entry of the published statistics that raters' totals determine, by scipy from the imported table."""
    numbers = json.loads((RELEASE / "expected_statistics.json").read_text())[dataset]
    wrong, answers, real = pl.col("wrong"), pl.col("answers"), pl.col("real")
    each = (
        ranked.read("totals")
        .filter(pl.col("question") == dataset)
        .group_by("generator", "rater", maintain_order=True)
        .agg(
            error=wrong.sum() / answers.sum(),
            fake=(wrong / answers).filter(~real).first(),
            real=(wrong / answers).filter(real).first(),
            said_real=(wrong.filter(~real).sum() + (answers - wrong).filter(real).sum()) / answers.sum(),
            seconds=pl.col("seconds").sum(),
        )
    )
    error, seconds = each["error"].to_numpy(), each["seconds"].to_numpy()
    groups = [part["error"].to_numpy() for _, part in each.group_by("generator", maintain_order=True)]
    assert (each.height, len(groups)) == (numbers["n"], numbers["k"])
    assert [len(groups) - 1, each.height - len(groups)] == numbers["df"]
    for name, statistic, test in (
        ("anova", "F", stats.f_oneway(*groups)),
        ("kruskal", "H", stats.kruskal(*groups)),
        ("levene", "W", stats.levene(*groups, center="median")),
    ):
        assert test.statistic == pytest.approx(numbers[f"{name}_{statistic}"], rel=1e-9)
        assert test.pvalue == pytest.approx(numbers[f"{name}_p"], rel=1e-6)
    between = sum(len(group) * (group.mean() - error.mean()) ** 2 for group in groups)
    assert between / ((error - error.mean()) ** 2).sum() == pytest.approx(numbers["eta2"], rel=1e-9)
    pairs = ranked.read("separations").filter((pl.col("question") == dataset) & (pl.col("method") == "error-rate"))
    assert pairs.height == numbers["tukey_pairs"]
    # another test of the same pairs (each pair's own spread, Holm): a few at the edge may differ
    assert abs(pairs["separated"].sum() - numbers["tukey_sep_p05"]) <= 3
    t, p, difference = numbers["paired_t_fake_vs_real_err"]
    paired = stats.ttest_rel(each["fake"], each["real"])
    assert (paired.statistic, paired.pvalue) == pytest.approx((t, p), rel=1e-9)
    assert (each["fake"] - each["real"]).mean() == pytest.approx(difference, rel=1e-9)
    # the sum of both times is not imported, and differs from resp_time by up to .01 s
    assert stats.pearsonr(seconds, error).statistic == pytest.approx(numbers["corr_time_err_pearson"], abs=1e-4)
    assert stats.spearmanr(seconds, error).statistic == pytest.approx(numbers["corr_time_err_spearman"], abs=1e-4)
    assert np.mean([group.std(ddof=1) for group in groups]) == pytest.approx(
        numbers["mean_between_participant_sd"], rel=1e-9
    )
    assert (error > 0.45 + 1e-9).sum() == numbers["below_55pct_acc"]
    assert (error >= 0.5).sum() == numbers["at_or_below_chance"]
    assert (~each["said_real"].is_between(0.25, 0.75)).sum() == numbers["extreme_bias_r_ans<.25_or>.75"]
    assert (seconds < 0.5 * 200).sum() == numbers["fast_resp_lt_0.5s_per_trial"]


@needs_release
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_agreement_on_either_class_from_the_imported_shares(ranked: Store, dataset: str) -> None:
    numbers = json.loads((RELEASE / "expected_statistics.json").read_text())[dataset]
    shares = ranked.read("published").filter(pl.col("question") == dataset)
    classed = shares.join(ranked.read("images").select("image", "real"), on="image")
    for real, name in ((False, "fake"), (True, "real")):
        part = classed.filter(pl.col("real") == real)
        called_generated = (part["value"] * part["raters"]).round().to_numpy()
        called_real = part["raters"].to_numpy() - called_generated
        alpha = alpha_of_counts(np.stack([called_real, called_generated], axis=1), scale="nominal")
        assert alpha == pytest.approx(numbers[f"krippendorff_alpha_{name}"], abs=1e-9)


@needs_release
def test_soft_labels_are_pooled_over_the_models_that_share_real_images(ranked: Store) -> None:
    labels = ranked.read("labels")
    images = ranked.read("images")
    assert images.filter("real").group_by(pl.col("image").str.split("/").list.first()).len()["len"].to_list() == [
        2000,
        2000,
    ]
    assert labels.height == images.height
    with (RELEASE / "per-image-data" / "cifar10_labeled_data.csv").open(newline="") as file:
        rows = [
            row for row in csv.DictReader(file) if row["image_path"] == "9/2128.png" and row["generated"] == "0"
        ]
    guesses = sum(int(row["number_guesses"]) for row in rows)
    called_generated = sum(int(row["number_guesses_generated"]) for row in rows)
    label = labels.row(by_predicate=pl.col("image") == "cifar10/real/9/2128.png", named=True)
    assert (label["answers"], label["value"]) == (guesses, pytest.approx(called_generated / guesses, abs=1e-12))


@needs_release
def test_the_release_comes_back_but_for_rounded_sums_of_times(ranked: Store, tmp_path: Path) -> None:
    names = ("images", "prompts", "sessions", "answers", "trials", "totals", "published")
    tables = {name: ranked.read(name) for name in names}
    layer6.write(load_study(ranked.folder), tables, tmp_path)
    for dataset, images in (("cifar10", "cifar10"), ("imagenet256", "imagenet")):
        source = RELEASE / "per-image-data" / f"{images}_labeled_data.csv"
        assert (tmp_path / "per-image-data" / f"{dataset}_labeled_data.csv").read_bytes() == source.read_bytes()
        with (tmp_path / "data" / f"{dataset}.csv").open(newline="") as file:
            written = list(csv.DictReader(file))
        for before, after in zip(people(dataset), written, strict=True):
            assert float(before.pop("resp_time")) == pytest.approx(float(after.pop("resp_time")), abs=0.011)
            assert before == after


@needs_release
def test_what_does_not_add_up_is_told() -> None:
    imported = read_study(RELEASE)
    assert imported.differences == (
        "cifar10: ACGAN has 25 raters, but guesses of 26 in the file by image (+1)",
        "cifar10: LSGM-ODE has 27 raters, but guesses of 29 in the file by image (+2)",
        "cifar10: MHGAN has 25 raters, but guesses of 26 in the file by image (+1)",
        "cifar10: StyleGAN-XL has 25 raters, but guesses of 26 in the file by image (+1)",
        "cifar10: StyleGAN2-ada has 25 raters, but guesses of 27 in the file by image (+2)",
        "imagenet256: ADMG has 25 raters, but guesses of 26 in the file by image (+1)",
    )
    assert "Of the four sets of the release, ffhq256, lsun256 are not here." in imported.notes


def release(folder: Path, people_rows: list[str], image_rows: list[str]) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "s.csv").write_text("\n".join([",".join(RATER_COLUMNS), *people_rows]) + "\n")
    (folder / "per-image-data").mkdir()
    numbered = [f"{number},{row}" for number, row in enumerate(image_rows)]
    by_image = "\n".join([",".join(IMAGE_COLUMNS), *numbered]) + "\n"
    (folder / "per-image-data" / "s_labeled_data.csv").write_text(by_image)
    return folder


RIGHT = "p{0},{1},3.0,0.25,0.5,0.0,0.75,4.0,2.0,2.0"
"""Four answers: right on both real images and on one of two generated."""


def test_totals_and_shares_by_hand(tmp_path: Path, sound: Callable[..., None]) -> None:
    """n = 3 / (1 − .25) = 4 answers, 2 of them on generated images; of these 1 is wrong, of the real ones none."""
    source = release(
        tmp_path / "in",
        [RIGHT.format(0, "m"), RIGHT.format(1, "m")],
        ["m,0,r.png,4,0,0.0", "m,1,a.png,2,1,0.5", "m,1,b.png,2,1,0.5"],
    )
    imported = read_study(source)
    sound(dict(imported.tables))
    totals = imported.tables["totals"].filter(pl.col("rater") == "s/p0")
    assert totals.select("real", "answers", "wrong", "seconds").rows() == [(False, 2, 1, 2.0), (True, 2, 0, 2.0)]
    published = imported.tables["published"].select("image", "among", "value", "raters")
    assert published.rows()[0] == ("s/real/r.png", "m", 0.0, 4)
    assert imported.differences == ()
    assert imported.study.question("s").design.trials == 4


def test_models_rows_and_answers_that_do_not_add_up(tmp_path: Path) -> None:
    """m: 4 answers on real images by image, as by rater, but 1 of them wrong; c has no image, x no rater."""
    source = release(
        tmp_path,
        [RIGHT.format(0, "m"), RIGHT.format(1, "m"), RIGHT.format(2, "c")],
        ["m,0,r.png,4,1,0.25", "m,1,a.png,2,1,0.5", "m,1,a.png,2,1,0.5", "x,1,y.png,8,0,0.0"],
    )
    assert read_study(source).differences == (
        "s: c has 1 raters, but no row in the file by image",
        "s: x is in the file by image (2 raters), but no rater judged it",
        "s: images with several rows, counted together: m a.png",
        "s: m: 0 wrong answers on real images by rater, 1 by image",
    )
    shared = read_study(source).tables["published"].filter(pl.col("image") == "s/m/a.png")
    assert shared.select("value", "raters").rows() == [(0.5, 4)]


def test_a_set_without_a_file_by_image_is_read(tmp_path: Path) -> None:
    source = release(tmp_path, [RIGHT.format(0, "m"), RIGHT.format(1, "m")], [])
    (source / "per-image-data" / "s_labeled_data.csv").unlink()
    imported = read_study(source)
    assert imported.differences == ("s: there is no file by image, so no image has a label",)
    assert imported.tables["totals"].height == 4


def test_the_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    source = release(tmp_path, [RIGHT.format(0, "m"), RIGHT.format(0, "m")], ["m,2,r.png,4,0,0.5"])
    (source / "data" / "t.csv").write_text("id\n")
    with pytest.raises(TableError) as caught:
        read_study(source)
    faults = "\n".join(caught.value.faults)
    assert len(caught.value.faults) == 4
    assert "the id occurs twice: p0" in faults
    assert "generated is neither 0 nor 1: r.png" in faults
    assert "soft_label is not the proportion" in faults
    assert "t.csv: columns id; expected" in faults
