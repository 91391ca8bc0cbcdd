"""Every question kind on one page: each section is there, and its numbers are those of the tables."""

import re
from pathlib import Path

import polars as pl
import pytest

from beholder.report.stage import PAGE, STILLS
from beholder.tables.store import Store


@pytest.fixture(scope="module")
def html(every_kind: Path) -> str:
    return (every_kind / PAGE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def store(every_kind: Path) -> Store:
    return Store(every_kind)


def section(html: str, name: str) -> str:
    found = re.search(rf'<section class="question" id="{name}".*?</section>', html, re.DOTALL)
    assert found is not None
    return found[0]


def cells(html: str) -> list[str]:
    """The text of all table cells."""
    found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", html, re.DOTALL)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", cell)).strip() for cell in found]


def test_timed_realism_has_thresholds_and_traces(html: str, store: Store) -> None:
    part = section(html, "timed-realism")
    assert "Where people settled" in part
    traces = re.findall(r'data-chart="timed-realism-traces-\d"', part)
    thresholds = store.read("thresholds")
    assert len(traces) == thresholds["generator"].n_unique() == 5
    used = store.read("raters").filter((pl.col("question") == "timed-realism") & pl.col("used"))["rater"]
    kept = thresholds.filter(pl.col("rater").is_in(used.to_list()))
    for (generator,), blocks in kept.group_by("generator"):
        settled = f"{blocks['converged'].sum()} of {blocks.height}"
        row = re.search(
            rf'<th scope="row">{generator}</th>(.*?)</tr>', part[part.index("blocks settled") :], re.DOTALL
        )
        assert row is not None
        assert settled in row[1]
        mean = blocks.group_by("rater").agg(pl.col("modal_ms").mean())["modal_ms"].mean()
        assert isinstance(mean, float)
        assert f"<b>{mean:.0f}</b>" in row[1]


def test_five_answers_make_a_table(html: str, store: Store) -> None:
    part = section(html, "comparison")
    assert "What was said of every two" in part
    assert "≫ much better" in part
    votes = store.read("comparisons").filter(pl.col("question") == "comparison")
    shown = cells(part)
    for row in votes.to_dicts():
        assert any(cell.startswith(f"{100 * row['share']:.1f} %") for cell in shown), row


def test_rankings_become_votes_and_ratings(html: str) -> None:
    part = section(html, "ranking")
    assert "Plackett–Luce rating" in part
    assert "Interval width against the number of people" in part
    assert "What was said of every two" in part


def test_rich_feedback_shows_maps_and_words(html: str, store: Store) -> None:
    part = section(html, "feedback")
    assert "What is wrong, and where" in part
    shown = part.count('class="card" role="group" aria-label="Marks on an image of')
    assert shown == store.read("images").filter(~pl.col("real") & ~pl.col("gold"))["generator"].n_unique() == 5
    assert part.count("implausibility marked on") == part.count("misalignment marked on") == shown
    assert "How far scores of one image lie apart" in html
    steps = store.read("agreement").filter(
        (pl.col("statistic") == "max-diff-at-most-0.25")
        & (pl.col("people") == "used")
        & (pl.col("aspect") == "plausibility")
    )
    assert f"{100 * steps['value'][0]:.0f} %" in html[html.index("How far scores of one image lie apart") :]


def test_a_sweep_has_hits_and_false_alarms(html: str, store: Store) -> None:
    part = section(html, "sweep")
    shown = cells(part[part.index("Hits and false alarms") :])
    ratings = store.read("ratings").filter((pl.col("question") == "sweep") & (pl.col("slice") == "all"))
    for rating in ratings["rating"]:
        assert f"{100 * (1 - rating):.1f} %" in shown
    assert any(cell.startswith("real") and "false alarms" in cell for cell in shown)


def test_every_measure_of_agreement_is_in_the_table(html: str, store: Store) -> None:
    people = section(html, "people")
    agreement = store.read("agreement").filter(
        ~pl.col("statistic").str.starts_with("max-diff") & (pl.col("people") == "used")
    )
    assert (
        people.count('<th scope="row">Krippendorff’s α')
        == agreement.filter(pl.col("statistic").str.starts_with("krippendorff-alpha")).height
    )
    for row in agreement.filter(pl.col("value").is_not_null()).to_dicts():
        assert f"{row['value']:.2f}" in people


def test_the_page_is_of_a_reasonable_size(every_kind: Path) -> None:
    drawn = list((every_kind / STILLS).glob("*.svg"))
    assert 30 <= len(drawn) <= 60
    assert (every_kind / PAGE).stat().st_size < 3_000_000
