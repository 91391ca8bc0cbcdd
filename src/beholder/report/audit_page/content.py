"""What the page of the audits shows: a section per audit, and practitioners side by side."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from beholder.report.text.words import count, join_names, percent
from beholder.tables.schemas.audit import ABSENT, AUDIT_NAMES, CAUTION, CLEAR, PROBLEM, UNDECIDED

TITLES = {
    "slice-gap": "Slices of the prompts",
    "composition": "Composition",
    "shift": "Fresh prompts, other styles",
    "counterfactual": "Counterfactual pairs",
    "perception": "What people see",
    "filter": "Filters",
    "scorer-robustness": "What scorers do not see",
    "label-errors": "Label errors",
    "contamination": "Contamination",
    "fragility": "Fragility",
    "drift": "Drift",
    "saturation": "Saturation",
    "cost": "Cost",
    "profiles": "Practitioners",
}
"""Name of an audit -> the title of its section."""

TESTED = ("slice-gap", "composition", "shift", "counterfactual")
"""Audits whose figures are gaps that are tested together."""

ORDER = (PROBLEM, CAUTION, UNDECIDED, CLEAR, ABSENT)
"""Of the findings within a section."""

LABELS = {
    PROBLEM: "Problem",
    CAUTION: "To know",
    UNDECIDED: "Undecided",
    CLEAR: "Clear",
    ABSENT: "Not looked at",
}

SUMMARY = "summary"
"""The part of a scorer's findings that says them all in one sentence."""

MOST = 8
"""Findings of a section in words; all of them are in its table."""

WIDTH, MARGIN = 180, 6
"""Of the drawing of an interval, in pixels, and left and right of its scale."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One finding as a row of a table, with the drawing of its interval."""

    severity: str
    label: str
    subject: str
    measure: str
    slice: str
    figure: str
    interval: str
    baseline: str
    basis: str
    words: str
    low: float | None  # in pixels
    middle: float | None
    high: float | None
    zero: float | None


@dataclass(frozen=True, slots=True)
class Section:
    """One audit."""

    name: str
    title: str
    question: str
    verdict: str
    worst: str
    sentences: tuple[tuple[str, str], ...]
    """Severity and words of the findings that matter most."""
    more: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Practitioner:
    """One profile: its weights and the chance of every entry."""

    name: str
    weights: tuple[tuple[str, str, float], ...]
    """Measure, its weight in words, and in percent."""
    left_out: str
    chances: Mapping[str, float]
    utilities: Mapping[str, float]
    winner: str


def sections(audits: pl.DataFrame, questions: Mapping[str, str]) -> list[Section]:
    """Return a section for every audit that was made, in the order of the page.

    Args:
        audits: The table ``audits``.
        questions: Name of an audit -> what it asks.
    """
    names = [name for name in AUDIT_NAMES if name in set(audits["audit"])]
    return [_section(name, audits.filter(pl.col("audit") == name), questions.get(name, "")) for name in names]


def practitioners(profiles: pl.DataFrame) -> list[Practitioner]:
    """Return the profiles of the table ``audit_profiles``, in its order."""
    listed = []
    for (name,), rows in profiles.group_by("profile", maintain_order=True):
        weights: dict[str, float] = json.loads(rows["weights"][0])
        left_out: list[str] = json.loads(rows["left_out"][0])
        chances = dict(rows.select("entry", "chance_best").iter_rows())
        listed.append(
            Practitioner(
                str(name),
                tuple((measure, percent(weight), 100 * weight) for measure, weight in weights.items()),
                join_names(left_out),
                chances,
                dict(rows.select("entry", "utility").iter_rows()),
                max(chances, key=lambda entry: chances[entry]),
            )
        )
    return listed


