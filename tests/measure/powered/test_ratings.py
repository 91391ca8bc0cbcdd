"""Prediction-powered ratings: by hand, against ppi-python, laws, and what a useless score costs."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

from beholder.judgements.generator_values import generator_values
from beholder.measure.metric_values import SCHEMA
from beholder.measure.powered.ratings import powered_rows
from beholder.measure.powered.scored_values import scored_values
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.pair import PairQuestion
from beholder.study.kinds.rating import RatingQuestion
from beholder.tables.catalogue import TABLES

RATING, PAIR = RatingQuestion(name="q"), PairQuestion(name="q")

Answer = tuple[str, str, str | None, float]
"""Rater, image, other image, and value."""


def judgements(answers: list[Answer], value_kind: str = "rating") -> pl.DataFrame:
    return TABLES["judgements"].frame(
        [_judgement(number, *answer, value_kind) for number, answer in enumerate(answers)]
    )


def _judgement(
    number: int, rater: str, image: str, other: str | None, value: float, value_kind: str
) -> dict[str, object]:
    where: dict[str, object] = {
        "question": "q",
        "aspect": "quality",
        "rater": rater,
        "session": rater,
        "trial": f"t{number}",
    }
    judged: dict[str, object] = {
        "image": image,
        "other": other,
        "value": value,
        "value_kind": value_kind,
        "used": True,
    }
    return where | judged | {"attempt": 1, "place": 0}


def images(names: list[str]) -> pl.DataFrame:
    """``a/3`` is by generator a, for prompt 3."""
    rows: list[dict[str, object]] = [
        {
            "image": name,
            "generator": name.split("/")[0],
            "prompt": name.split("/")[1],
            "real": False,
            "gold": False,
        }
        for name in names
    ]
    return TABLES["images"].frame(rows)


def metric(scores: dict[str, float], better: str | None = "higher") -> pl.DataFrame:
    rows = [
        {"metric": "m", "slice": "all", "better": better, "item": image, "value": score}
        for image, score in scores.items()
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def rate(
    question: AnyQuestion, answers: pl.DataFrame, scores: dict[str, float], better: str | None = "higher"
) -> dict[str, dict[str, Any]]:
    rows = powered_rows(question, answers, images(list(scores)), metric(scores, better), level=0.95)
    return {str(row["generator"]): dict(row) for row in rows}


def simulated(
    rng: np.random.Generator, agreement: float, *, raters: int = 30, each: int = 4
) -> tuple[pl.DataFrame, dict[str, float]]:
    """Ratings of three generators: every image judged once, and 200 more images each that nobody judged."""
    answers: list[Answer] = []
    scores: dict[str, float] = {}
    for generator in "abc":
        for place in range(raters * each + 200):
            appeal = rng.normal()
            scores[f"{generator}/{place}"] = agreement * appeal + np.sqrt(1 - agreement**2) * rng.normal()
            if place < raters * each:
                value = 3 + appeal + rng.normal(0, 0.3)
                answers.append((f"r{place % raters:02d}", f"{generator}/{place}", None, float(value)))
    return judgements(answers), scores


def test_by_hand() -> None:
    # five raters, each judges an image of a and one of b; the score is the rating, so scores need no rescaling.
    # a: Y = f = 1…5 and two images more with scores 3 and 5; b: Y = f = 1…5 and two more with scores 2 and 4.
    # λ of a is from b: C = V_f = 5/4 · 10/25 = ½; V_f̃ = var(2, 4)/2 = 1; λ = ½/(½ + 1) = 1/3.
    # θ = 3 + (4 − 3)/3 = 3.333; V = (2/3)² · ½ + (1/3)² · var(3, 5)/2 = 2/9 + 1/9 = 1/3.
    # t with 4 degrees of freedom is 2.7764: ± 1.6030; raters alone 3 ± 2.7764 √½ = ± 1.9632; 1.6030/1.9632 = .8165
    answers: list[Answer] = [(f"r{n}", f"{g}/{n}", None, float(n)) for n in range(1, 6) for g in "ab"]
    scores = {image: value for _, image, _, value in answers} | {"a/6": 3.0, "a/7": 5.0, "b/6": 2.0, "b/7": 4.0}
    row = rate(RATING, judgements(answers), scores)["a"]
    assert row["tuning"] == pytest.approx(1 / 3)
    assert row["rating"] == pytest.approx(10 / 3)
    assert (row["high"] - row["low"]) / 2 == pytest.approx(1.6030, abs=1e-4)
    assert (row["people_rating"], row["people_high"]) == pytest.approx((3, 4.9632), abs=1e-4)
    assert row["width_ratio"] == pytest.approx(0.8165, abs=1e-4)
    assert [row[name] for name in ("answers", "raters", "judged", "unjudged")] == [5, 5, 5, 2]


def test_votes_by_hand() -> None:
    # prompts 6 to 8 are judged by nobody: there a leads b by 2 and c by 4. Raters met b twice as often as c,
    # so the difference of such a prompt is (2 · 2 + 1 · 4)/3 = 8/3, times the factor that scales all scores
    answers: list[Answer] = [(f"r{n}", f"a/{n}", f"{'c' if n in (0, 3) else 'b'}/{n}", 1.0) for n in range(5)]
    answers.append(("r5", "b/5", "a/5", 1.0))
    scores = {f"{g}/{n}": float(n * (g == "a")) for g in "abc" for n in range(6)}
    scores |= {f"{g}/{n}": 4.0 - 2 * "abc".index(g) for g in "abc" for n in range(6, 9)}
    table = images(list(scores))
    values = next(iter(generator_values(PAIR, judgements(answers, "vote"), table)))
    frame = pl.DataFrame({"image": list(scores), "score": list(scores.values())})
    samples = {part.generator: part for part in scored_values(values, frame, table, directed=True)}
    sample = samples["a"].sample
    factor = sample.predictions[1]  # the score difference of rater 1's pair is 1
    np.testing.assert_allclose(sample.unlabelled, [8 / 3 * factor] * 3)
    np.testing.assert_array_equal(sample.labels, [1, 1, 1, 1, 1, 0])
    assert samples["a"].units == 6  # prompts


@pytest.mark.parametrize("seed", range(3))
def test_against_ppi_python(seed: int) -> None:
    answers, scores = simulated(np.random.default_rng(seed), 0.7, raters=150, each=1)
    row = rate(RATING, answers, scores)["b"]
    values = next(iter(generator_values(RATING, answers, images(list(scores)))))
    frame = pl.DataFrame({"image": list(scores), "score": list(scores.values())})
    samples = scored_values(values, frame, images(list(scores)), directed=True)
    sample = next(part.sample for part in samples if part.generator == "b")
    parts, lam = (sample.labels, sample.predictions, sample.unlabelled), row["tuning"]
    assert row["rating"] == pytest.approx(ppi_mean_pointestimate(*parts, lam=lam)[0], rel=1e-9)
    low, high = (float(end[0]) for end in ppi_mean_ci(*parts, alpha=0.05, lam=lam))
    assert row["low"] == pytest.approx(low, abs=0.01)  # ours: t quantiles, and variances that divide by n − 1
    assert row["high"] == pytest.approx(high, abs=0.01)
    assert row["width_ratio"] < 1


def test_a_good_score_narrows_and_a_useless_one_hardly_widens() -> None:
    rng = np.random.default_rng(7)
    useless = [rate(RATING, *simulated(rng, 0.0))[g]["width_ratio"] for _ in range(8) for g in "abc"]
    good = [rate(RATING, *simulated(rng, 0.9))[g]["width_ratio"] for g in "abc"]
    assert np.median(useless) <= 1.01
    assert np.quantile(useless, 0.9) <= 1.03
    assert max(good) < 0.85


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 1000), st.floats(0.01, 100), st.floats(-50, 50))
def test_the_scale_of_a_score_is_of_no_account(seed: int, factor: float, shift: float) -> None:
    answers, scores = simulated(np.random.default_rng(seed), 0.6, raters=8, each=2)
    plain = rate(RATING, answers, scores)
    for better, sign in (("higher", 1), ("lower", -1), (None, -1), (None, 1)):
        other = rate(RATING, answers, {image: sign * factor * s + shift for image, s in scores.items()}, better)
        for generator, row in plain.items():
            assert other[generator]["low"] == pytest.approx(row["low"], abs=1e-6)


def test_scores_that_do_not_vary_change_nothing() -> None:
    answers, scores = simulated(np.random.default_rng(1), 0.5, raters=8, each=2)
    row = rate(RATING, answers, dict.fromkeys(scores, 1.0))["a"]
    assert (row["tuning"], row["width_ratio"]) == (0, 1)
    assert (row["rating"], row["low"]) == (row["people_rating"], row["people_low"])


def test_a_score_that_is_wrong_on_purpose_is_left_out() -> None:
    answers, scores = simulated(np.random.default_rng(2), 0.8)
    assert {row["tuning"] for row in rate(RATING, answers, scores, "lower").values()} == {0}


def test_fewer_than_five_raters_have_no_interval() -> None:
    answers, scores = simulated(np.random.default_rng(3), 0.8, raters=4)
    row = rate(RATING, answers, scores)["a"]
    assert row["rating"] != row["people_rating"]
    assert {row[name] for name in ("low", "high", "people_low", "people_high", "width_ratio", "se")} == {None}


def test_where_everything_was_judged_there_is_nothing_to_power() -> None:
    answers, scores = simulated(np.random.default_rng(4), 0.8, raters=6)
    judged = set(answers["image"])
    assert rate(RATING, answers, {image: score for image, score in scores.items() if image in judged}) == {}


def test_proportions_stay_within_their_bounds() -> None:
    rng = np.random.default_rng(5)
    answers: list[Answer] = [
        (f"r{n % 6}", f"a/{n}", f"b/{n}", 1.0 if rng.random() < 0.95 else -1.0) for n in range(30)
    ]
    scores = {f"{g}/{n}": float(rng.normal()) for g in "ab" for n in range(60)}
    rows = rate(PAIR, judgements(answers, "vote"), scores)
    assert all(0 <= row["low"] <= row["rating"] <= row["high"] <= 1 for row in rows.values())
    assert rows["a"]["rating"] > rows["b"]["rating"]
