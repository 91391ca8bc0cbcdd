"""Agreement before and after screening, against the krippendorff package."""

import krippendorff
import numpy as np
import polars as pl
import pytest

from beholder.consolidate.agreement import agreement_rows
from beholder.consolidate.coding import Coded
from beholder.stats.agreement.krippendorff import Scale
from beholder.study.kinds.realism import RealismQuestion


def coded(table: np.ndarray, scale: Scale) -> Coded:
    """Answers from (raters, items), nan where there is none."""
    rows = [
        {"rater": f"p{r}", "item": f"i{i}", "code": float(table[r, i])}
        for r in range(table.shape[0])
        for i in range(table.shape[1])
        if not np.isnan(table[r, i])
    ]
    return Coded(
        "x", scale, pl.DataFrame(rows, schema={"rater": pl.String, "item": pl.String, "code": pl.Float64})
    )


def rows(table: np.ndarray, scale: Scale, used: set[str]) -> list[dict[str, object]]:
    found = agreement_rows(RealismQuestion(name="q"), coded(table, scale), used, 0.95, np.random.default_rng(0))
    return [row for row in found if str(row["statistic"]).startswith("krippendorff")]


@pytest.mark.parametrize("scale", ["nominal", "ordinal"])
def test_as_the_krippendorff_package(scale: Scale) -> None:
    rng = np.random.default_rng(3)
    table = np.clip(np.round(rng.integers(1, 6, 40) + rng.normal(0, 0.8, (7, 40))), 1, 5)
    table[rng.random(table.shape) < 0.3] = np.nan
    everyone, used = rows(table, scale, {f"p{r}" for r in range(5)})
    assert everyone["value"] == pytest.approx(krippendorff.alpha(table, level_of_measurement=scale))
    assert used["value"] == pytest.approx(krippendorff.alpha(table[:5], level_of_measurement=scale))
    for row, people in ((everyone, "all"), (used, "used")):
        assert row["statistic"] == f"krippendorff-alpha-{scale}"
        assert row["people"] == people
        assert row["low"] < row["value"] < row["high"]  # type: ignore[operator]
    assert (everyone["raters"], used["raters"]) == (7, 5)


def test_hand_worked() -> None:
    # Two people, two items: 0 0 and 0 1. Coincidences: (0,0) 2, (0,1) 1, (1,0) 1; n₀ = 3, n₁ = 1, n = 4.
    # Dₒ = 2/4, Dₑ = 2·3·1/(4·3) = ½; α = 1 − 1 = 0.
    everyone, _ = rows(np.asarray([[0, 0], [0, 1]], dtype=float), "nominal", {"p0"})
    assert everyone["value"] == pytest.approx(0)
    assert (everyone["answers"], everyone["items"], everyone["raters"]) == (4, 2, 2)


def test_nobody_used_leaves_it_empty() -> None:
    everyone, used = rows(np.asarray([[0, 1], [0, 1]], dtype=float), "nominal", set())
    assert everyone["value"] == 1
    assert "value" not in used
    assert (used["answers"], used["items"], used["raters"]) == (0, 0, 0)


@pytest.mark.parametrize(
    "table",
    [
        [[0.0, 1.0, 1.0]],  # one person
        [[0.0, np.nan], [np.nan, 1.0]],  # no item with two answers
        [[1.0, 1.0], [1.0, 1.0]],  # everyone says the same
    ],
)
def test_not_defined_is_empty_and_no_error(table: list[list[float]]) -> None:
    everyone, _ = rows(np.asarray(table), "nominal", {"p0"})
    assert everyone.get("value") is None
    assert everyone["answers"] == int(np.isfinite(table).sum())
    assert everyone["items"] == int((np.isfinite(table).sum(axis=0) >= 2).sum())
