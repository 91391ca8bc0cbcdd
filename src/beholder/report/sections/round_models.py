"""Models of adversarial rounds: one row per model, with its error on held-out attacks and its static error."""

from dataclasses import dataclass

import polars as pl

from beholder.report.tables.leaderboard import Record
from beholder.report.text.words import count, percent


@dataclass(frozen=True, slots=True)
class RoundModel:
    """A model after some rounds, in words."""

    model: str
    parent: str
    rounds: str
    pairs: int
    attack_error: str
    static_error: str
    claims: str
    precision: str
    """Verified of the claims that were decided."""
    credit: str


@dataclass(frozen=True, slots=True)
class RoundModels:
    """All models of rounds, what they were tested on, and a sentence for each that can be compared."""

    models: tuple[RoundModel, ...]
    tested_on: str
    findings: tuple[str, ...]


def build_round_models(rounds: pl.DataFrame) -> RoundModels | None:
    """The models of the table ``rounds``; ``None`` where there are none."""
    if rounds.is_empty():
        return None
    rows = rounds.to_dicts()
    most = max(rows, key=lambda row: row["attacks"])
    attacks = count(most["attacks"], "verified attack")
    people, prompts = count(most["attackers"], "attacker"), count(most["prompts"], "held-out prompt")
    return RoundModels(
        tuple(_model(row) for row in rows),
        f"{attacks} of {people} whose claims no model was trained on, and the pairs of {prompts} of this study",
        tuple(sentence for row in rows if (sentence := _finding(row))),
    )


def _model(row: Record) -> RoundModel:
    decided = row["verified"] + row["refuted"]
    return RoundModel(
        model=row["model"],
        parent=row["parent"] or "–",
        rounds=row["rounds"] or "–",
        pairs=row["pairs"],
        attack_error=_interval(row, "attack_error", "attack"),
        static_error=_interval(row, "static_error", "static"),
        claims=f"{row['claims']:,} / {row['verified']:,}" if row["claims"] else "–",
        precision=percent(row["verified"] / decided) if decided else "–",
        credit=f"{row['credit']:.1f}" if row["claims"] else "–",
    )


def _interval(row: Record, value: str, name: str) -> str:
    return f"{100 * row[value]:.1f} % ({100 * row[f'{name}_low']:.1f} to {100 * row[f'{name}_high']:.1f})"


def _finding(row: Record) -> str | None:
    """How a model differs from the first: what its attacks cost it, and what that cost on the static set."""
    if row["reduction"] is None or row["static_change"] is None:
        return None
    low, high = row["reduction_low"], row["reduction_high"]
    if low > 0:
        verdict = "errs less often on held-out attacks"
    else:
        verdict = "errs more often on held-out attacks" if high < 0 else "is not significantly better on attacks"
    ends = f"{_signed(row['static_change_low'])} to {_signed(row['static_change_high'])}"
    return (
        f"{row['model']} {verdict} than the first model: {percent(row['reduction'])} fewer "
        f"({100 * low:.0f} to {100 * high:.0f}), at {_signed(row['static_change'])} points ({ends}) on the static "
        "test set."
    )


def _signed(proportion: float) -> str:
    """A difference of proportions in points, with its sign."""
    return f"{100 * proportion:+.1f}".replace("-", "−")
