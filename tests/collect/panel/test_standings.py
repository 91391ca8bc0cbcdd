"""Agreement by hand: regardless of sides, within a point on a scale, and with an interval over trials."""

import math

import polars as pl
import pytest

from beholder.collect.panel.standings import EARNED, LEAST, agreement_of, proportion


def answers(rows: list[tuple[str, list[str], str | None, float | None]]) -> pl.DataFrame:
    """Answers of raters to trials with images: (rater, images, choice, value)."""
    return pl.DataFrame(
        [
            {"question": "q", "aspect": "a", "role": "test", "rater": rater, "images": images, "choice": choice}
            | {"value": value, "ranking": None}
            for rater, images, choice, value in rows
        ],
        schema_overrides={"choice": pl.String, "value": pl.Float64, "ranking": pl.List(pl.Int64)},
    )


def test_the_chosen_image_counts_and_not_its_side() -> None:
    rows: list[tuple[str, list[str], str | None, float | None]] = []
    for number in range(LEAST):
        rows.append(("ada", [f"x{number}", f"y{number}"], "left", None))
        rows.append(("bo", [f"y{number}", f"x{number}"], "right" if number < 5 else "left", None))
    agreement = agreement_of(answers(rows))
    # they chose the same image in 5 of 10 trials; the standard deviation of five 0 and five 1 is √(10/9)/2
    reach = 1.959963984540054 * math.sqrt(10 / 9) / 2 / math.sqrt(10)
    assert agreement["ada"]["value"] == agreement["bo"]["value"] == 0.5
    assert agreement["ada"]["low"] == pytest.approx(0.5 - reach)
    assert agreement["ada"]["high"] == pytest.approx(0.5 + reach)
    assert agreement["ada"]["trials"] == LEAST


def test_ratings_agree_within_a_point_and_few_trials_say_nothing() -> None:
    rows: list[tuple[str, list[str], str | None, float | None]] = []
    for number in range(LEAST):
        rows += [("ada", [f"x{number}"], None, 3.0), ("bo", [f"x{number}"], None, 4.0)]
        rows.append(("cy", [f"x{number}"], None, 5.0))
    agreement = agreement_of(answers(rows))
    assert {name: row["value"] for name, row in agreement.items()} == {"ada": 0.5, "bo": 1.0, "cy": 0.5}
    assert agreement_of(answers(rows[:-3])) == {}


def test_a_skill_takes_more_than_luck() -> None:
    assert proportion(4, 4)["low"] < EARNED < proportion(19, 20)["low"]