def short_findings(parts: Sequence[Section]) -> list[str]:
    """Return the page in a few sentences."""
    problems = [section for section in parts if section.worst == PROBLEM]
    looked = [section for section in parts if section.worst != ABSENT]
    absent = [section.title for section in parts if section.worst == ABSENT]
    first = (
        f"{count(len(problems), 'audit')} of {len(looked)} found a problem: "
        f"{join_names([section.title.lower() for section in problems])}."
        if problems
        else f"None of {len(looked)} audits found a problem."
    )
    sentences = [first, *(words for section in problems[:5] for words in _main_sentences(section))]
    if absent:
        sentences.append(f"Nothing to look at for: {join_names([title.lower() for title in absent])}.")
    return sentences


def _main_sentences(section: Section) -> list[str]:
    """Return the first sentence of a section; of scorers, one for each of some."""
    most = 3 if section.name == "scorer-robustness" else 1
    return [words for _, words in section.sentences[:most]]


def _section(name: str, rows: pl.DataFrame, question: str) -> Section:
    ordered = rows.with_columns(
        rank=pl.col("severity").replace_strict(list(ORDER), list(range(len(ORDER))), return_dtype=pl.Int64)
    ).sort("rank", "number")
    counts = dict(ordered.group_by("severity").len().iter_rows())
    worst = next(severity for severity in ORDER if counts.get(severity))
    matter = ordered.filter(pl.col("severity").is_in([PROBLEM, CAUTION]) | pl.col("figure").is_null())
    if name == "scorer-robustness" and (ordered["slice"] == SUMMARY).any():
        matter = ordered.filter(pl.col("slice") == SUMMARY)
    chosen = matter if not matter.is_empty() else ordered
    sentences = tuple(chosen.select("severity", "finding").head(MOST).iter_rows())
    verdict = ", ".join(
        f"{LABELS[severity].lower()}: {counts[severity]:,}" for severity in ORDER if counts.get(severity)
    )
    if name in TESTED and not counts.get(PROBLEM) and ordered["p_adjusted"].count():
        verdict = f"None of {ordered['p_adjusted'].count():,} gaps is a significant disadvantage; {verdict}"
    return Section(
        name,
        TITLES[name],
        question,
        verdict,
        worst,
        sentences,
        chosen.height - len(sentences),
        tuple(_figures(ordered)),
    )


def _figures(rows: pl.DataFrame) -> list[Figure]:
    """Return the findings with numbers; those of one measure and unit share a scale, which has 0 on it."""
    figures = []
    scales = _scales(rows)
    for row in rows.filter(pl.col("figure").is_not_null()).iter_rows(named=True):
        least, most = scales[row["measure"], row["unit"]]
        span = (most - least) or 1.0

        def place(number: float | None, least: float = least, span: float = span) -> float | None:
            return None if number is None else round(MARGIN + (WIDTH - 2 * MARGIN) * (number - least) / span, 1)

        raters = count(row["raters"], "rater") if row["raters"] else ""
        prompts = f"{row['prompts']:,}" if row["prompts"] is not None else ""
        figures.append(
            Figure(
                row["severity"],
                LABELS[row["severity"]],
                row["subject"],
                row["measure"] or "",
                row["slice"],
                f"{row['figure']:.3g}",
                _interval(row["low"], row["high"]),
                "" if row["baseline"] is None else f"{row['baseline']:.3g}",
                ", ".join(part for part in (prompts, raters) if part),
                row["finding"],
                place(row["low"]),
                place(row["figure"]),
                place(row["high"]),
                place(0.0),
            )
        )
    return figures


def _interval(low: float | None, high: float | None) -> str:
    """Return an interval in words; of a one-sided one, its bound."""
    if low is None:
        return "" if high is None else f"at most {high:.3g}"
    return f"at least {low:.3g}" if high is None else f"{low:.3g} to {high:.3g}"


def _scales(rows: pl.DataFrame) -> dict[tuple[str | None, str | None], tuple[float, float]]:
    ends: dict[tuple[str | None, str | None], tuple[float, float]] = {}
    for row in rows.iter_rows(named=True):
        numbers = [row[name] for name in ("low", "figure", "high") if row[name] is not None]
        key = (row["measure"], row["unit"])
        least, most = ends.get(key, (0.0, 0.0))
        ends[key] = (min([least, *numbers]), max([most, *numbers]))
    return ends
