"""Agreement before and after screening, against the krippendorff package."""

import krippendorff
import numpy as np
import polars as pl
import pytest

from beholder.consolidate.agreement import agreement_rows
from beholder.consolidate.items import JudgedItems
from beholder.stats.agreement.krippendorff import Scale
from beholder.study.kinds.realism import RealismQuestion


def judged(table: np.ndarray, value_kind: str) -> JudgedItems:
    """Answers from (raters, items), nan where there is none."""
    rows = [
        {"rater": f"p{r}", "item": f"i{i}", "value": float(table[r, i])}
        for r in range(table.shape[0])
        for i in range(table.shape[1])
        if not np.isnan(table[r, i])
    ]
    schema = {"rater": pl.String, "item": pl.String, "value": pl.Float64}
    return JudgedItems("x", value_kind, pl.DataFrame(rows, schema=schema))


def rows(table: np.ndarray, value_kind: str, used: set[str]) -> list[dict[str, object]]:
    rows = agreement_rows(
        RealismQuestion(name="q"), judged(table, value_kind), used, 0.95, np.random.default_rng(0)
    )
    return [row for row in rows if str(row["statistic"]).startswith("krippendorff")]


@pytest.mark.parametrize(("value_kind", "scale", "most"), [("vote", "nominal", 1), ("rating", "ordinal", 5)])
def test_as_the_krippendorff_package(value_kind: str, scale: Scale, most: int) -> None:
    rng = np.random.default_rng(3)
    table = np.clip(np.round(rng.integers(-1, most + 1, 40) + rng.normal(0, 0.8, (7, 40))), -1, most)
    table[rng.random(table.shape) < 0.3] = np.nan
    everyone, used = rows(table, value_kind, {f"p{r}" for r in range(5)})
    assert everyone["value"] == pytest.approx(krippendorff.alpha(table, level_of_measurement=scale))
    assert used["value"] == pytest.approx(krippendorff.alpha(table[:5], level_of_measurement=scale))
    for row, raters in ((everyone, "all"), (used, "used")):
        assert row["statistic"] == f"krippendorff-alpha-{scale}"
        assert row["people"] == raters
        assert row["low"] < row["value"] < row["high"]  # type: ignore[operator]
    assert (everyone["raters"], used["raters"]) == (7, 5)


def test_hand_worked() -> None:
    # Two raters, two items: 0 0 and 0 1. Coincidences: (0,0) 2, (0,1) 1, (1,0) 1; n₀ = 3, n₁ = 1, n = 4.
    # Dₒ = 2/4, Dₑ = 2·3·1/(4·3) = ½; α = 1 − 1 = 0.
    everyone, _ = rows(np.asarray([[0, 0], [0, 1]], dtype=float), "detection", {"p0"})
    assert everyone["value"] == pytest.approx(0)
    assert (everyone["answers"], everyone["items"], everyone["raters"]) == (4, 2, 2)


def test_nobody_used_leaves_it_empty() -> None:
    everyone, used = rows(np.asarray([[0, 1], [0, 1]], dtype=float), "detection", set())
    assert everyone["value"] == 1
    assert "value" not in used
    assert (used["answers"], used["items"], used["raters"]) == (0, 0, 0)


@pytest.mark.parametrize(
    "table",
    [
        [[0.0, 1.0, 1.0]],  # one rater
        [[0.0, np.nan], [np.nan, 1.0]],  # no item with two answers
        [[1.0, 1.0], [1.0, 1.0]],  # everyone says the same
    ],
)
def test_not_defined_is_empty_and_no_error(table: list[list[float]]) -> None:
    everyone, _ = rows(np.asarray(table), "detection", {"p0"})
    assert everyone.get("value") is None
    assert everyone["answers"] == int(np.isfinite(table).sum())
    assert everyone["items"] == int((np.isfinite(table).sum(axis=0) >= 2).sum())


@pytest.mark.parametrize("value_kind", ["vote", "rating"])
def test_of_very_many_answers_gwets_coefficient_has_its_value_alone(
    value_kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    table = rng.integers(-1 if value_kind == "vote" else 1, 2 if value_kind == "vote" else 6, (6, 30)).astype(
        float
    )
    table[rng.random(table.shape) < 0.4] = np.nan
    table[1:, 0] = np.nan  # an item that one rater judged

    def gwet() -> dict[str, object]:
        own, used = judged(table, value_kind), {f"p{r}" for r in range(6)}
        rows = agreement_rows(RealismQuestion(name="q"), own, used, 0.95, np.random.default_rng(0))
        return next(row for row in rows if str(row["statistic"]).startswith("gwet"))

    few = gwet()
    monkeypatch.setattr("beholder.consolidate.agreement.MOST_RESAMPLED", 0)
    many = gwet()
    assert many["value"] == pytest.approx(few["value"], rel=1e-12)
    assert (many["low"], many["high"]) == (None, None)
    assert {name: many[name] for name in ("answers", "items", "raters")} == {
        name: few[name] for name in ("answers", "items", "raters")
    }
