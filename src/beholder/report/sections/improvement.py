"""What an improvement changed, what it gained and what raters say of it: the content of its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from beholder.report.sections.improvement_gallery import GalleryCard, build_gallery
from beholder.report.sections.improvement_steps import StepCard, build_steps, short_name, step_sentences
from beholder.report.text.words import count, percent

MEASURE_NAMES = {
    "own": "by the scorer that chose",
    "held-out": "by a held-out scorer",
    "forecast": "forecast from raters’ labels",
    "ground truth": "ground truth",
    "control": "ground truth of the control: the same area elsewhere",
}
ANSWERS = ("much_better", "better", "same", "worse", "much_worse")
ANSWER_NAMES = ("much better", "better", "about the same", "worse", "much worse")
WAYS = {"up": "better", "down": "worse", "flat": "not significantly different"}
SIGNS = ("≫", ">", "≈", "<", "≪")


@dataclass(frozen=True, slots=True)
class GainLine:
    """One line of the chart of gains; places are from 0 to 1 of its width."""

    label: str
    name: str
    gain: str
    interval: str
    note: str
    low: float
    middle: float
    high: float
    kind: str


@dataclass(frozen=True, slots=True)
class GainChart:
    """The gains of one step."""

    step: str
    zero: float
    """Where no gain is."""
    lines: tuple[GainLine, ...]


@dataclass(frozen=True, slots=True)
class AnswerBar:
    """The part of one answer in the bar of a proof, in per cent."""

    sign: str
    name: str
    css: str
    count: int
    share: float


@dataclass(frozen=True, slots=True)
class ProofPart:
    """What raters say."""

    bars: tuple[AnswerBar, ...]
    total: int
    better: str
    worse: str
    rows: tuple[tuple[str, str, str, int, int], ...]
    """Method, net preference, interval, raters and prompts."""
    simulated: bool
    sentence: str
    way: str = "flat"
    """Whether the interval of the net preference lies above 0 (up), below (down), or has it inside (flat)."""


@dataclass(frozen=True, eq=False)
class ImprovementPage:
    """All that the page of an improvement shows."""

    study: str
    name: str
    methods: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    alarms: tuple[str, ...]
    watched: tuple[tuple[str, str, str, str], ...]
    """Every watch at its last step: name, number, threshold and sentence."""
    findings: tuple[str, ...]
    charts: tuple[GainChart, ...]
    proof: ProofPart | None
    gallery: tuple[tuple[str, tuple[GalleryCard, ...]], ...]
    """Method -> the first of its changes."""
    settings: tuple[tuple[str, str], ...]
    steps: tuple[StepCard, ...] = ()
    """Of a walk."""
    notes: tuple[str, ...] = ()
    """Steps that were left out, and why."""

    @property
    def with_heatmaps(self) -> bool:
        """Whether a heatmap is shown, which needs a key."""
        return any(card.heatmap for _, cards in self.gallery for card in cards)


def compose_improvement(
    folder: Path,
    study: str,
    name: str,
    tables: Mapping[str, pl.DataFrame],
    settings: Mapping[str, object],
    background: str,
    notes: Sequence[str] = (),
) -> ImprovementPage:
    """Return the content of the page of an improvement.

    Args:
        folder: The study folder, from which the paths of the tables start.
        study: Title of the study.
        name: Of the improvement.
        tables: Its changes, gains, alarms and proofs.
        settings: From which they came.
        background: What transparent images are shown on.
        notes: Why steps were left out.

    Returns:
        What the template renders.
    """
    changes, gains = tables["changes"], tables["gains"]
    proof = build_proof(tables["proofs"])
    alarms = tables["alarms"]
    last = alarms.sort("step").group_by("watch", maintain_order=True).last()
    return ImprovementPage(
        study=study,
        name=name,
        methods=tuple(changes["method"].unique(maintain_order=True)),
        facts=_facts(changes, proof),
        alarms=tuple(alarms.filter("raised").sort("step")["sentence"].unique(maintain_order=True)),
        watched=tuple(
            (
                row["watch"],
                f"{row['value']:.3f}",
                "–" if row["threshold"] is None else f"{row['threshold']:.3f}",
                row["sentence"],
            )
            for row in last.iter_rows(named=True)
        ),
        findings=tuple(write_findings(changes, gains, settings, proof)),
        steps=tuple(build_steps(changes, gains, settings, notes)),
        charts=tuple(build_charts(gains)),
        proof=proof,
        gallery=tuple(build_gallery(folder, changes, background)),
        settings=tuple(_flatten(settings)),
        notes=tuple(notes),
    )


def _facts(changes: pl.DataFrame, proof: ProofPart | None) -> tuple[tuple[str, str], ...]:
    facts = [("changes", f"{changes.height:,}"), ("kept", f"{int(changes['kept'].sum()):,}")]
    facts.append(("prompts", f"{changes['prompt'].n_unique():,}"))
    if proof is not None:
        facts.append(("answers of raters", f"{proof.total:,}"))
    return tuple(facts)


def write_findings(
    changes: pl.DataFrame, gains: pl.DataFrame, settings: Mapping[str, object], proof: ProofPart | None
) -> list[str]:
    """Return what came of it in sentences, raters first."""
    return [*([] if proof is None else [proof.sentence]), *step_sentences(changes, gains, settings)]


def build_charts(gains: pl.DataFrame) -> list[GainChart]:
    """Return a chart of gains for each step, all on one scale."""
    if gains.is_empty():
        return []
    ends = [number for column in ("low", "high", "gain") for number in gains[column].drop_nulls()]
    low, high = min(0.0, *ends), max(0.0, *ends)
    width = (high - low) or 1.0
    low, width = low - 0.04 * width, 1.08 * width

    def place(number: float | None, otherwise: float) -> float:
        return float(((otherwise if number is None else number) - low) / width)

    charts = []
    for (step,), part in gains.group_by("step", maintain_order=True):
        lines = tuple(
            GainLine(
                label=MEASURE_NAMES[row["measure"]],
                name=short_name(row["name"]),
                gain=f"{signed(row['gain'])}",
                interval="–" if row["low"] is None else f"{signed(row['low'])} to {signed(row['high'])}",
                note=""
                if row["possible"] is None
                else f"{percent(row['gain'] / row['possible'])} of possible"
                if row["possible"] and row["gain"] > 0
                else "",
                low=place(row["low"], row["gain"]),
                middle=place(row["gain"], 0.0),
                high=place(row["high"], row["gain"]),
                kind=row["measure"].replace(" ", "-"),
            )
            for row in part.iter_rows(named=True)
        )
        charts.append(GainChart(str(step), place(0.0, 0.0), lines))
    return charts


def build_proof(proofs: pl.DataFrame) -> ProofPart | None:
    """Return what raters say; nothing where nobody was asked."""
    if proofs.is_empty():
        return None
    first = proofs.row(0, named=True)
    counts = [int(first[answer]) for answer in ANSWERS]
    total = sum(counts)
    bars = tuple(
        AnswerBar(sign, words, css.replace("_", "-"), number, 100 * number / total)
        for sign, words, css, number in zip(SIGNS, ANSWER_NAMES, ANSWERS, counts, strict=True)
    )
    rows = tuple(
        (
            row["method"] if row["comparison"] == first["comparison"] else row["comparison"],
            f"{signed(row['net'])}",
            "–" if row["low"] is None else f"{signed(row['low'])} to {signed(row['high'])}",
            int(row["raters"]),
            int(row["prompts"]),
        )
        for row in proofs.iter_rows(named=True)
    )
    better, worse = (counts[0] + counts[1]) / total, (counts[3] + counts[4]) / total
    who = "Simulated raters" if first["simulated"] else "Raters"
    if first["low"] is None:
        verdict, way = "too few raters or prompts for a confidence interval", "flat"
    else:
        interval = f"95 % CI {signed(first['low'])} to {signed(first['high'])}"
        way = "up" if first["low"] > 0 else "down" if first["high"] < 0 else "flat"
        verdict = f"{interval}: {WAYS[way]}"
    sentence = (
        f"{who} call the image after better in {percent(better)} and worse in {percent(worse)} of "
        f"{count(total, 'blind comparison')}: net preference {signed(first['net'])}, {verdict}."
    )
    return ProofPart(bars, total, percent(better), percent(worse), rows, bool(first["simulated"]), sentence, way)


def signed(number: float) -> str:
    """Return a number with its sign, as it is printed."""
    return f"{number:+.3f}".replace("-", "−")


def _flatten(settings: Mapping[str, object], prefix: str = "") -> Sequence[tuple[str, str]]:
    """Return settings as names and texts, nested ones by their path; long lists are left out."""
    flat: list[tuple[str, str]] = []
    for name, setting in settings.items():
        if isinstance(setting, Mapping):
            flat += _flatten(setting, f"{prefix}{name} ")
        elif not isinstance(setting, list | tuple):
            flat.append((f"{prefix}{name}".replace("_", " "), f"{setting}"))
    return flat
