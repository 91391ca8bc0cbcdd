"""The words on metrics, from rows of the two tables written by hand."""

import pytest

from beholder.report.text.metric_verdict import Verdict, verdicts
from beholder.tables.catalogue import TABLES

Row = dict[str, object]

ASKED: Row = {"question": "realism", "aspect": "realism", "method": "error-rate", "slice": "all"}


def row(
    metric: str, better: str | None, value: float | None, ends: tuple[float, float] | None, **more: object
) -> Row:
    low, high = ends or (None, None)
    found = ASKED | {"level": "generator", "statistic": "spearman", "metric": metric, "better": better}
    return found | {"value": value, "low": low, "high": high, "items": 9, "ceiling": 0.9} | more


def apart(metric: str, other: str, *, separated: bool) -> Row:
    found = ASKED | {"level": "generator", "statistic": "spearman", "metric": metric, "other": other}
    return found | {"difference": 0.1, "items": 9, "separated": separated}


def judged(rows: list[Row], pairs: list[Row] | None = None) -> Verdict:
    separations = TABLES["metric_separations"].frame(pairs) if pairs else TABLES["metric_separations"].empty()
    (found,) = verdicts(TABLES["correlations"].frame(rows), separations)
    return found


ROWS = [
    row("fd", "lower", -0.9, (-0.98, -0.5)),
    row("coverage", "higher", 0.8, (0.2, 0.95)),
    row("density", "higher", -0.7, (-0.95, -0.1)),
    row("hue", None, -0.75, (-0.95, -0.2)),
    row("precision", "higher", 0.3, (-0.4, 0.8)),
]


def test_what_is_said() -> None:
    found = judged(ROWS, [apart("fd", "coverage", separated=False)])
    assert found.sentences == (
        "Trust fd: ρ = −0.90 [−0.98, −0.50] over 9 generators.",
        "Not told apart from it: coverage: ρ = +0.80 [+0.20, +0.95].",
        "Goes with people's ratings, though no value of it is better as such: hue: ρ = −0.75 [−0.95, −0.20].",
        "Cannot be trusted here: precision: ρ = +0.30 [−0.40, +0.80].",
        "Runs against people: density: ρ = −0.70 [−0.95, −0.10].",
    )
    assert (found.items, found.ceiling) == (9, 0.9)


def test_one_that_is_told_apart_agrees_less() -> None:
    found = judged(ROWS, [apart("fd", "coverage", separated=True)])
    assert found.sentences[1] == "Agrees with people, but less: coverage: ρ = +0.80 [+0.20, +0.95]."
    assert found.not_told_apart == ("fd",)


def test_metrics_are_turned_so_that_agreeing_is_above_0() -> None:
    found = judged(ROWS).metrics
    assert [(one.name, one.standing, one.rho, one.low, one.high) for one in found] == [
        ("fd", "trusted", 0.9, 0.5, 0.98),
        ("coverage", "trusted", 0.8, 0.2, 0.95),
        ("hue", "alongside", 0.75, 0.2, 0.95),
        ("precision", "unknown", 0.3, -0.4, 0.8),
        ("density", "against", -0.7, -0.95, -0.1),
    ]


@pytest.mark.parametrize(("items", "trusted"), [(4, ()), (5, ("fd",))])
def test_a_perfect_order_counts_where_it_is_no_chance(items: int, trusted: tuple[str, ...]) -> None:
    """One metric: 2/4! = .083 may be chance, 2/5! = .017 is not."""
    found = judged([row("fd", "lower", -1.0, None, items=items)])
    assert found.trusted == trusted
    assert found.metrics[0].low is None  # there is no interval to draw
    if not trusted:
        assert (
            found.sentences[1] == "Perfect, or perfectly reversed, which with so few generators may be chance: fd."
        )


def test_a_metric_that_is_the_same_for_all() -> None:
    found = judged([row("words", "higher", None, None)])
    assert found.sentences[1] == "Cannot be trusted here: words (the same for all)."
    assert found.metrics[0].rho is None


def test_encoders_tell_metrics_apart_and_slices_are_left_aside() -> None:
    rows = [
        row("fd", "lower", -0.9, (-0.98, -0.5), encoder="dinov2@0123"),
        row("fd", "lower", 0.0, None, slice="photo"),
    ]
    assert judged(rows).trusted == ("fd (dinov2)",)
    assert verdicts(TABLES["correlations"].empty(), TABLES["metric_separations"].empty()) == []
