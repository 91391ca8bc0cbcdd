"""What the researcher's pages of a panel show and needs statistics: raters over sessions, fair pay, credit.

python -m beholder.collect.panel.researcher.report FOLDER raters RESEARCHER
python -m beholder.collect.panel.researcher.report FOLDER pay STUDY
python -m beholder.collect.panel.researcher.report FOLDER propose STUDY
python -m beholder.collect.panel.researcher.report FOLDER credit

Prints JSON; runs in a process of its own, so that the server needs no statistics.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from beholder.care.credit import credit_statement, share_credit
from beholder.collect.database.address import DATABASE
from beholder.collect.database.unavailable import usable_database
from beholder.collect.panel.fair_pay import propose_top_ups
from beholder.collect.panel.raters import rater_records
from beholder.collect.panel.schema import open_panel, payments, points, work
from beholder.collect.panel.standings import proportion
from beholder.collect.researcher.child_processes import report_failure
from beholder.errors import UserError

LEAST_CONTRIBUTORS = 3

JsonObject = dict[str, Any]


def report_raters(connection: Connection, researcher: str) -> JsonObject:
    """Return every rater with quality over sessions, drift and the gold that comes next.

    Args:
        connection: In any transaction.
        researcher: With whom the reputation is shown.

    Returns:
        As JSON.
    """
    sessions: dict[str, list[JsonObject]] = {}
    for row in connection.execute(select(work).order_by(work.c.started)):
        sessions.setdefault(row.rater, []).append(
            {
                "study": row.study,
                "started": row.started,
                "status": row.status,
                "trials": row.trials,
                "seconds_per_trial": row.active_seconds / row.trials if row.trials else None,
                "accuracy": proportion(sum(row.gold), len(row.gold)) if row.gold else None,
                "excluded": row.excluded,
            }
        )
    return {
        "rows": [
            {
                "rater": record.rater,
                "studies": record.studies,
                "sessions": sessions.get(record.rater, []),
                "trials": record.trials,
                "accuracy": record.accuracy and asdict(record.accuracy),
                "predicted": record.predicted and asdict(record.predicted),
                "drift": record.drift
                and {
                    "alarm": record.drift.alarm,
                    "change": record.drift.change,
                    "baseline": record.drift.baseline,
                    "threshold": record.drift.threshold,
                    "statistic": float(record.drift.statistic[-1]) if len(record.drift.statistic) else 0.0,
                    "false_alarms": record.drift.false_alarms,
                    "horizon": record.drift.horizon,
                },
                "gold_rate": record.gold_rate,
                "seconds_per_trial": record.seconds_per_trial,
                "hourly": record.hourly,
                "reputation": record.reputation,
                "opted_out": record.opted_out,
                "simulated": record.simulated,
            }
            for record in rater_records(connection, researcher)
        ]
    }


def report_pay(connection: Connection, study: str) -> JsonObject:
    """Return what a study pays by the hour, what is missing, and every session with its times.

    Args:
        connection: In a transaction that is rolled back: proposals are computed, not made.
        study: Which.

    Returns:
        As JSON.
    """
    earlier = [
        {
            name: getattr(row, name)
            for name in (
                "payment",
                "session",
                "rater",
                "kind",
                "cents",
                "currency",
                "reason",
                "status",
                "proposed",
            )
        }
        for row in connection.execute(
            select(payments).where(payments.c.study == study).order_by(payments.c.proposed, payments.c.payment)
        )
    ]
    outcomes = propose_top_ups(connection, study, now=time.time())
    rows = connection.execute(select(work).where(work.c.study == study).order_by(work.c.started)).all()
    return {
        "questions": [
            {
                "question": outcome.question,
                "seconds": asdict(outcome.seconds),
                "hourly_cents": outcome.hourly_cents,
                "missing": [asdict(up) for up in outcome.top_ups],
                "frozen": outcome.frozen,
            }
            for outcome in outcomes
        ],
        "payments": earlier,
        "sessions": [
            {
                "session": row.session,
                "rater": row.rater,
                "question": row.question,
                "status": row.status,
                "active_seconds": row.active_seconds,
                "reported_seconds": row.reported_seconds,
                "pay_cents": row.pay_cents,
                "frozen": row.frozen,
            }
            for row in rows
        ],
    }


def report_proposed(connection: Connection, study: str) -> JsonObject:
    """Propose what is missing to the minimum wage; return how much.

    Args:
        connection: In a write transaction.
        study: Which.

    Returns:
        As JSON.
    """
    outcomes = propose_top_ups(connection, study, now=time.time())
    missing = [up for outcome in outcomes for up in outcome.top_ups]
    return {"top_ups": len(missing), "cents": sum(up.cents for up in missing)}


def report_credit(connection: Connection, _: str = "") -> JsonObject:
    """Return the credit of contributors by the points that they gave each other.

    Args:
        connection: In any transaction.

    Returns:
        As JSON; without contributors where there are fewer than three.
    """
    rows = connection.execute(select(points)).all()
    names = sorted({name for row in rows for name in (row.giver, row.receiver)})
    if len(names) < LEAST_CONTRIBUTORS:
        return {"rows": [], "statement": ""}
    table = np.zeros((len(names), len(names)))
    roles: dict[str, list[str]] = {}
    for row in rows:
        table[names.index(row.giver), names.index(row.receiver)] = row.points
        if row.role and row.role not in roles.setdefault(row.receiver, []):
            roles[row.receiver].append(row.role)
    credit = share_credit(names, table)
    columns = zip(credit.names, credit.proportion, credit.plain, credit.flagged, strict=True)
    return {
        "rows": [
            {"name": name, "proportion": float(part), "unprotected": float(plain), "flagged": bool(flagged)}
            for name, part, plain, flagged in sorted(columns, key=lambda column: -column[1])
        ],
        "statement": credit_statement(credit, {name: held for name, held in roles.items() if held}),
    }


REPORTS: dict[str, Callable[[Connection, str], JsonObject]] = {
    "raters": report_raters,
    "pay": report_pay,
    "propose": report_proposed,
    "credit": report_credit,
}


def main() -> int:
    """Run the command of this module."""
    folder, name, about = Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
    try:
        with usable_database():
            database = open_panel(folder, os.environ[DATABASE])
            if name == "propose":
                with database.writing() as connection:
                    content = report_proposed(connection, about)
            else:
                with database.engine.connect() as connection, connection.begin() as transaction:
                    content = REPORTS[name](connection, about)
                    transaction.rollback()
            database.engine.dispose()
    except UserError as error:
        return report_failure(error)
    json.dump(content, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
