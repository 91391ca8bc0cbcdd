"""The front page: the board, with all slices as numbers for its script."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from beholder.report.board_site.content import ALL, BoardSlice, Cell, Content, Entry
from beholder.report.board_site.drawing import chart_measures, front_chart
from beholder.report.board_site.figures import figure
from beholder.report.board_site.findings import board_facts, findings, precision_rows
from beholder.report.board_site.rendering import render
from beholder.report.text.words import count, join_names, percent

EXPLANATIONS = {
    "overfitting": "Is an entry’s lead over the others larger on the public prompts than on held-out ones? "
    "One-sided Welch test over prompts, Holm-adjusted over the entries; prompts that are harder for all raise no "
    "mark.",
    "ceiling": "Is the best entry so close to the end of the scale that better ones could not be seen? Confidence "
    "bound over prompts and raters.",
    "saturation": "Are the entries that share the first rank equivalent, so that more data would separate none of "
    "them? Two one-sided tests against a difference of 0.2 standard deviations between prompts.",
    "drift": "Does a metric rate newer entries ever higher, or lower, than people do? Slope over their order "
    "of appearance, Holm-adjusted over the metrics.",
    "best-of-n": "Were images chosen among several of the same prompt?",
    "stated": "Was a value stated by others and not measured here, or does it differ from what was measured here?",
    "rewritten": "Was the prompt as it was sent, or as the generator used it, another than that of the study?",
}
"""Name of a check -> what it asks, and how it is tested."""

SIGNIFICANT = 6
"""Digits of the numbers for the script."""


def front_page(content: Content) -> str:
    """Return the front page.

    Args:
        content: Of the site.

    Returns:
        HTML.
    """
    axes = chart_measures(content)
    utilities = _utilities(content)
    return render(
        "index.html.j2",
        content=content,
        root="",
        here="board",
        facts=board_facts(content),
        findings=findings(content),
        families=_families(content.slices),
        utilities=utilities,
        winning=_winning(content),
        heaviest=max((m.weight for m in content.measures if m.better), default=1.0) or 1.0,
        chart=front_chart(content, *axes) if axes else None,
        claims=_claims(content),
        agreement=_agreement(content),
        marks=_marks(content.tables["board_marks"]),
        powered=_powered(content),
        responses=_responses(content),
        precision=precision_rows(content),
        packed=_packed(content),
    )


def _families(slices: Sequence[BoardSlice]) -> list[tuple[str, list[int]]]:
    families: dict[str, list[int]] = {}
    for number, part in enumerate(slices):
        if part.family != ALL:
            families.setdefault(part.family, []).append(number)
    return list(families.items())


@dataclass(frozen=True, slots=True)
class UtilityRow:
    """An entry by all measures together; its bar is drawn from 50 to the left or the right, of 100."""

    entry: Entry
    utility: str
    wins: str
    pareto: str
    left: float
    width: float


def _utilities(content: Content) -> list[UtilityRow]:
    table = content.tables["utilities"].sort("utility", descending=True, nulls_last=True)
    largest = max((abs(u) for u in table["utility"].drop_nulls()), default=1.0) or 1.0
    rows = []
    for row in table.iter_rows(named=True):
        utility = row["utility"]
        width = 0.0 if utility is None else round(50 * abs(utility) / largest, 2)
        sign = "+" if utility is not None and utility >= 0 else ""
        rows.append(
            UtilityRow(
                entry=content.entry(row["entry"]),
                utility=sign + figure(utility, 2),
                wins=percent(row["wins"]),
                pareto="yes" if row["pareto"] else "surely not" if row["surely_dominated"] else "no",
                left=round(50 - width, 2) if utility is not None and utility < 0 else 50.0,
                width=width,
            )
        )
    return rows


def _winning(content: Content) -> list[str]:
    """Return with which weights each entry that can win leads most."""
    sentences = []
    for row in content.tables["utilities"].filter(pl.col("lead") > 0).iter_rows(named=True):
        weights: dict[str, float] = json.loads(row["best_weights"])
        heavy = sorted((m for m, w in weights.items() if w >= 0.005), key=lambda m: -weights[m])
        parts = join_names([f"{percent(weights[m])} on {m}" for m in heavy], most=4)
        sentences.append(f"{row['entry']} leads most with {parts}.")
    return sentences


def _claims(content: Content) -> list[dict[str, str]]:
    decimals = {measure.name: measure.decimals for measure in content.measures}
    rows = []
    for row in content.tables["claims"].iter_rows(named=True):
        places = decimals.get(row["measure"], 3)
        what = "value" if row["other"] is None else "advantage"
        parts = [] if row["estimate"] is None else [f"estimated {what} {figure(row['estimate'], places)}"]
        parts += [] if row["bound"] is None else [f"with 95 % confidence at least {figure(row['bound'], places)}"]
        parts += [] if row["p_adjusted"] is None else [f"adjusted p {_p_value(row['p_adjusted'])}"]
        rows.append({"verdict": row["verdict"], "claim": row["claim"], "words": ", ".join(parts)})
    return rows


def _p_value(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("= 0.", "= .")


def _agreement(content: Content) -> list[dict[str, str]]:
    return [
        {
            "measure": row["measure"],
            "people": row["people"],
            "kendall": figure(row["kendall"], 2),
            "pearson": figure(row["image_pearson"], 3),
            "words": row["words"],
        }
        for row in content.tables["board_agreement"].iter_rows(named=True)
    ]


@dataclass(frozen=True, slots=True)
class Check:
    """A check of the board, with the marks that it raised."""

    name: str
    explanation: str
    tests: str
    raised: list[dict[str, str]] = field(default_factory=list)


def _marks(marks: pl.DataFrame) -> list[Check]:
    checks = []
    for (name,), rows in marks.group_by("check", maintain_order=True):
        raised = rows.filter("raised")
        checks.append(
            Check(
                name=str(name),
                explanation=EXPLANATIONS.get(str(name), ""),
                tests=f"{count(rows.height, 'test')}, {count(raised.height, 'mark')} raised",
                raised=[
                    {
                        "words": row["words"],
                        "measure": "all measures" if row["measure"] == ALL else row["measure"],
                        "numbers": ""
                        if row["p_adjusted"] is None
                        else f"; adjusted p {_p_value(row['p_adjusted'])}",
                    }
                    for row in raised.iter_rows(named=True)
                ],
            )
        )
    return checks


def _powered(content: Content) -> list[dict[str, str]]:
    """Return the values from raters and scores together, by the scorer that the board prints."""
    decimals = {measure.name: measure.decimals for measure in content.measures}
    rows = []
    for row in content.tables["board_powered"].filter("chosen").iter_rows(named=True):
        places = decimals.get(row["measure"], 3)
        rows.append(
            {
                "measure": row["measure"],
                "scorer": row["scorer"],
                "entry": row["entry"],
                "people": _interval(row["people_value"], row["people_low"], row["people_high"], places),
                "powered": _interval(row["value"], row["low"], row["high"], places),
                "ratio": figure(row["width_ratio"], 2),
                "prompts": f"{row['prompts']:,} + {row['further_prompts']:,}",
            }
        )
    return rows


def _responses(content: Content) -> list[dict[str, str]]:
    """Return whether each measure sees a controlled change of a setting."""
    return [
        {
            "setting": row["setting"],
            "measure": row["measure"],
            "change": _interval(row["slope"], row["low"], row["high"], 2),
            "first": row["first_seen"] or "–",
            "words": row["words"],
        }
        for row in content.tables["dose_responses"].iter_rows(named=True)
    ]


def _interval(value: float | None, low: float | None, high: float | None, places: int) -> str:
    ends = "" if low is None or high is None else f" ({figure(low, places)} to {figure(high, places)})"
    return figure(value, places) + ends


def _packed(content: Content) -> str:
    """Return the numbers of all slices as JSON that can stand in a page."""
    front = set(content.tables["utilities"].filter("pareto")["entry"])
    board = {
        "entries": [
            {"name": e.name, "page": e.page, "colour": e.colour, "path": e.path, "front": e.name in front}
            for e in content.entries
        ],
        "measures": [
            {"name": m.name, "better": m.better, "decimals": m.decimals, "cost": m.source == "cost"}
            for m in content.measures
        ],
        "slices": [
            {
                "label": part.name if part.family == ALL else f"{part.family}: {part.name}",
                "cells": [
                    [_numbers(part.cells.get((m.name, e.name))) for e in content.entries] for m in content.measures
                ],
                "notes": [_note(part, m.name) for m in content.measures],
            }
            for part in content.slices
        ],
    }
    return json.dumps(board, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _numbers(cell: Cell | None) -> list[float | int | None] | int:
    if cell is None or cell.value is None:
        return 0
    ranks: list[float | int | None] = [cell.rank_low, cell.rank_high]
    chance = None if cell.chance_best is None else round(cell.chance_best, 3)
    return [_short(cell.value), _short(cell.low), _short(cell.high), *ranks, chance, int(cell.stated)]


def _short(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.{SIGNIFICANT}g}")


def _note(part: BoardSlice, measure: str) -> str | None:
    """Return why a measure has no numbers in a slice."""
    cells = [cell for (name, _), cell in part.cells.items() if name == measure]
    return next((cell.note for cell in cells if cell.value is None), None if cells else "not measured by slice")
