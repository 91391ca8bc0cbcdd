"""How much raters disagree about an image, by hand, and whatever the number of parts."""

import numpy as np
import polars as pl
import pytest

from beholder.report.tables.disagreement import disagreements

SHAPE: dict[str, pl.DataType | type[pl.DataType]] = {
    "question": pl.String,
    "aspect": pl.String,
    "value_kind": pl.String,
    "image": pl.String,
}
SHAPE |= {"other": pl.String, "value": pl.Float64, "used": pl.Boolean}


def judgements(kind: str, *rows: tuple[str, str | None, float]) -> pl.DataFrame:
    return pl.DataFrame([(kind, "a", kind, *row, True) for row in rows], schema=SHAPE, orient="row")


def of(frame: pl.DataFrame, parts: int = 1) -> dict[str, float]:
    scales = {(question, "a"): (1.0, 5.0) for question in frame["question"].unique()}
    return dict(disagreements(frame.lazy(), scales, parts=parts).iter_rows())


def test_by_hand() -> None:
    # ratings 1, 2, 3 of 1 … 5: standard deviation √(2/3) = .8165, of at most 2: .408
    assert of(judgements("rating", ("x", None, 1), ("x", None, 2), ("x", None, 3))) == {"x": 0.408}
    # categories 0, 0, 2: one of three is not the commonest
    assert of(judgements("category", ("x", None, 0), ("x", None, 0), ("x", None, 2))) == {"x": 0.333}
    # ranks 1, 1, 4, 4: evenly divided between the ends that there are; 2, 2: agreed
    assert of(judgements("rank", *[("x", None, v) for v in (1, 1, 4, 4)], ("y", None, 2), ("y", None, 2))) == {
        "x": 1.0,
        "y": 0.0,
    }


def test_pairs_are_compared_with_themselves_only() -> None:
    # x against y: a win and a loss (1, two votes); x against z: both win (0, two votes); against w only once
    votes = judgements("vote", ("x", "y", 1), ("y", "x", 1), ("x", "z", 1), ("x", "z", 1), ("x", "w", -1))
    assert of(votes) == {"x": 0.5, "y": 1.0, "z": 0.0}


def test_single_and_unused_answers_do_not_count() -> None:
    frame = judgements("rating", ("x", None, 1), ("y", None, 1), ("y", None, 5))
    assert of(frame) == {"y": 1.0}
    assert of(frame.with_columns(used=pl.lit(value=False))) == {}


@pytest.mark.parametrize("parts", [2, 7])
def test_parts_change_nothing(parts: int) -> None:
    rng = np.random.default_rng(5)
    names = [f"i{n}" for n in range(40)]
    ratings = [(names[n], None, float(rng.integers(1, 6))) for n in rng.integers(0, 40, 300)]
    pairs = [(names[a], names[(a + b) % 40], float(rng.integers(-1, 2))) for a, b in rng.integers(1, 4, (300, 2))]
    frame = pl.concat([judgements("rating", *ratings), judgements("vote", *pairs)])
    assert of(frame, parts) == of(frame)
