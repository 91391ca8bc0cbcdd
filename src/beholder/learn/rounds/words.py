"""The models of adversarial rounds in words: a section of the model card, and a table for the command line."""

import polars as pl

from beholder.learn.formatting import format_with_interval

HEADINGS = ("model", "parent", "rounds", "pairs", "error on held-out attacks", "error on the static test set")


def round_table(rounds: pl.DataFrame) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the headings and one row per model, each with both errors."""
    rows: list[tuple[str, ...]] = [
        (
            *(row["model"], row["parent"] or "–", row["rounds"] or "–", f"{row['pairs']:,}"),
            format_with_interval(row["attack_error"], row["attack_low"], row["attack_high"]),
            format_with_interval(row["static_error"], row["static_low"], row["static_high"]),
        )
        for row in rounds.to_dicts()
    ]
    return HEADINGS, rows


def describe_change(row: dict[str, float | None]) -> str:
    """Return how a model differs from the first one, as a sentence; empty where they cannot be compared."""
    names = ("reduction", "reduction_low", "reduction_high", "static_change", "static_change_low")
    numbers = [row[name] for name in (*names, "static_change_high")]
    less, less_low, less_high, change, change_low, change_high = (
        float("nan") if number is None else number for number in numbers
    )
    if less != less:  # nan
        return ""
    return (
        f"Against the first model, the error on held-out attacks falls by "
        f"{format_with_interval(less, less_low, less_high)} of it, and the static error changes by "
        f"{format_with_interval(change, change_low, change_high)}."
    )


def rounds_section(model: str, rounds: pl.DataFrame | None) -> list[str]:
    """Return the lines of a model card about rounds; none where the model has no part in them."""
    if rounds is None or model not in rounds["model"]:
        return []
    own = rounds.row(by_predicate=pl.col("model") == model, named=True)
    headings, rows = round_table(rounds)
    lines = [f"| {' | '.join(cells)} |" for cells in (headings, ("---",) * len(headings), *rows)]
    return [
        "## Rounds",
        "",
        f"Tested on {own['attacks']:,} verified attacks of {own['attackers']:,} attackers, of all rounds, whose "
        f"claims no model was trained on, and on the pairs of {own['prompts']:,} held-out prompts of the study.",
        "",
        *lines,
        "",
        *((describe_change(own), "") if describe_change(own) else ()),
    ]
