"""Bradley–Terry ratings of generators from votes on pairs."""

import numpy as np
import pytest

from beholder.errors import StatisticsError
from beholder.rank.preference import preferences
from beholder.rank.rated import Rated
from beholder.study.study import Analysis
from beholder.tables.catalogue import TABLES

ANALYSIS = Analysis(draws=300)
Vote = tuple[str, str, str, str]
"""Who, left image, right image (the first letter is the generator), and the choice."""


def rated(*votes: Vote) -> list[Rated]:
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
    return list(preferences(TABLES["judgements"].frame(rows), images, ANALYSIS, np.random.default_rng(0)))


def test_two_generators_hand_worked() -> None:
    # a beats b in 6 of 8, alike on both sides: log odds log 3, so ± ½ log 3
    votes = [
        (f"p{n}", *(("a0", "b0") if side else ("b0", "a0")), ("left" if (n < 3) == side else "right"))
        for n in range(4)
        for side in (True, False)
    ]
    (found,) = rated(*votes)
    assert found.generators == ("a", "b")
    assert found.estimates.value == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-6)
    assert found.answers.tolist() == [8, 8]
    assert found.images.tolist() == [1, 1]
    assert found.estimates.raters.tolist() == [4, 4]
    assert found.within
    assert found.ties is not None


def simulated(
    strength: dict[str, float], *, side: float, tie: float, people: int, each: int, seed: int
) -> list[Vote]:
    rng = np.random.default_rng(seed)
    names = list(strength)
    votes: list[Vote] = []
    for person in range(people):
        for _ in range(each):
            one, other = rng.choice(names, size=2, replace=False)
            gap = strength[one] - strength[other] + side
            logits = np.exp([gap / 2, -gap / 2, tie])
            choice = rng.choice(["left", "right", "tie"], p=logits / logits.sum())
            votes.append((f"p{person}", f"{one}0", f"{other}0", str(choice)))
    return votes


def test_planted_log_odds_are_recovered() -> None:
    planted = {"a": 1.0, "b": 0.3, "c": -0.3, "d": -1.0}
    (found,) = rated(*simulated(planted, side=0.4, tie=-1.0, people=60, each=100, seed=0))
    assert found.estimates.value == pytest.approx(list(planted.values()), abs=0.12)
    inside = (found.estimates.low <= list(planted.values())) & (found.estimates.high >= list(planted.values()))
    assert inside.sum() >= 3


def test_a_leaning_to_one_side_is_allowed_for() -> None:
    planted = {"a": 0.5, "b": -0.5}
    fair, leaning = (
        rated(*simulated(planted, side=side, tie=-1.0, people=40, each=100, seed=1))[0] for side in (0.0, 1.5)
    )
    assert leaning.estimates.value == pytest.approx([0.5, -0.5], abs=0.12)
    assert fair.estimates.value == pytest.approx([0.5, -0.5], abs=0.12)


def test_all_ties() -> None:
    (found,) = rated(*[(f"p{n}", "a0", "b0", "tie") for n in range(5)])
    assert found.estimates.value == pytest.approx([0, 0], abs=1e-6)
    assert found.draws == pytest.approx(np.zeros((300, 2)), abs=1e-6)


def test_one_side_only_is_no_side_effect() -> None:
    (found,) = rated(*[(f"p{n}", "a0", "b0", "left" if n % 4 else "right") for n in range(20)])
    assert found.estimates.value == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-6)


def test_the_naive_interval_is_narrower_where_people_differ() -> None:
    votes: list[Vote] = []
    for person in range(24):
        fond = person % 3 != 0  # two thirds always prefer a, the others always b
        for n in range(30):
            left, right = ("a0", "b0") if n % 2 else ("b0", "a0")
            votes.append((f"p{person}", left, right, "left" if (left == "a0") == fond else "right"))
    (found,) = rated(*votes)
    assert found.naive[1][0] - found.naive[0][0] < 0.5 * (found.estimates.high[0] - found.estimates.low[0])


def test_groups_that_were_never_compared_are_named() -> None:
    votes = [("p", "a0", "b0", "left"), ("p", "c0", "d0", "left"), ("p", "d0", "e0", "tie")]
    with pytest.raises(StatisticsError, match=r"found 2 separate groups \(a, b; c, d, e\)"):
        rated(*votes)


def test_one_generator_and_no_votes_are_no_rating() -> None:
    assert rated() == []
