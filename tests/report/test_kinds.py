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
    match = re.search(rf'<section class="question" id="{name}".*?</section>', html, re.DOTALL)
    assert match is not None
    return match[0]


def cells(html: str) -> list[str]:
    """The text of all table cells."""
    texts = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", html, re.DOTALL)
    return [re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", cell)).strip() for cell in texts]


def test_timed_realism_has_thresholds_and_traces(html: str, store: Store) -> None:
    part = section(html, "timed-realism")
    assert "Where the staircases converged" in part
    traces = re.findall(r'data-chart="timed-realism-traces-\d"', part)
    thresholds = store.read("thresholds")
    assert len(traces) == thresholds["generator"].n_unique() == 5
    used = store.read("raters").filter((pl.col("question") == "timed-realism") & pl.col("used"))["rater"]
    used_blocks = thresholds.filter(pl.col("rater").is_in(used.to_list()))
    for (generator,), blocks in used_blocks.group_by("generator"):
        converged = f"{blocks['converged'].sum()} of {blocks.height}"
        row = re.search(
            rf'<th scope="row">{generator}</th>(.*?)</tr>', part[part.index("blocks converged") :], re.DOTALL
        )
        assert row is not None
        assert converged in row[1]
        mean = blocks.group_by("rater").agg(pl.col("modal_ms").mean())["modal_ms"].mean()
        assert isinstance(mean, float)
        assert f"<b>{mean:.0f}</b>" in row[1]


def test_five_answers_make_a_table(html: str, store: Store) -> None:
    part = section(html, "comparison")
    assert "Votes on every pair" in part
    assert "≫ much better" in part
    votes = store.read("comparisons").filter(pl.col("question") == "comparison")
    texts = cells(part)
    for row in votes.to_dicts():
        assert any(cell.startswith(f"{100 * row['share']:.1f} %") for cell in texts), row


def test_rankings_become_votes_and_ratings(html: str) -> None:
    part = section(html, "ranking")
    assert "Plackett–Luce rating" in part
    assert "Width of the confidence interval against the number of raters" in part
    assert "Votes on every pair" in part


def test_rich_feedback_shows_maps_and_words(html: str, store: Store) -> None:
    part = section(html, "feedback")
    assert "What is wrong, and where" in part
    number = part.count('class="card" role="group" aria-label="Marks on an image of')
    assert number == store.read("images").filter(~pl.col("real") & ~pl.col("gold"))["generator"].n_unique() == 5
    assert part.count("implausibility marked on") == part.count("misalignment marked on") == number
    assert "Differences between scores of one image" in html
    steps = store.read("agreement").filter(
        (pl.col("statistic") == "max-diff-at-most-0.25")
        & (pl.col("people") == "used")
        & (pl.col("aspect") == "plausibility")
    )
    assert f"{100 * steps['value'][0]:.0f} %" in html[html.index("Differences between scores of one image") :]


def test_a_sweep_has_hits_and_false_alarms(html: str, store: Store) -> None:
    part = section(html, "sweep")
    texts = cells(part[part.index("Hits and false alarms") :])
    ratings = store.read("ratings").filter((pl.col("question") == "sweep") & (pl.col("slice") == "all"))
    for rating in ratings["rating"]:
        assert f"{100 * (1 - rating):.1f} %" in texts
    assert any(cell.startswith("real") and "false alarms" in cell for cell in texts)


def test_every_measure_of_agreement_is_in_the_table(html: str, store: Store) -> None:
    raters = section(html, "raters")
    agreement = store.read("agreement").filter(
        ~pl.col("statistic").str.starts_with("max-diff") & (pl.col("people") == "used")
    )
    assert (
        raters.count('<th scope="row">Krippendorff’s α')
        == agreement.filter(pl.col("statistic").str.starts_with("krippendorff-alpha")).height
    )
    for row in agreement.filter(pl.col("value").is_not_null()).to_dicts():
        assert f"{row['value']:.2f}" in raters


def test_the_page_is_of_a_reasonable_size(every_kind: Path) -> None:
    drawn = list((every_kind / STILLS).glob("*.svg"))
    assert 30 <= len(drawn) <= 60
    assert (every_kind / PAGE).stat().st_size < 3_000_000
