"""Raters of a panel: quality over their sessions, reputation, contact, opting out, and being forgotten."""

import hashlib
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from beholder.care.boomerang import reputation
from beholder.care.drift import Drift, find_drift
from beholder.care.early_quality import PanelAccuracy, fit_panel, predict_accuracy
from beholder.care.gold_schedule import CONSTANT, TRUSTED_AFTER, gold_schedule
from beholder.collect.database.schema import Database
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import (
    appeals,
    contacts,
    flags,
    identities,
    members,
    payments,
    postings,
    raters,
    ratings,
    studies,
    work,
)
from beholder.errors import StageError
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
    scores = _reputations(connection, researcher)
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


def agree_to_contact(connection: Connection, rater: str, address: str, consent: str, *, now: float) -> None:
    """Note how to reach a rater, who agreed to a text; what was noted before is replaced.

    Args:
        connection: In a write transaction.
        rater: Who.
        address: Such as an e-mail address.
        consent: The text that the rater agreed to.
        now: The time.
    """
    _require(connection, rater)
    if not address.strip() or not consent.strip():
        raise StageError("a contact needs an address, and the text that the rater agreed to")
    connection.execute(delete(contacts).where(contacts.c.rater == rater))
    seal = hashlib.sha256(consent.encode()).hexdigest()
    connection.execute(insert(contacts).values(rater=rater, address=address, consent_hash=seal, consented=now))
    connection.execute(update(raters).where(raters.c.rater == rater).values(opted_out=None))


def opt_out(connection: Connection, rater: str, *, now: float) -> None:
    """End all contact with a rater: the address is deleted, and no study is offered to them.

    Args:
        connection: In a write transaction.
        rater: Who.
        now: The time.
    """
    _require(connection, rater)
    connection.execute(delete(contacts).where(contacts.c.rater == rater))
    connection.execute(update(raters).where(raters.c.rater == rater).values(opted_out=now))


def forget_rater(database: Database, rater: str, *, now: float) -> int:
    """Delete a rater: identity, contact, history, ratings, flags and appeals.

    The ledger stays, as accounts must, under a name that leads to nobody. A rater to whom money is owed is
    refused: pay, or decline the payment, first.

    Args:
        database: Of the panel.
        rater: Who.
        now: The time.

    Returns:
        The number of rows that were deleted.
    """
    with database.writing() as connection:
        _require(connection, rater)
        open_payments = connection.scalars(
            select(payments.c.payment).where(
                payments.c.rater == rater, payments.c.status.in_(("proposed", "approved", "sending"))
            )
        ).all()
        if open_payments:
            raise StageError(f"{rater} has {len(open_payments)} open payments: pay or decline them first")
        nobody = f"forgotten-{hashlib.sha256(f'{rater}{now}'.encode()).hexdigest()[:12]}"
        deleted = 0
        for table in (identities, contacts, members, work, ratings, flags, appeals):
            deleted += connection.execute(delete(table).where(table.c.rater == rater)).rowcount
        connection.execute(update(payments).where(payments.c.rater == rater).values(rater=nobody))
        account = postings.c.account == f"rater:{rater}"
        connection.execute(update(postings).where(account).values(account=f"rater:{nobody}"))
        deleted += connection.execute(delete(raters).where(raters.c.rater == rater)).rowcount
        write_entry(connection, "rater forgotten", {"rows": deleted}, now=now)
    if database.is_sqlite:
        with closing(database.engine.raw_connection()) as raw, closing(raw.cursor()) as cursor:
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return deleted


def _require(connection: Connection, rater: str) -> None:
    if connection.scalar(select(raters.c.rater).where(raters.c.rater == rater)) is None:
        raise StageError(f"there is no rater {rater} in this panel; `beholder panel raters` lists them")


def _reputations(connection: Connection, researcher: str) -> dict[str, float]:
    rows = connection.execute(
        select(ratings.c.rater, ratings.c.rating, ratings.c.at, studies.c.researcher)
        .select_from(ratings.join(studies, studies.c.study == ratings.c.study))
        .where(ratings.c.giver == "researcher")
        .order_by(ratings.c.at.desc(), ratings.c.id.desc())
    ).all()
    own: dict[str, list[float]] = {}
    others: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.researcher == researcher:
            own.setdefault(row.rater, []).append(row.rating)
        else:
            others.setdefault(row.rater, {}).setdefault(row.researcher, row.rating)
    return {
        rater: reputation(own.get(rater, []), list(others.get(rater, {}).values())) for rater in {*own, *others}
    }


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
    if drift is None or len(gold) < TRUSTED_AFTER or drift.alarm is not None:
        return CONSTANT
    return float(gold_schedule(drift.baseline).rate(drift.statistic[-1] if len(drift.statistic) else 0.0))
