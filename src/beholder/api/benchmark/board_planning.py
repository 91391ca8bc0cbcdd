"""How many prompts and raters a claim on a board takes: ``beholder.plan_board(study, claim=…)``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from beholder.api.planning import require_wage
from beholder.board.standings import Standings, standings
from beholder.errors import StatisticsError, UserError, unknown_name
from beholder.judgements.measures import Measure, collect_measures
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.significance.crossed_power import (
    Claim,
    CrossedDesign,
    CrossedPower,
    crossed_power,
    observed_design,
    stated_design,
)
from beholder.study.kinds.catalogue import AnyQuestion
from beholder.study.kinds.duration import session_seconds
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import FILE_NAME, Study, load_study
from beholder.tables.store import Store

PROMPTS, RATERS = (50, 100, 200, 400), (5, 10, 20, 40)
"""Numbers that are tried by default."""

SENTENCES = {
    "pair": "{first} and {second} are separated",
    "winner": "the best entry is separated from all others",
    "order": "all entries are separated, in their true order",
    "half-width": "the interval of a difference is at most ± {half_width:g}",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BoardPower(ResultTable):
    """Power, half-width and cost of a claim: one row per number of prompts and raters."""

    predicted: CrossedPower
    design: CrossedDesign


@dataclass(frozen=True)
class _Basis:
    """What a plan rests on."""

    design: CrossedDesign
    entries: tuple[str, ...]
    name: str
    note: str
    answers_each: float
    """Answers that a rater gives about a prompt; 0 where a program scores."""
    seconds: float
    """Of an answer, with the checks of a session."""


def plan_board(
    study: str | Path,
    *,
    claim: Claim = "pair",
    measure: str | None = None,
    entries: Sequence[str] | None = None,
    prompts: Sequence[int] = PROMPTS,
    raters: Sequence[int] = RATERS,
    difference: float | None = None,
    half_width: float | None = None,
    variances: tuple[float, float, float] | None = None,
    generators: int = 2,
    wage: float = 12.0,
    accept_low_pay: bool = False,
    seed: int = 0,
) -> BoardPower:
    """Predict power, half-width and cost over numbers of prompts and raters, for a claim on a board.

    Args:
        study: A study folder with judgements or scores, whose ratings and variance components are taken as the
            true ones; or a protocol such as ``mos``, with ``variances``.
        claim: ``pair``, ``winner``, ``order`` or ``half-width``.
        measure: Of the study, as its board names it; by default the first by people.
        entries: Two of them, for a pair or a half-width; by default the two best.
        prompts: Numbers of prompts to try.
        raters: Numbers of raters to try; each judges all prompts, or the part that the raters of the study judge.
        difference: Between the two entries of a pair; by default that of the study. Without a study the entries
            are this far apart from one to the next.
        half_width: That is narrow enough, for that claim.
        variances: Of a difference of two entries: between raters, between prompts, and of a single answer.
        generators: Number of entries, without a study.
        wage: Pay per hour.
        accept_low_pay: Plan with less than the least wage of a study all the same.
        seed: With which simulated boards (winner, order) are reproduced.

    Returns:
        One row per number of prompts and raters.

    Example:
        >>> import beholder as bh
        >>> plan = bh.plan_board("mos", variances=(0.02, 0.3, 0.9), difference=0.2, prompts=[50, 200], raters=[10])
        >>> plan["power"].round(2).tolist()
        [0.5, 0.86]
    """
    require_wage(wage, accepted=accept_low_pay)
    basis = _stated(study, variances, difference, generators) if variances else _observed(study, measure)
    pair = _pair(basis, entries)
    grid_prompts, grid_raters = np.meshgrid(prompts, raters if basis.design.people else [0], indexing="ij")
    predicted = crossed_power(
        basis.design,
        claim,
        grid_prompts.ravel(),
        grid_raters.ravel(),
        np.random.default_rng(seed),
        pair=pair,
        difference=difference,
        half_width=half_width,
    )
    crossing = basis.design.pairs[0].crossing
    answers = np.rint(predicted.prompts * predicted.raters * crossing * basis.answers_each).astype(int)
    hours = answers * basis.seconds / 3600
    first, second = (basis.entries[k] for k in pair) if pair else ("the two best", "")
    sentence = SENTENCES[claim].format(first=first, second=second, half_width=half_width or 0.0)
    return BoardPower(
        title=f"{basis.name}: power to show that {sentence if pair else sentence.replace(' and  are', ' are')}",
        rows=frame_of(
            {
                "prompts": predicted.prompts.tolist(),
                "raters": predicted.raters.tolist(),
                "half_width": predicted.half_width.tolist(),
                "power": predicted.power.tolist(),
                "answers": answers.tolist(),
                "hours": hours.tolist(),
                "cost": (hours * wage).tolist(),
            }
        ),
        method="variance components over prompts and raters",
        estimate="power",
        level=predicted.level,
        seed=seed,
        keys=2,
        notes=(basis.note,),
        unit="power",
        predicted=predicted,
        design=basis.design,
    )


def _stated(
    protocol: str | Path, variances: tuple[float, float, float], difference: float | None, generators: int
) -> _Basis:
    if str(protocol) not in PROTOCOLS:
        raise UserError(unknown_name("protocol", str(protocol), PROTOCOLS))
    question = PROTOCOLS[str(protocol)].questions()[0]
    step = 0.0 if difference is None else abs(difference)
    values = -step * np.arange(generators)
    names = tuple(f"entry {k + 1}" for k in range(generators))
    note = "Variances as stated; every rater judges every prompt of every entry."
    try:
        design = stated_design(values, *variances)
    except StatisticsError as error:
        raise UserError(str(error)) from error
    return _Basis(design, names, str(protocol), note, float(generators), _seconds(question))


def _observed(folder: str | Path, name: str | None) -> _Basis:
    if not (Path(folder) / FILE_NAME).is_file():
        raise UserError(
            f"{folder} is neither a study folder nor, without variances, enough to plan a board: give a "
            f"folder with "
            "judgements or scores, or a protocol and the variances between raters, between prompts and of "
            "an answer"
        )
    study, measures = load_study(Path(folder)), _measures(Path(folder))
    if name is not None and name not in measures:
        raise UserError(unknown_name("measure", name, measures))
    measure = measures[name] if name else next(iter(measures.values()))
    standing = _standing(measure, study)
    design = observed_design(standing.cells, higher_is_better=standing.better_up)
    question = next((q for q in study.questions if measure.name.startswith(q.name)), None)
    cells = standing.cells
    people = cells.raters is not None and question is not None
    note = (
        f"True ratings and variances are taken from {folder}, with {standing.errors.prompts.max()} prompts and "
        f"{standing.errors.raters.max()} raters: differences that were found by chance are planned for, too."
    )
    return _Basis(
        design,
        standing.entries,
        measure.name,
        note,
        measure.rows.height / len(cells.influence) if people else 0.0,
        _seconds(question) if people and question is not None else 0.0,
    )


def _measures(folder: Path) -> dict[str, Measure]:
    store = Store(folder)
    judgements, images, scores, predictions = (
        store.read_or_empty(name) for name in ("judgements", "images", "scores", "predictions")
    )
    measures = {measure.name: measure for measure in collect_measures(judgements, images, scores, predictions)}
    if not measures:
        raise UserError(
            f"{folder} has no judgements and no scores to plan from; rehearse it with simulated raters"
        )
    return measures


def _standing(measure: Measure, study: Study) -> Standings:
    try:
        standing = standings(measure, level=study.analysis.level, seed=study.seed)
    except StatisticsError as error:
        raise UserError(f"{measure.name}: {error}") from error
    if len(standing.entries) < 2:
        raise UserError(f"{measure.name} has one entry; a claim compares at least two")
    return standing


def _seconds(question: AnyQuestion) -> float:
    return session_seconds(question) / question.design.trials


def _pair(basis: _Basis, entries: Sequence[str] | None) -> tuple[int, int] | None:
    if entries is None:
        return None
    unknown = [entry for entry in entries if entry not in basis.entries]
    if unknown or len(entries) != 2 or entries[0] == entries[1]:
        names = ", ".join(basis.entries)
        raise UserError(f"a pair is two different entries of {names}; found {', '.join(entries)}")
    return basis.entries.index(entries[0]), basis.entries.index(entries[1])
