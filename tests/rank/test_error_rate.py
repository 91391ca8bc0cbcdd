"""Error rates: HYPE_∞'s and Layer 6's definition, by hand and on the released data."""

import csv
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from beholder.rank.error_rate import error_rates
from beholder.rank.rated import Rated
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

LAYER6 = Path(os.environ.get("BEHOLDER_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "layer6-realism"
ANALYSIS = Analysis(draws=500)

Seen = tuple[str, str, int, int]
"""Who, which generator (or real), how many wrong, of how many."""


def rated(*seen: Seen, analysis: Analysis = ANALYSIS) -> dict[str, Rated]:
    """Rate generators by answers of which just so many are wrong; each image is shown to everyone."""
    names = sorted({generator for _, generator, _, _ in seen})
    most = {name: max(of for _, generator, _, of in seen if generator == name) for name in names}
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
        for rater, generator, wrong, of in seen
        for n in range(of)
    ]
    found = error_rates(pl.DataFrame(rows), images, analysis, np.random.default_rng(0))
    return {rating.method: rating for rating in found}


def test_hand_worked() -> None:
    # ann: 2 of 4 fakes wrong, 1 of 4 reals: (.5 + .25)/2 = .375; bob: 4/4 and 0/4: .5; mean .4375
    found = rated(("ann", "g", 2, 4), ("ann", "real", 1, 4), ("bob", "g", 4, 4), ("bob", "real", 0, 4))
    assert found["error-rate"].estimates.value == pytest.approx([0.4375])
    assert found["fake-error-rate"].estimates.value == pytest.approx([0.75])
    assert found["real-error-rate"].estimates.value == pytest.approx([0.125])
    assert found["error-rate"].answers.tolist() == [16]
    assert found["error-rate"].images.tolist() == [8]
    assert found["fake-error-rate"].answers.tolist() == found["real-error-rate"].answers.tolist() == [8]


def test_people_count_alike_however_many_trials_they_did() -> None:
    # 1 of 1 and 0 of 9 on fakes, all reals right: the mean over people is ½, not 1/10
    found = rated(("ann", "g", 1, 1), ("ann", "real", 0, 1), ("bob", "g", 0, 9), ("bob", "real", 0, 9))
    assert found["fake-error-rate"].estimates.value == pytest.approx([0.5])
    assert found["fake-error-rate"].naive[0] < 0.1 < found["fake-error-rate"].naive[1]


def test_fakes_and_reals_count_alike_however_many_were_shown() -> None:
    # 3 of 3 fakes wrong, 0 of 9 reals: (1 + 0)/2
    found = rated(("ann", "g", 3, 3), ("ann", "real", 0, 9))
    assert found["error-rate"].estimates.value == pytest.approx([0.5])


def test_the_error_is_the_mean_of_fake_and_real_error() -> None:
    rng = np.random.default_rng(1)
    seen: list[Seen] = []
    for n in range(12):
        seen += [
            (f"p{n}", "ab"[n % 2], int(rng.integers(0, 11)), 10),
            (f"p{n}", "real", int(rng.integers(0, 11)), 10),
        ]
    found = rated(*seen)
    both = (found["fake-error-rate"].estimates.value + found["real-error-rate"].estimates.value) / 2
    assert found["error-rate"].estimates.value == pytest.approx(both)


def test_between_people_each_generator_has_its_own_people_and_their_reals() -> None:
    found = rated(
        *(("p0", "a", 1, 2), ("p0", "real", 0, 2), ("p1", "a", 1, 2), ("p1", "real", 2, 2)),
        *(("p2", "b", 0, 2), ("p2", "real", 1, 2), ("p3", "b", 0, 2), ("p3", "real", 1, 2)),
    )
    assert not found["error-rate"].within
    assert found["error-rate"].generators == ("a", "b")
    assert found["real-error-rate"].estimates.value == pytest.approx([0.5, 0.5])
    assert found["real-error-rate"].answers.tolist() == [4, 4]
    assert found["error-rate"].estimates.raters.tolist() == [2, 2]
    # b's people are alike, so no draw of them differs: strata keep the groups apart
    assert set(found["error-rate"].draws[:, 1]) == {0.25}


def test_within_people_reals_are_shared() -> None:
    found = rated(
        *(("p0", "a", 1, 2), ("p0", "b", 0, 2), ("p0", "real", 1, 2)),
        *(("p1", "a", 2, 2), ("p1", "b", 1, 2), ("p1", "real", 0, 2)),
    )
    assert found["error-rate"].within
    assert found["real-error-rate"].estimates.value == pytest.approx([0.25, 0.25])
    assert found["fake-error-rate"].estimates.value == pytest.approx([0.75, 0.25])
    difference = found["fake-error-rate"].draws[:, 0] - found["fake-error-rate"].draws[:, 1]
    assert difference == pytest.approx(0.5)  # both people: +.5, so in every draw


def test_the_naive_interval_is_narrower_where_people_differ() -> None:
    seen: list[Seen] = []
    for n in range(20):
        seen += [(f"p{n}", "g", 45 if n % 2 else 5, 50), (f"p{n}", "real", 45 if n % 2 else 5, 50)]
    found = rated(*seen)["error-rate"]
    assert found.naive[1] - found.naive[0] < 0.5 * (found.estimates.high - found.estimates.low)


def test_without_real_images_only_the_fakes_are_rated() -> None:
    assert set(rated(("ann", "g", 1, 4), ("bob", "g", 3, 4))) == {"fake-error-rate"}


def test_a_generator_whose_people_saw_no_real_image_is_left_out() -> None:
    found = rated(("ann", "a", 1, 4), ("ann", "real", 1, 4), ("bob", "b", 1, 4))
    assert found["error-rate"].generators == ("a",)
    assert found["error-rate"].answers.tolist() == [8]


def test_nothing_to_rate() -> None:
    assert rated(("ann", "real", 1, 4)) == {}


@pytest.mark.skipif(not LAYER6.exists(), reason=f"the Layer 6 release is not at {LAYER6}")
@pytest.mark.parametrize("dataset", ["cifar10", "imagenet256"])
def test_golden_layer6(dataset: str) -> None:
    """Everyone's stated numbers of wrong answers give the published mean, and the spread its standard error."""
    with (LAYER6 / "data" / f"{dataset}.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    with (LAYER6 / "expected_human_error_by_model.csv").open(encoding="utf-8", newline="") as file:
        expected = {row["model"]: row for row in csv.DictReader(file) if row["dataset"] == dataset}
    seen: list[Seen] = []
    for person in people:
        seen.append((person["id"], person["model"], round(100 * float(person["f_err_rt"])), 100))
        seen.append((person["id"], "real", round(100 * float(person["r_err_rt"])), 100))
    found = rated(*seen, analysis=Analysis(draws=2000))
    for method, column in (
        ("error-rate", "err_rt"),
        ("fake-error-rate", "f_err_rt"),
        ("real-error-rate", "r_err_rt"),
    ):
        rating = found[method]
        assert not rating.within
        n = np.asarray([int(expected[model]["n_participants"]) for model in rating.generators])
        assert rating.estimates.raters.tolist() == n.tolist()
        mean = [float(expected[model][f"{column}_mean"]) for model in rating.generators]
        assert rating.estimates.value == pytest.approx(mean, abs=1e-6)
        # the bootstrap's variance is (n − 1)/n of the unbiased one; 2,000 draws know it to about 1.6 %
        error = [float(expected[model][f"{column}_sem"]) for model in rating.generators]
        drawn = rating.draws.std(axis=0) * np.sqrt(n / (n - 1))
        assert drawn == pytest.approx(error, rel=4 * 0.016)
    # people differ: the interval over people is 2.3–3.5 times as wide as the one over answers
    rating = found["error-rate"]
    ratio = np.mean((rating.estimates.high - rating.estimates.low) / (rating.naive[1] - rating.naive[0]))
    assert 1.5 < ratio < 4
