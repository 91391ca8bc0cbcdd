"""Bradley–Terry ratings of generators from votes on pairs."""

import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.rank.preference import rate_by_bradley_terry
from beholder.rank.ratings import GeneratorRatings
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

ANALYSIS = Analysis()
Vote = tuple[str, str, str, str]
"""Who, left image, right image (the first letter is the generator), and the choice."""


def rated(*votes: Vote) -> list[GeneratorRatings]:
    names = sorted({image for _, left, right, _ in votes for image in (left, right)})
    images = TABLES["images"].frame(
        [
            {"image": name, "path": "x", "generator": name[0], "real": False, "gold": False}
            | {"width": 1, "height": 1, "sha256": "x"}
            for name in names
        ]
    )
    values = {"left": 1.0, "tie": 0.0, "right": -1.0}
    rows: list[dict[str, object]] = [
        {"rater": rater, "image": left, "other": right, "value": values[choice], "value_kind": "vote"}
        for rater, left, right, choice in votes
    ]
    return list(rate_by_bradley_terry(TABLES["judgements"].frame(rows), images, ANALYSIS))


def test_two_generators_hand_worked() -> None:
    # a beats b in 6 of 8, alike on both sides: log odds log 3, so ± ½ log 3
    votes = [
        (f"p{n}", *(("a0", "b0") if side else ("b0", "a0")), ("left" if (n < 3) == side else "right"))
        for n in range(4)
        for side in (True, False)
    ]
    (rating,) = rated(*votes)
    assert rating.generators == ("a", "b")
    assert rating.estimates().value == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-6)
    assert rating.answers.tolist() == [8, 8]
    assert rating.images.tolist() == [1, 1]
    assert rating.estimates().raters.tolist() == [4, 4]
    assert rating.ties is not None


def simulated(
    strength: dict[str, float], *, side: float, tie: float, raters: int, each: int, seed: int
) -> list[Vote]:
    rng = np.random.default_rng(seed)
    names = list(strength)
    votes: list[Vote] = []
    for rater in range(raters):
        for _ in range(each):
            left, right = rng.choice(names, size=2, replace=False)
            gap = strength[left] - strength[right] + side
            logits = np.exp([gap / 2, -gap / 2, tie])
            choice = rng.choice(["left", "right", "tie"], p=logits / logits.sum())
            votes.append((f"p{rater}", f"{left}0", f"{right}0", str(choice)))
    return votes


def test_true_log_odds_are_recovered() -> None:
    strengths = {"a": 1.0, "b": 0.3, "c": -0.3, "d": -1.0}
    (rating,) = rated(*simulated(strengths, side=0.4, tie=-1.0, raters=60, each=100, seed=0))
    assert rating.estimates().value == pytest.approx(list(strengths.values()), abs=0.12)
    inside = (rating.estimates().low <= list(strengths.values())) & (
        rating.estimates().high >= list(strengths.values())
    )
    assert inside.sum() >= 3


def test_a_leaning_to_one_side_is_allowed_for() -> None:
    strengths = {"a": 0.5, "b": -0.5}
    fair, leaning = (
        rated(*simulated(strengths, side=side, tie=-1.0, raters=40, each=100, seed=1))[0] for side in (0.0, 1.5)
    )
    assert leaning.estimates().value == pytest.approx([0.5, -0.5], abs=0.12)
    assert fair.estimates().value == pytest.approx([0.5, -0.5], abs=0.12)


def test_all_ties() -> None:
    (rating,) = rated(*[(f"p{n}", "a0", "b0", "tie") for n in range(5)])
    assert rating.estimates().value == pytest.approx([0, 0], abs=1e-6)
    low, high = rating.estimates().low, rating.estimates().high
    assert (low < 0).all()  # five raters that all see a tie may be wrong together
    assert (high > 0).all()


def test_one_side_only_is_no_side_effect() -> None:
    (rating,) = rated(*[(f"p{n}", "a0", "b0", "left" if n % 4 else "right") for n in range(20)])
    assert rating.estimates().value == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-6)


def test_the_naive_interval_is_narrower_where_raters_differ() -> None:
    votes: list[Vote] = []
    for rater in range(24):
        fond = rater % 3 != 0  # two thirds always prefer a, the others always b
        for n in range(30):
            left, right = ("a0", "b0") if n % 2 else ("b0", "a0")
            votes.append((f"p{rater}", left, right, "left" if (left == "a0") == fond else "right"))
    (rating,) = rated(*votes)
    assert rating.naive[1][0] - rating.naive[0][0] < 0.5 * (rating.estimates().high[0] - rating.estimates().low[0])


def test_groups_that_were_never_compared_are_named() -> None:
    votes = [("p", "a0", "b0", "left"), ("p", "c0", "d0", "left"), ("p", "d0", "e0", "tie")]
    with pytest.raises(StatisticsError, match=r"found 2 separate groups \(a, b; c, d, e\)"):
        rated(*votes)


def test_one_generator_and_no_votes_are_no_rating() -> None:
    assert rated() == []
