"""Error rates: HYPE_∞'s and Layer 6's definition, by hand and on the released data."""

import csv
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.rank.error_rate import rate_by_errors
from beholder.rank.ratings import GeneratorRatings
from beholder.stats.intervals.clustered_t import standard_errors
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

LAYER6 = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "layer6-realism"
ANALYSIS = Analysis()

Tally = tuple[str, str, int, int]
"""Who, which generator (or real), how many wrong, of how many."""


def rated(*tallies: Tally, analysis: Analysis = ANALYSIS) -> dict[str, GeneratorRatings]:
    """Rate generators by answers of which just so many are wrong; each image is shown to everyone."""
    names = sorted({generator for _, generator, _, _ in tallies})
    most = {name: max(of for _, generator, _, of in tallies if generator == name) for name in names}
    images = TABLES["images"].frame(
        [
            {"image": f"{name}{n}", "path": "x", "generator": name, "real": name == "real", "gold": False}
            | {"width": 1, "height": 1, "sha256": "x"}
            for name in names
            for n in range(most[name])
        ]
    )
    rows = [
        {
            "rater": rater,
            "image": f"{generator}{n}",
            "expected": float(generator != "real"),
            "value": float((generator != "real") != (n < wrong)),
        }
        for rater, generator, wrong, of in tallies
        for n in range(of)
    ]
    ratings = rate_by_errors(pl.DataFrame(rows), images, analysis)
    return {rating.method: rating for rating in ratings}


def test_hand_worked() -> None:
    # ann: 2 of 4 fakes wrong, 1 of 4 reals: (.5 + .25)/2 = .375; bob: 4/4 and 0/4: .5; mean .4375
    ratings = rated(("ann", "g", 2, 4), ("ann", "real", 1, 4), ("bob", "g", 4, 4), ("bob", "real", 0, 4))
    assert ratings["error-rate"].estimates().value == pytest.approx([0.4375])
    assert ratings["fake-error-rate"].estimates().value == pytest.approx([0.75])
    assert ratings["real-error-rate"].estimates().value == pytest.approx([0.125])
    assert ratings["error-rate"].answers.tolist() == [16]
    assert ratings["error-rate"].images.tolist() == [8]
    assert ratings["fake-error-rate"].answers.tolist() == ratings["real-error-rate"].answers.tolist() == [8]


def test_raters_count_alike_however_many_trials_they_did() -> None:
    # 1 of 1 and 0 of 9 on fakes, all reals right: the mean over raters is ½, not 1/10
    ratings = rated(("ann", "g", 1, 1), ("ann", "real", 0, 1), ("bob", "g", 0, 9), ("bob", "real", 0, 9))
    assert ratings["fake-error-rate"].estimates().value == pytest.approx([0.5])
    assert ratings["fake-error-rate"].naive[0] < 0.1 < ratings["fake-error-rate"].naive[1]


def test_fakes_and_reals_count_alike_however_many_were_shown() -> None:
    # 3 of 3 fakes wrong, 0 of 9 reals: (1 + 0)/2
    ratings = rated(("ann", "g", 3, 3), ("ann", "real", 0, 9))
    assert ratings["error-rate"].estimates().value == pytest.approx([0.5])


def test_the_error_is_the_mean_of_fake_and_real_error() -> None:
    rng = np.random.default_rng(1)
    tallies: list[Tally] = []
    for n in range(12):
        tallies += [
            (f"p{n}", "ab"[n % 2], int(rng.integers(0, 11)), 10),
            (f"p{n}", "real", int(rng.integers(0, 11)), 10),
        ]
    ratings = rated(*tallies)
    both = (ratings["fake-error-rate"].estimates().value + ratings["real-error-rate"].estimates().value) / 2
    assert ratings["error-rate"].estimates().value == pytest.approx(both)


