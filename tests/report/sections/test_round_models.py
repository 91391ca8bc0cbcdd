"""The section of rounds: one row per model with both errors, and a sentence where models can be compared."""

import polars as pl

from beholder.report.sections.round_models import build_round_models
from beholder.tables.catalogue import TABLES

FIRST = {"model": "small", "pairs": 0, "claims": 0, "verified": 0, "refuted": 0, "credit": 0.0}
TESTED = {"attackers": 3, "attacks": 12, "prompts": 1}
SECOND = {"model": "small-round-2", "parent": "small-round-1", "rounds": "1-2", "pairs": 1234, "claims": 50}


def table(**changes: float) -> pl.DataFrame:
    first = FIRST | TESTED | errors(0.75, 0.25)
    second = SECOND | {"verified": 30, "refuted": 10, "credit": 12.34} | TESTED | errors(0.5, 0.26)
    return TABLES["rounds"].frame([first, second | changes])


def errors(attack: float, static: float) -> dict[str, float]:
    return {"attack_error": attack, "attack_low": attack - 0.1, "attack_high": attack + 0.1} | {
        "static_error": static, "static_low": static - 0.05, "static_high": static + 0.05
    }  # fmt: skip


CHANGE = {"reduction": 1 / 3, "reduction_low": 0.1, "reduction_high": 0.5}
STATIC = {"static_change": 0.01, "static_change_low": -0.02, "static_change_high": 0.04}


def test_a_row_per_model() -> None:
    part = build_round_models(table(**CHANGE, **STATIC))
    assert part is not None
    first, second = part.models
    assert (first.parent, first.rounds, first.claims, first.precision, first.credit) == ("–",) * 5
    assert first.attack_error == "75.0 % (65.0 to 85.0)"
    assert (second.parent, second.rounds, second.pairs) == ("small-round-1", "1-2", 1234)
    assert (second.claims, second.precision, second.credit) == ("50 / 30", "75 %", "12.3")
    assert second.static_error == "26.0 % (21.0 to 31.0)"
    assert part.tested_on.startswith("12 verified attacks of 3 attackers")
    assert "1 held-out prompt of" in part.tested_on


def test_both_changes_are_in_one_sentence() -> None:
    part = build_round_models(table(**CHANGE, **STATIC))
    assert part is not None
    assert part.findings == (
        "small-round-2 errs less often on held-out attacks than the first model: 33 % fewer (10 to 50), at +1.0 "
        "points (−2.0 to +4.0) on the static test set.",
    )
    doubtful = build_round_models(table(**CHANGE | {"reduction_low": -0.1}, **STATIC))
    assert doubtful is not None
    assert "is not significantly better on attacks than the first model" in doubtful.findings[0]


def test_what_cannot_be_compared_has_no_sentence_and_no_table_no_section() -> None:
    part = build_round_models(table())
    assert part is not None
    assert part.findings == ()
    assert build_round_models(TABLES["rounds"].empty()) is None
