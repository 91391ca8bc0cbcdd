"""The part of the page on metrics: which rows it takes, and what is written."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.report.conftest import RECORD, MakeBoard

from beholder.report.charts.metrics import metrics_chart
from beholder.report.stage import PAGE, STILLS, run
from beholder.report.tables.metrics import (
    Bounds,
    MetricsPart,
    build_metrics_parts,
    format_correlation,
    format_estimate,
)
from beholder.tables.catalogue import TABLES
from beholder.tables.store import Store

Row = dict[str, object]
MakeStudy = Callable[..., Path]

BOARD: Row = {"question": "realism", "aspect": "realism", "slice": "all"}
RATED = BOARD | {
    "method": "error-rate",
    "level": "generator",
    "statistic": "spearman",
    "items": 9,
    "ceiling": 0.95,
}
LABELLED = BOARD | {"method": "share", "level": "image", "items": 400}


def correlation(common: Row, metric: str, value: float, low: float, high: float, **more: object) -> Row:
    return common | {"metric": metric, "value": value, "low": low, "high": high} | more


ROWS = [
    correlation(RATED, "frechet", -0.9, -0.98, -0.5, better="lower", encoder="dinov2@01", reference="real"),
    correlation(RATED, "sharpness", 0.2, -0.5, 0.8),
    correlation(RATED | {"method": "fake-error-rate"}, "sharpness", 0.2, -0.5, 0.8),
    *(
        correlation(LABELLED, metric, value, value - 0.1, value + 0.1, statistic=statistic, floor=0.7, ceiling=0.9)
        for metric, value in (("contrast", 0.1), ("sharpness", -0.4))
        for statistic in ("spearman", "kendall")
    ),
    correlation(LABELLED, "sharpness", -0.2, -0.3, -0.1, statistic="spearman-within-generators", floor=0.0),
    correlation(LABELLED, "sharpness", 0.4, 0.35, 0.45, statistic="pair-accuracy-micro", floor=0.8, items=900),
    correlation(LABELLED | {"slice": "photo"}, "sharpness", 0.0, -0.1, 0.1, statistic="spearman"),
]


@pytest.fixture
def part(make_board: MakeBoard) -> MetricsPart:
    board = make_board({"alpha": 0.4, "beta": 0.3})
    correlations, none = TABLES["correlations"].frame(ROWS), TABLES["metric_separations"].empty()
    (only,) = build_metrics_parts([board], correlations, none)
    return only


def test_the_headline_rating_alone(part: MetricsPart) -> None:
    assert (part.title, part.verdict.method, part.verdict.items) == ("realism", "error-rate", 9)
    assert part.verdict.trusted == ("frechet (dinov2)",)


def test_scores_of_images_the_strongest_first(part: MetricsPart) -> None:
    (images,) = part.images
    assert (images.items, images.unit) == (400, "images")
    assert [metric.name for metric in images.metrics] == ["sharpness", "contrast"]
    assert images.metrics[0].within == (-0.2, -0.3, -0.1)
    assert images.metrics[1].within == (None, None, None)
    assert (images.overall, images.pairs) == (Bounds(0.7, 0.9), Bounds(0.8, None))


def test_the_chart(part: MetricsPart) -> None:
    chart = metrics_chart(part, "m")
    assert chart is not None
    rows = chart.spec["data"]["values"]
    assert [(row["metric"], row["rho"], row["standing"]) for row in rows] == [
        ("frechet (dinov2)", 0.9, "trusted"),
        ("sharpness", 0.2, "unknown"),
    ]
    assert chart.alt == (
        "Agreement of metrics with raters: frechet (dinov2) +.90, agrees with raters; "
        "sharpness +.20, not enough evidence."
    )
    assert "<svg" in chart.svg()


def test_numbers_as_they_are_written() -> None:
    assert [format_correlation(value) for value in (0.521, -0.08, 1.0, 0.001, None)] == [
        "+.52",
        "−.08",
        "+1.00",
        ".00",
        "–",
    ]
    assert format_estimate((0.5, 0.4, 0.6), signed=False) == ".50 (.40 to .60)"
    assert format_estimate((0.5, None, None)) == "+.50"


def test_on_the_page_only_where_something_was_measured(make_study: MakeStudy) -> None:
    folder = make_study(["alpha", "beta"], protocols=["hype-infinity"])
    run(folder)
    assert 'id="metrics"' not in (folder / PAGE).read_text(encoding="utf-8")
    tables = {"correlations": TABLES["correlations"].frame(ROWS)}
    Store(folder).write(tables | {"metric_separations": TABLES["metric_separations"].empty()}, RECORD)
    assert not run(folder).skipped
    html = (folder / PAGE).read_text(encoding="utf-8")
    assert "Trust frechet (dinov2): ρ = −0.90 [−0.98, −0.50] over 9 generators." in html
    assert '<td class="num">−.40 (−.50 to −.30)</td><td class="num">−.20 (−.30 to −.10)</td>' in html
    assert "generator-mean baseline" in html
    assert (folder / STILLS / "realism-metrics.svg").is_file()
