"""The words on metrics, from rows of the two tables written by hand."""

import pytest

from beholder.report.text.metric_verdict import Verdict, verdicts
from beholder.tables.catalogue import TABLES

Row = dict[str, object]

BOARD: Row = {"question": "realism", "aspect": "realism", "method": "error-rate", "slice": "all"}


def row(
    metric: str, better: str | None, value: float | None, ends: tuple[float, float] | None, **more: object
) -> Row:
    low, high = ends or (None, None)
    common = BOARD | {"level": "generator", "statistic": "spearman", "metric": metric, "better": better}
    return common | {"value": value, "low": low, "high": high, "items": 9, "ceiling": 0.9} | more


def separation(metric: str, other: str, *, separated: bool) -> Row:
    common = BOARD | {"level": "generator", "statistic": "spearman", "metric": metric, "other": other}
    return common | {"difference": 0.1, "items": 9, "separated": separated}


def judged(rows: list[Row], pairs: list[Row] | None = None) -> Verdict:
    separations = TABLES["metric_separations"].frame(pairs) if pairs else TABLES["metric_separations"].empty()
    (verdict,) = verdicts(TABLES["correlations"].frame(rows), separations)
    return verdict


ROWS = [
    row("fd", "lower", -0.9, (-0.98, -0.5)),
    row("coverage", "higher", 0.8, (0.2, 0.95)),
    row("density", "higher", -0.7, (-0.95, -0.1)),
    row("hue", None, -0.75, (-0.95, -0.2)),
    row("precision", "higher", 0.3, (-0.4, 0.8)),
]


def test_what_is_said() -> None:
    verdict = judged(ROWS, [separation("fd", "coverage", separated=False)])
    assert verdict.sentences == (
        "Trust fd: ρ = −0.90 [−0.98, −0.50] over 9 generators.",
        "Not significantly different from it: coverage: ρ = +0.80 [+0.20, +0.95].",
        "Correlates with ratings, but neither direction is known to be better: hue: ρ = −0.75 [−0.95, −0.20].",
        "Not enough evidence to trust: precision: ρ = +0.30 [−0.40, +0.80].",
        "Disagrees with raters: density: ρ = −0.70 [−0.95, −0.10].",
    )
    assert (verdict.items, verdict.human_ceiling) == (9, 0.9)


def test_one_that_is_significantly_different_agrees_less() -> None:
    verdict = judged(ROWS, [separation("fd", "coverage", separated=True)])
    assert (
        verdict.sentences[1] == "Agrees with raters, but significantly less: coverage: ρ = +0.80 [+0.20, +0.95]."
    )
    assert verdict.not_separated == ("fd",)


def test_correlations_are_signed_so_that_agreement_is_above_0() -> None:
    metrics = judged(ROWS).metrics
    assert [(m.name, m.standing, m.rho, m.low, m.high) for m in metrics] == [
        ("fd", "trusted", 0.9, 0.5, 0.98),
        ("coverage", "trusted", 0.8, 0.2, 0.95),
        ("hue", "alongside", 0.75, 0.2, 0.95),
        ("precision", "unknown", 0.3, -0.4, 0.8),
        ("density", "against", -0.7, -0.95, -0.1),
    ]


@pytest.mark.parametrize(("items", "trusted"), [(4, ()), (5, ("fd",))])
def test_a_perfect_order_counts_where_it_is_no_chance(items: int, trusted: tuple[str, ...]) -> None:
    """One metric: 2/4! = .083 may be chance, 2/5! = .017 is not."""
    verdict = judged([row("fd", "lower", -1.0, None, items=items)])
    assert verdict.trusted == trusted
    assert verdict.metrics[0].low is None  # there is no interval to draw
    if not trusted:
        assert (
            verdict.sentences[1]
            == "Order perfect or perfectly reversed, which may be chance with so few generators: fd."
        )


def test_a_metric_that_is_the_same_for_all() -> None:
    verdict = judged([row("words", "higher", None, None)])
    assert verdict.sentences[1] == "Not enough evidence to trust: words (the same for all generators)."
    assert verdict.metrics[0].rho is None


def test_encoders_distinguish_metrics_and_slices_are_ignored() -> None:
    rows = [
        row("fd", "lower", -0.9, (-0.98, -0.5), encoder="dinov2@0123"),
        row("fd", "lower", 0.0, None, slice="photo"),
    ]
    assert judged(rows).trusted == ("fd (dinov2)",)
    assert verdicts(TABLES["correlations"].empty(), TABLES["metric_separations"].empty()) == []
