"""Raters of a panel as the researcher sees them: quality over their sessions, drift and reputation."""

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, delete, insert, select

from beholder.care.boomerang import reputation
from beholder.care.drift import Drift, find_drift
from beholder.care.early_quality import PanelAccuracy, fit_panel, predict_accuracy
from beholder.care.gold_pace import CONSTANT, GoldPace
from beholder.care.gold_schedule import TRUSTED_AFTER, gold_schedule
from beholder.collect.panel.reputations import reputations
from beholder.collect.panel.schema import raters, trust, work
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.proportions import wilson

BASELINE = 200
"""Gold trials, at most half of a rater's, from which the baseline is taken before drift is looked for."""

LEAST_BASELINE = 10


@dataclass(frozen=True, slots=True)
class RaterRecord:
    """A rater as the researcher sees them; nothing here ranks raters in public."""

    rater: str
    studies: int
    sessions: int
    trials: int
    accuracy: Estimate | None
    """on gold, with Wilson's interval"""
    predicted: Estimate | None
    """accuracy over the next 100 trials, predicted from all gold so far and from the panel"""
    drift: Drift | None
    gold_rate: float
    """proportion of gold trials that this rater should get next"""
    seconds_per_trial: float
    hourly: float
    """earned per hour of active time, in cents"""
    reputation: float
    opted_out: bool
    simulated: bool


def rater_records(connection: Connection, researcher: str) -> list[RaterRecord]:
    """Return all raters of the panel, with the reputation that they have with a researcher.

    Args:
        connection: In any transaction.
        researcher: Whose ratings count as their own.

    Returns:
        One record per rater, in the order in which they joined.
    """
    rows = connection.execute(select(work).order_by(work.c.started)).all()
    gold: dict[str, list[int]] = {}
    for row in rows:
        gold.setdefault(row.rater, []).extend(row.gold)
    checked = {rater: answers for rater, answers in gold.items() if answers}
    panel = fit_panel([sum(x) for x in checked.values()], [len(x) for x in checked.values()]) if checked else None
    scores = reputations(connection, researcher)
    records = []
    for person in connection.execute(select(raters).order_by(raters.c.joined, raters.c.rater)):
        history = [row for row in rows if row.rater == person.rater]
        trials, seconds = sum(row.trials for row in history), sum(row.active_seconds for row in history)
        answers = gold.get(person.rater, [])
        records.append(
            RaterRecord(
                rater=person.rater,
                studies=len({row.study for row in history}),
                sessions=len(history),
                trials=trials,
                accuracy=_accuracy(answers),
                predicted=_predicted(answers, panel),
                drift=(drift := _drift(answers, panel)),
                gold_rate=_gold_rate(answers, drift),
                seconds_per_trial=seconds / trials if trials else 0.0,
                hourly=sum(row.pay_cents for row in history) / seconds * 3600 if seconds else 0.0,
                reputation=scores.get(person.rater, reputation([], [])),
                opted_out=person.opted_out is not None,
                simulated=person.simulated,
            )
        )
    return records


def write_trust(connection: Connection, *, now: float) -> int:
    """Note which raters are trusted, and how often these are checked; whoever had an alarm is not among them.

    Args:
        connection: In a write transaction.
        now: The time.

    Returns:
        The number of trusted raters.
    """
    gold: dict[str, list[int]] = {}
    for row in connection.execute(select(work.c.rater, work.c.gold).order_by(work.c.started, work.c.session)):
        gold.setdefault(row.rater, []).extend(row.gold)
    checked = {rater: answers for rater, answers in gold.items() if answers}
    panel = fit_panel([sum(x) for x in checked.values()], [len(x) for x in checked.values()]) if checked else None
    paces = {rater: _pace(answers, _drift(answers, panel)) for rater, answers in checked.items()}
    rows = [{"rater": rater, "pace": asdict(pace), "at": now} for rater, pace in paces.items() if pace is not None]
    connection.execute(delete(trust))
    if rows:
        connection.execute(insert(trust), rows)
    return len(rows)


def _accuracy(gold: list[int]) -> Estimate | None:
    if not gold:
        return None
    low, high = wilson(sum(gold), len(gold))
    return Estimate(sum(gold) / len(gold), float(low), float(high), 0.95, "Wilson", 1, answers=len(gold))


def _predicted(gold: list[int], panel: PanelAccuracy | None) -> Estimate | None:
    if not gold or panel is None:
        return None
    later = predict_accuracy([sum(gold)], [len(gold)], panel)
    method = f"beta-binomial, over the next {later.trials} trials"
    return Estimate(
        float(later.value[0]), float(later.low[0]), float(later.high[0]), later.level, method, panel.raters
    )


def _drift(gold: list[int], panel: PanelAccuracy | None) -> Drift | None:
    """Look for drift after the baseline: the first half of the gold trials, at most ``BASELINE``."""
    first = min(len(gold) // 2, BASELINE)
    if panel is None or first < LEAST_BASELINE:
        return None
    strength = panel.a + panel.b
    baseline = (panel.a + sum(gold[:first])) / (strength + first)
    return find_drift(gold[first:], baseline=baseline, baseline_trials=strength + first)


def _gold_rate(gold: list[int], drift: Drift | None) -> float:
    """Return how often the rater is to be checked: as everybody at first and after an alarm, less with trust."""
    pace = _pace(gold, drift)
    return CONSTANT if pace is None else pace.rate


def _pace(gold: list[int], drift: Drift | None) -> GoldPace | None:
    """Return how often a trusted rater is checked; none for a rater with little gold, or with an alarm."""
    if drift is None or len(gold) < TRUSTED_AFTER or drift.alarm is not None:
        return None
    return gold_schedule(drift.baseline).pace(float(drift.statistic[-1]) if len(drift.statistic) else 0.0)
