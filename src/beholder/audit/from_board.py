"""Contamination, fragility, drift and saturation: what the board checked of itself, as audits."""

from collections.abc import Iterator

import polars as pl

from beholder.audit.finding import Finding, Row, nothing
from beholder.audit.material import Material
from beholder.tables.schemas.audit import CAUTION, CLEAR, PROBLEM, UNDECIDED

FEW = 3
"""A separation that this many prompts or raters carry is fragile."""

NO_BOARD = "It needs a board: beholder board."


def audit_contamination(material: Material) -> Iterator[Finding]:
    """Yield whether entries lead more on public prompts than on held-out ones, and which prompt sets overlap."""
    if not _has_board(material):
        yield nothing(NO_BOARD)
        return
    marks = _marks(material, "overfitting")
    for row in material.table("prompt_overlaps").iter_rows(named=True):
        words = f"{row['first']} and {row['second']} share {row['shared']:,} prompts, which count twice in both."
        yield Finding(words, CAUTION, slice=f"{row['first']} and {row['second']}", figure=float(row["shared"]))
    if marks.is_empty():
        yield nothing(
            "Whether entries were tuned on the public prompts needs a held-out part: held_out of curate.toml."
        )
    for row in marks.iter_rows(named=True):
        yield _marked(row)


def audit_fragility(material: Material) -> Iterator[Finding]:
    """Yield for every separation how few prompts, or raters, carry it."""
    pairs = material.table("board_pairs").filter((pl.col("slice") == "all") & pl.col("separated"))
    directed = pairs.filter(pl.col("measure").is_in(list(material.measures)))
    if not _has_board(material):
        yield nothing(NO_BOARD)
        return
    if directed.is_empty():
        yield Finding("No two entries are significantly different, so no separation can be fragile.", CLEAR)
    for row in directed.iter_rows(named=True):
        fewest = {unit: row[f"fragile_{unit}"] for unit in ("prompts", "raters") if row[f"fragile_{unit}"]}
        least = min(fewest.values(), default=None)
        pair = f"{row['entry']} is better than {row['other']} by {row['measure']}"
        if least is None:
            words, severity = f"{pair}: no small group of prompts or raters carries it.", CLEAR
        else:
            groups = " or ".join(f"{count} {unit if count != 1 else unit[:-1]}" for unit, count in fewest.items())
            words = f"{pair}: without {groups} it is not significant."
            severity = PROBLEM if least <= FEW else CLEAR
        yield Finding(
            words,
            severity,
            f"{row['entry']} and {row['other']}",
            row["measure"],
            figure=None if least is None else float(least),
            unit="prompts or raters",
        )


def audit_drift(material: Material) -> Iterator[Finding]:
    """Yield whether metrics rate newer entries ever higher than people do."""
    yield from _marks_as_findings(
        material, ("drift",), "It needs chronology in [board]: the entries from the oldest to the newest."
    )


def audit_saturation(material: Material) -> Iterator[Finding]:
    """Yield whether the best entries are equivalent, or at the end of the scale."""
    yield from _marks_as_findings(
        material, ("ceiling", "saturation"), "No measure with a better end has two entries with intervals."
    )


def _marks_as_findings(material: Material, checks: tuple[str, ...], lacking: str) -> Iterator[Finding]:
    if not _has_board(material):
        yield nothing(NO_BOARD)
        return
    marks = _marks(material, *checks)
    if marks.is_empty():
        yield nothing(lacking)
    for row in marks.iter_rows(named=True):
        yield _marked(row)


def _has_board(material: Material) -> bool:
    return material.store.has("board")


def _marks(material: Material, *checks: str) -> pl.DataFrame:
    return material.table("board_marks").filter(pl.col("check").is_in(checks))


def _marked(row: Row) -> Finding:
    words = str(row["words"])
    settled = row["check"] == "ceiling" or (row["check"] == "saturation" and row["p"] is None)  # leads alone
    return Finding(
        words[:1].upper() + words[1:] + "." * (not words.endswith(".")),
        PROBLEM if row["raised"] else CLEAR if settled else UNDECIDED,
        str(row["entry"]),
        str(row["measure"]),
        slice=str(row["check"]),
        figure=row["estimate"],  # type: ignore[arg-type]
        low=row["low"],  # type: ignore[arg-type]
        high=row["high"],  # type: ignore[arg-type]
        p=row["p"],  # type: ignore[arg-type]
        p_adjusted=row["p_adjusted"],  # type: ignore[arg-type]
    )
