"""Trials as the server's database holds them."""

from typing import Any

import polars as pl

COLUMNS = ("trial", "question", "slot", "position", "block", "role", "images", "prompt", "expected", "repeats")


def trial_rows(trials: pl.DataFrame, prompts: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of trials of the table, with the text of the prompt in place of its id."""
    text_of = dict(prompts.select("prompt", "text").iter_rows())
    rows = trials.select(COLUMNS).to_dicts()
    for row in rows:
        row["prompt"] = text_of.get(row["prompt"])
    return rows
