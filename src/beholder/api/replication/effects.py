"""The claims of a study as effects: what was claimed, how large it is, and how sure."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from beholder.board.claims import in_words
from beholder.board.standings import Standings, standings
from beholder.errors import StatisticsError, UserError
from beholder.judgements.measures import collect_measures
from beholder.stats.intervals.crossed_t import CrossedInfluence, contrast_errors
from beholder.stats.significance.replication import Effect
from beholder.study.study import load_study
from beholder.tables.store import Store

Scope = Literal["raters", "raters and prompts"]
"""What a replication draws again: with the same prompts, raters alone."""

TABLES_READ = ("judgements", "images", "scores", "predictions")


@dataclass(frozen=True, slots=True)
class ClaimedEffect:
    """A claim: one entry against another, or against a threshold, by a measure of people."""

    words: str
    measure: str
    entry: str
    other: str | None
    threshold: float
    """What the effect is claimed to exceed."""
    stated: bool
    """Whether the study file claims it; otherwise two entries are significantly different."""


@dataclass(frozen=True, eq=False)
class StudyEffects:
    """The measures by people of a study, and its prompts."""

    folder: Path
    boards: dict[str, Standings]
    prompts: frozenset[str]
    level: float

    def effect(self, claim: ClaimedEffect, scope: Scope) -> Effect | None:
        """Return the effect of a claim less its threshold; ``None`` where the study cannot say."""
        standing = self.boards.get(claim.measure)
        names = [name for name in (claim.entry, claim.other) if name is not None]
        if standing is None or any(name not in standing.entries for name in names):
            return None
        weights = np.zeros(len(standing.entries))
        sign = 1.0 if standing.better_up else -1.0
        weights[standing.entries.index(claim.entry)] = sign
        if claim.other is not None:
            weights[standing.entries.index(claim.other)] = -sign
        return contrast_effect(standing.cells, weights, scope, less=claim.threshold)

    def raters(self, claim: ClaimedEffect) -> int:
        """Return how many raters stand behind a claim."""
        standing = self.boards.get(claim.measure)
        return 0 if standing is None else int(standing.errors.raters.max())


def contrast_effect(
    cells: CrossedInfluence, weights: np.ndarray, scope: Scope, *, less: float = 0.0
) -> Effect | None:
    """Return a contrast of ratings with its error over what a replication draws again.

    Args:
        cells: The ratings and influences.
        weights: What each cell is multiplied by (cells,).
        scope: With the same prompts, the error is that over raters, with one degree of freedom less than raters.
        less: A threshold that is taken away.

    Returns:
        The effect; ``None`` where it has no error.
    """
    errors = contrast_errors(cells, weights[None])
    estimate = float(weights @ cells.values) - less
    if scope == "raters" and cells.raters is not None:
        error, degrees = float(errors.over_raters[0]), float(max(errors.raters[0] - 1, 1))
    else:
        error, degrees = float(errors.standard_error[0]), float(errors.degrees[0])
    return Effect(estimate, error, degrees) if np.isfinite(estimate) and np.isfinite(error) else None


def study_effects(folder: Path) -> StudyEffects:
    """Read the measures by people of a study.

    Raises:
        UserError: Where there are none.
    """
    study, store = load_study(folder), Store(folder)
    boards: dict[str, Standings] = {}
    prompts: set[str] = set()
    judgements, images, scores, predictions = (store.read_or_empty(name) for name in TABLES_READ)
    for measure in collect_measures(judgements, images, scores, predictions):
        if measure.source != "people":
            continue
        prompts |= set(measure.rows["prompt"].unique())
        try:
            boards[measure.name] = standings(measure, level=study.analysis.level, seed=study.seed)
        except StatisticsError:
            continue
    if not boards:
        raise UserError(
            f"{folder} has no judgements of raters whose claims could be replicated: beholder consolidate"
        )
    return StudyEffects(folder, boards, frozenset(prompts), study.analysis.level)


def claims_of(effects: StudyEffects) -> Iterator[ClaimedEffect]:
    """Yield the claims of the study file by people, then every significant difference of two entries."""
    for claim in load_study(effects.folder).board.claims:
        standing = effects.boards.get(claim.measure)
        if standing is None:
            continue
        sign = 1.0 if standing.better_up else -1.0
        threshold = -claim.margin if claim.threshold is None else sign * claim.threshold
        yield ClaimedEffect(in_words(claim), claim.measure, claim.entry, claim.other, threshold, stated=True)
    for name, standing in effects.boards.items():
        pairs = standing.pairs
        for k in np.flatnonzero(pairs.separated):
            first, second = (standing.entries[int(place[k])] for place in (pairs.first, pairs.second))
            if (pairs.difference[k] > 0) != standing.better_up:
                first, second = second, first
            yield ClaimedEffect(
                f"{first} is better than {second} ({name})", name, first, second, 0.0, stated=False
            )
