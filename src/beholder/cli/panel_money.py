"""``beholder panel top-ups, payments, approve, pay, settle, ledger``: fair pay, by a researcher's word."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
from sqlalchemy import select

from beholder.cli.output import show_json, show_table
from beholder.cli.panel import by_option, database_option, folder_argument, json_option, opened, say
from beholder.collect.panel.ledger import read_balances
from beholder.collect.panel.payments import GRACE_SECONDS, STATUSES, decide, payees_of, settle_batch, start_batch
from beholder.collect.panel.platforms.payment_list import bank_table, prolific_lines
from beholder.collect.panel.schema import identities, payments, studies
from beholder.errors import StageError, UserError

if TYPE_CHECKING:
    from beholder.collect.panel.fair_pay import FairPay
    from beholder.collect.panel.sending import PaymentPlatform

PROLIFIC_TOKEN = "PROLIFIC_TOKEN"
AWS_ACCESS, AWS_SECRET = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
FORMS = {"prolific": prolific_lines, "bank": bank_table}


@click.command("top-ups")
@folder_argument
@click.argument("study")
@database_option
@json_option
def propose_command(folder: Path, study: str, database: str | None, *, as_json: bool) -> None:
    """Propose what is missing to the minimum wage in STUDY.

    A session is paid for the median time of the task or the rater's own active time, whichever is longer, at the
    study's minimum_hourly. Proposals wait for 12 hours before they can be approved.
    """
    from beholder.collect.panel.fair_pay import propose_top_ups

    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        outcomes = propose_top_ups(connection, study, now=time.time())
    if as_json:
        show_json([asdict(outcome) for outcome in outcomes])
        return
    rows = [_fair_pay_row(outcome) for outcome in outcomes]
    show_table(("question", "median min", "95 % CI", "paid per hour", "top-ups", "sum", "frozen"), rows)


@click.command("payments")
@folder_argument
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
@click.option("--batch", help="Print the list of one batch, in the form of --form.")
@click.option("--form", type=click.Choice(list(FORMS)), default="bank", show_default=True)
@database_option
@json_option
def list_command(
    folder: Path, status: str | None, batch: str | None, form: str, database: str | None, *, as_json: bool
) -> None:
    """List payments with their reasons, or one batch as a table to pay by."""
    with opened(folder, database) as panel_database, panel_database.reading() as connection:
        if batch is not None:
            click.echo(FORMS[form](payees_of(connection, batch)), nl=form != "bank")
            return
        query = select(payments).order_by(payments.c.proposed, payments.c.payment)
        rows = connection.execute(query if status is None else query.where(payments.c.status == status)).all()
    if as_json:
        show_json([dict(row._mapping) for row in rows])
        return
    heads = ("payment", "rater", "kind", "amount", "status", "batch", "reason")
    show_table(
        heads,
        [
            (
                row.payment[:12],
                row.rater,
                row.kind,
                f"{row.cents / 100:.2f} {row.currency}",
                row.status,
                (row.batch or "")[:12],
                row.reason,
            )
            for row in rows
        ],
    )


@click.command("approve")
@folder_argument
@click.argument("study")
@by_option
@click.option("--decline", is_flag=True, help="Decline them instead.")
@click.option("--payment", "chosen", multiple=True, metavar="ID", help="Only this one; may be repeated.")
@click.option("--no-grace", is_flag=True, help="Do not wait for 12 hours after the proposal.")
@database_option
@json_option
def approve_command(
    folder: Path,
    study: str,
    by: str,
    chosen: tuple[str, ...],
    database: str | None,
    *,
    decline: bool,
    no_grace: bool,
    as_json: bool,
) -> None:
    """Approve the proposed payments of STUDY: nothing is paid without it."""
    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        query = select(payments).where(payments.c.study == study, payments.c.status == "proposed")
        rows = [
            row
            for row in connection.execute(query)
            if not chosen or any(row.payment.startswith(prefix) for prefix in chosen)
        ]
        grace = 0.0 if no_grace else GRACE_SECONDS
        names = [row.payment for row in rows]
        count = decide(connection, names, by=by, approve=not decline, now=time.time(), grace_seconds=grace)
    total = sum(row.cents for row in rows)
    decision = "declined" if decline else "approved"
    sentence = f"{count} payments {decision} by {by}: {total / 100:.2f}"
    say(sentence, as_json=as_json, payments=count, decision=decision, by=by, cents=total)


@click.command("pay")
@folder_argument
@click.argument("study")
@click.option("--platform", required=True, type=click.Choice(["prolific", "mturk", "panel"]), help="Whose raters.")
@click.option(
    "--list", "form", type=click.Choice(list(FORMS)), help="Print a list to pay by hand instead of paying."
)
@click.option("--sandbox", is_flag=True, help="MTurk's sandbox.")
@database_option
@json_option
def pay_command(
    folder: Path,
    study: str,
    platform: str,
    form: str | None,
    database: str | None,
    *,
    sandbox: bool,
    as_json: bool,
) -> None:
    """Pay what is approved, once: through the platform, or as a list.

    The token of your Prolific account is read from PROLIFIC_TOKEN, the keys of MTurk from AWS_ACCESS_KEY_ID and
    AWS_SECRET_ACCESS_KEY. An order to Prolific that got no answer is never repeated: it is looked up, and where
    that leaves a doubt, `beholder panel settle` takes your word for it.
    """
    from beholder.collect.panel.sending import send_payments

    if form is not None and as_json:
        raise UserError("--json and --list do not go together: the list is what is printed")
    with opened(folder, database) as panel_database:
        if form is not None:
            with panel_database.writing() as connection:
                batch = start_batch(connection, platform, study, now=time.time())
                if batch is None:
                    raise StageError(f"nothing is approved for raters of {platform} in '{study}'")
                payees = payees_of(connection, batch)
                settle_batch(connection, batch, "sent", now=time.time())
            click.echo(FORMS[form](payees), nl=form != "bank")
            click.echo(
                f"batch {batch}: when it is paid, beholder panel settle {folder} {batch} confirmed", err=True
            )
            return
        with panel_database.reading() as connection:
            row = connection.execute(select(studies).where(studies.c.study == study)).first()
        if row is None:
            raise StageError(f"the panel has no study '{study}'; `beholder panel studies` lists them")
        payer = _platform(platform, row.platform_study, sandbox=sandbox)
        outcomes = send_payments(panel_database, payer, study, now=time.time())
    if as_json:
        show_json([{"batch": batch, "outcome": outcome} for batch, outcome in outcomes])
    for batch, outcome in outcomes:
        if not as_json:
            click.echo(f"batch {batch}: {outcome}")
        if outcome == "uncertain":
            click.echo(
                f"  {platform} gave no answer, and may have paid. Try again in some minutes, or look there and "
                f"say: beholder panel settle {folder} {batch} confirmed|refused",
                err=True,
            )
    if not outcomes and not as_json:
        click.echo("nothing to pay")


@click.command("settle")
@folder_argument
@click.argument("batch")
@click.argument("outcome", type=click.Choice(["confirmed", "refused"]))
@by_option
@database_option
@json_option
def settle_command(
    folder: Path, batch: str, outcome: str, by: str, database: str | None, *, as_json: bool
) -> None:
    """Say that a batch was paid (confirmed), or was not (refused)."""
    from beholder.collect.panel.open_log import write_entry

    with opened(folder, database) as panel_database, panel_database.writing() as connection:
        count = settle_batch(connection, batch, outcome, now=time.time())
        write_entry(connection, "batch settled", {"batch": batch, "outcome": outcome, "by": by}, now=time.time())
    say(
        f"batch {batch}: {count} payments {outcome}", as_json=as_json, batch=batch, payments=count, outcome=outcome
    )


@click.command("ledger")
@folder_argument
@database_option
@json_option
def ledger_command(folder: Path, database: str | None, *, as_json: bool) -> None:
    """Check that the ledger balances to the cent, and print its accounts."""
    with opened(folder, database) as panel_database, panel_database.reading() as connection:
        balances = read_balances(connection)
        owed_to = {row.rater for row in connection.execute(select(identities))}
    if as_json:
        show_json(
            [{"currency": c, "account": a, "cents": cents} for (c, a), cents in sorted(balances.cents.items())]
        )
        return
    show_table(
        ("account", "amount", ""),
        [
            (account, f"{cents / 100:.2f} {currency}", "" if _reachable(account, owed_to) else "no platform id")
            for (currency, account), cents in sorted(balances.cents.items())
        ],
    )
    click.echo("The ledger balances: all accounts sum to 0.")


def _reachable(account: str, owed_to: set[str]) -> bool:
    return not account.startswith("rater:") or account.removeprefix("rater:") in owed_to


def _fair_pay_row(outcome: "FairPay") -> tuple[str, ...]:
    time_of = outcome.seconds
    return (
        outcome.question,
        f"{time_of.value / 60:.1f}",
        f"{time_of.low / 60:.1f}–{time_of.high / 60:.1f}",
        f"{outcome.hourly_cents / 100:.2f}",
        str(len(outcome.top_ups)),
        f"{sum(up.cents for up in outcome.top_ups) / 100:.2f}",
        str(outcome.frozen),
    )


def _platform(name: str, platform_study: str, *, sandbox: bool) -> "PaymentPlatform":
    from beholder.collect.panel.platforms.mturk import ADDRESS, SANDBOX, MTurk
    from beholder.collect.panel.platforms.prolific import Prolific
    from beholder.collect.panel.platforms.signature import AwsKeys

    if name == "panel":
        raise UserError("raters of the panel are paid by hand: --list bank prints whom and how much")
    if name == "prolific":
        if not platform_study:
            raise UserError(
                "the study has no id at Prolific: set collect.prolific_study in study.toml, and add it again"
            )
        return Prolific(_secret(PROLIFIC_TOKEN), platform_study)
    keys = AwsKeys(_secret(AWS_ACCESS), _secret(AWS_SECRET))
    return MTurk(keys, address=SANDBOX if sandbox else ADDRESS)


def _secret(name: str) -> str:
    if not os.environ.get(name):
        raise UserError(f"{name} is not set; it is read from the environment, so that it is in no file of yours")
    return os.environ[name]


COMMANDS = (propose_command, list_command, approve_command, pay_command, settle_command, ledger_command)
