import polars as pl
import pytest

from beholder.report.tables.accuracy import Accuracy, accuracies
from beholder.tables.catalogue import TABLES


def test_accuracy_from_answers_and_from_totals() -> None:
    judged = pl.DataFrame(
        {"question": ["q", "q", "q"], "rater": ["p", "p", "r"], "right": [True, False, True]},
    )
    rows: list[dict[str, object]] = [
        {"question": "old", "rater": "s", "generator": "g", "real": real, "answers": 100, "wrong": wrong}
        | {"seconds": seconds}
        for real, wrong, seconds in ((False, 40, 90.0), (True, 10, 110.0))
    ]
    accuracy_of = accuracies(judged.lazy(), TABLES["totals"].frame(rows))
    assert accuracy_of == {
        ("old", "s"): Accuracy(150, 200, 1.0),
        ("q", "p"): Accuracy(1, 2),
        ("q", "r"): Accuracy(1, 1),
    }
    assert accuracy_of["old", "s"].proportion == pytest.approx(0.75)