def test_between_raters_each_generator_has_its_own_raters_and_their_reals() -> None:
    ratings = rated(
        *(("p0", "a", 1, 2), ("p0", "real", 0, 2), ("p1", "a", 1, 2), ("p1", "real", 2, 2)),
        *(("p2", "b", 0, 2), ("p2", "real", 1, 2), ("p3", "b", 0, 2), ("p3", "real", 1, 2)),
    )
    assert ratings["error-rate"].generators == ("a", "b")
    assert ratings["real-error-rate"].estimates().value == pytest.approx([0.5, 0.5])
    assert ratings["real-error-rate"].answers.tolist() == [4, 4]
    assert ratings["error-rate"].estimates().raters.tolist() == [2, 2]
    # b's raters answer alike, and a's raters do not move b's rating
    assert ratings["error-rate"].influence.influence[:, 1].tolist() == [0, 0, 0, 0]


def test_within_raters_reals_are_shared() -> None:
    ratings = rated(
        *(("p0", "a", 1, 2), ("p0", "b", 0, 2), ("p0", "real", 1, 2)),
        *(("p1", "a", 2, 2), ("p1", "b", 1, 2), ("p1", "real", 0, 2)),
    )
    assert ratings["real-error-rate"].estimates().value == pytest.approx([0.25, 0.25])
    assert ratings["fake-error-rate"].estimates().value == pytest.approx([0.75, 0.25])
    moved = ratings["fake-error-rate"].influence.influence
    assert moved[:, 0] == pytest.approx(moved[:, 1])  # both raters: +.5, so the difference does not vary


def test_the_naive_interval_is_narrower_where_raters_differ() -> None:
    tallies: list[Tally] = []
    for n in range(20):
        tallies += [(f"p{n}", "g", 45 if n % 2 else 5, 50), (f"p{n}", "real", 45 if n % 2 else 5, 50)]
    ratings = rated(*tallies)["error-rate"]
    assert ratings.naive[1] - ratings.naive[0] < 0.5 * (ratings.estimates().high - ratings.estimates().low)


def test_without_real_images_only_the_fakes_are_rated() -> None:
    assert set(rated(("ann", "g", 1, 4), ("bob", "g", 3, 4))) == {"fake-error-rate"}


def test_a_generator_whose_raters_saw_no_real_image_is_left_out() -> None:
    ratings = rated(("ann", "a", 1, 4), ("ann", "real", 1, 4), ("bob", "b", 1, 4))
    assert ratings["error-rate"].generators == ("a",)
    assert ratings["error-rate"].answers.tolist() == [8]


def test_nothing_to_rate() -> None:
    assert rated(("ann", "real", 1, 4)) == {}


@pytest.mark.skipif(not LAYER6.exists(), reason=f"the Layer 6 release is not at {LAYER6}")
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_golden_layer6(dataset: str) -> None:
    """Everyone's stated numbers of wrong answers give the published mean, and the spread its standard error."""
    with (LAYER6 / "data" / f"{dataset}.csv").open(encoding="utf-8", newline="") as file:
        raters = list(csv.DictReader(file))
    with (LAYER6 / "expected_human_error_by_model.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["model"]: row for row in csv.DictReader(file) if row["dataset"] == dataset}
    tallies: list[Tally] = []
    for rater in raters:
        tallies.append((rater["id"], rater["model"], round(100 * float(rater["f_err_rt"])), 100))
        tallies.append((rater["id"], "real", round(100 * float(rater["r_err_rt"])), 100))
    ratings = rated(*tallies, analysis=Analysis())
    for method, column in (
        ("error-rate", "err_rt"),
        ("fake-error-rate", "f_err_rt"),
        ("real-error-rate", "r_err_rt"),
    ):
        rating = ratings[method]
        n = np.asarray([int(expected[model]["n_participants"]) for model in rating.generators])
        assert rating.estimates().raters.tolist() == n.tolist()
        mean = [float(expected[model][f"{column}_mean"]) for model in rating.generators]
        assert rating.estimates().value == pytest.approx(mean, abs=1e-6)
        error = [float(expected[model][f"{column}_sem"]) for model in rating.generators]
        assert standard_errors(rating.influence) == pytest.approx(error, rel=1e-4)
    # raters differ: the interval over raters is 2.3–3.5 times as wide as the one over answers
    rating = ratings["error-rate"]
    ratio = np.mean((rating.estimates().high - rating.estimates().low) / (rating.naive[1] - rating.naive[0]))
    assert 1.5 < ratio < 4
