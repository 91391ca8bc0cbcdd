"""What a rater's own page says of accuracy and agreement, computed from the tables of a study.

Accuracy is the proportion of gold trials that were answered as expected, with Wilson's interval. Agreement is the
mean over trials of the proportion of other raters who answered the same about the same images (on a scale: within
one point), with an interval that counts on the trials; it is left out where fewer than ``LEAST`` trials have other
answers. A skill is earned in a kind of question when the lower end of the interval of the accuracy over all
studies exceeds ``EARNED``.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from sqlalchemy import Connection, delete, insert, select

from beholder.collect.panel.schema import members, standings, work
from beholder.judgements.joined import answered_trials
from beholder.stats.intervals.proportions import wilson
from beholder.study.study import Study
from beholder.tables.store import Store

LEAST = 10
"""Trials with other raters' answers below which no agreement is shown."""

EARNED = 0.7
"""Accuracy that a skill shows, at the lower end of its interval."""

NEAR = 1.0
"""Points of a scale within which two raters agree."""

NORMAL = 1.959963984540054

JsonObject = dict[str, Any]


def write_standings(connection: Connection, study: Study, store: Store, *, now: float) -> int:
    """Compute the standings of all raters of a study, and replace those of before.

    Args:
        connection: To the panel, in a write transaction.
        study: Its settings.
        store: Its tables.
        now: The time.

    Returns:
        The number of raters.
    """
    agreement = agreement_of(answered_trials(store)) if store.has("answers") else {}
    by_pseudonym = {
        row.pseudonym: row.rater
        for row in connection.execute(select(members).where(members.c.study == study.name))
    }
    content: dict[str, JsonObject] = {rater: {} for rater in by_pseudonym.values()}
    for row in connection.execute(select(work).where(work.c.study == study.name).order_by(work.c.started)):
        gold = content.setdefault(row.rater, {}).setdefault("gold", [0, 0])
        gold[0], gold[1] = gold[0] + sum(row.gold), gold[1] + len(row.gold)
    for standing in content.values():
        right, total = standing.pop("gold", (0, 0))
        if total:
            standing["gold"] = proportion(right, total)
    for pseudonym, estimate in agreement.items():
        if pseudonym in by_pseudonym:
            content[by_pseudonym[pseudonym]]["agreement"] = estimate
    connection.execute(delete(standings).where(standings.c.study == study.name))
    for rater, standing in content.items():
        connection.execute(insert(standings).values(rater=rater, study=study.name, content=standing, at=now))
    return len(content)


def write_skills(connection: Connection, *, now: float) -> None:
    """Compute the skills of all raters over all studies.

    Args:
        connection: To the panel, in a write transaction.
        now: The time.
    """
    counts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for rater, kind, gold in connection.execute(select(work.c.rater, work.c.kind, work.c.gold)):
        if gold:
            tally = counts[rater][kind]
            tally[0], tally[1] = tally[0] + sum(gold), tally[1] + len(gold)
    connection.execute(delete(standings).where(standings.c.study == ""))
    for rater, kinds in counts.items():
        skills = [
            {"kind": kind, "earned": estimate["low"] > EARNED} | estimate
            for kind, (right, total) in sorted(kinds.items())
            for estimate in (proportion(right, total),)
        ]
        connection.execute(insert(standings).values(rater=rater, study="", content={"skills": skills}, at=now))


def proportion(right: int, total: int) -> JsonObject:
    """Return a proportion with Wilson's interval.

    Args:
        right: Successes.
        total: Trials.

    Returns:
        As JSON.

    Example:
        >>> proportion(9, 10)["value"]
        0.9
    """
    low, high = wilson(right, total)
    return {"value": right / total, "low": float(low), "high": float(high), "trials": total}


def agreement_of(answered: pl.DataFrame) -> dict[str, JsonObject]:
    """Return the agreement of each rater with the others on test trials.

    Args:
        answered: Answers with their trials, from :func:`beholder.judgements.joined.answered_trials`.

    Returns:
        pseudonym -> estimate as JSON
    """
    rows = answered.filter((pl.col("role") == "test") & pl.col("ranking").is_null())
    scores: dict[str, list[float]] = defaultdict(list)
    keys = ["question", "aspect", "images"]
    for _, frame in rows.with_columns(shown=pl.col("images"), images=_shown_images()).group_by(keys):
        for rater, score in _scores(frame):
            scores[rater].append(score)
    return {rater: _mean(values) for rater, values in scores.items() if len(values) >= LEAST}


def _shown_images() -> pl.Expr:
    """Images of a trial regardless of their sides."""
    return pl.col("images").list.sort().list.join("\n")


def _scores(frame: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Yield, for each rater, the proportion of other raters' answers about the same images that agree."""
    answers = [_answer(row) for row in frame.iter_rows(named=True)]
    raters: Sequence[str] = frame["rater"].to_list()
    for rater, own in zip(raters, answers, strict=True):
        others = [other for name, other in zip(raters, answers, strict=True) if name != rater]
        if others:
            yield rater, sum(_agree(own, other) for other in others) / len(others)


def _answer(row: JsonObject) -> str | float:
    """Return what was chosen: an image rather than its side, where two were shown."""
    if row["choice"] is None:
        return float(row["value"])
    sides = {"left": 0, "right": 1}
    shown_images = row["shown"]
    if row["choice"] in sides and len(shown_images) == len(sides):
        return str(shown_images[sides[row["choice"]]])
    return str(row["choice"])


def _agree(own: str | float, other: str | float) -> bool:
    if isinstance(own, float) and isinstance(other, float):
        return abs(own - other) <= NEAR
    return own == other


def _mean(values: Sequence[float]) -> JsonObject:
    spread = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = float(np.mean(values))
    low, high = max(mean - NORMAL * spread, 0.0), min(mean + NORMAL * spread, 1.0)
    return {"value": mean, "low": low, "high": high, "trials": len(values)}
