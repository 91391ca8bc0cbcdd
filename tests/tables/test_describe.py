"""The page on tables is the catalogue in words, and it is up to date."""

from pathlib import Path

import pytest

from beholder.tables.catalogue import TABLES
from beholder.tables.describe import markdown
from beholder.tables.schema import Table
from beholder.tables.stages import STAGES

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tables.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == markdown(), "run: make pages"


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_column_has_a_row(table: Table) -> None:
    _, _, after = markdown().partition(f"## {table.name}\n")
    section, _, _ = after.partition("\n## ")
    assert f"Written by `{table.stage}`. Key: `{' + '.join(table.key)}`." in section
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [column.name for column in table.columns]
    assert all(row.count("|") == 5 for row in rows)


@pytest.mark.parametrize(
    "row",
    [
        "| `people` | text | `all`, `used` | Whose answers: `all`, or `used` (after screening). |",
        "| `width` | integer | ≥ 1 | Width in pixels. |",
        "| `propensity` | number | 0 to 1 | Probability with which the item was drawn for the slot. |",
        "| `prompt` | text | may be empty | The prompt it was made for, where there is one. |",
        "| `ended` | moment (UTC) | may be empty | When it ended, if it has. |",
        "| `x` | number | may be empty; 0 to 1 | Of a point: fraction of the image width, from the left. |",
    ],
)
def test_rules_in_words(row: str) -> None:
    assert row in markdown().splitlines()


def test_references_in_words() -> None:
    assert "References: `trial` → `trials.trial`, `session + rater` → `sessions.session + rater`." in markdown()


def test_every_stage_has_a_row_with_what_it_reads_and_writes() -> None:
    head, _, _ = markdown().partition("\n## ")
    rows = [line for line in head.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == list(STAGES)
    assert (
        "| `rank` | rates the generators by the raters' judgements | `images`, `trials`, `totals`, `published`,"
        in head
    )
    assert "| every table |  |" in rows[-1]
