"""Sending a batch of payments to a platform, at most once.

Each step is on the disk before the next begins. Where a platform can be told the same order twice without
paying twice (MTurk, by a request token), an order without an answer is repeated. Where it can not (Prolific
pays a bulk payment again each time it is told to), it is never repeated: what the platform has paid is compared
with what it had paid before; if that leaves a doubt, a researcher looks and says which it is.
"""

from typing import Literal, Protocol

import httpx
from sqlalchemy import select, update

from beholder.collect.database.schema import Database
from beholder.collect.panel.payments import Payee, payees_of, settle_batch, start_batch
from beholder.collect.panel.schema import batches
from beholder.errors import UserError

BatchStatus = Literal["sent", "confirmed", "refused", "uncertain"]

UNANSWERED = (httpx.TimeoutException, httpx.TransportError)
"""Failures after which nobody knows whether the platform has done what it was told."""


class RefusedPaymentError(UserError):
    """The platform said no: nothing was paid."""


class PaymentPlatform(Protocol):
    """What pays raters. Errors in ``UNANSWERED`` mean that nobody knows."""

    name: str
    is_repeatable: bool
    """whether the same order, told twice, is carried out once"""

    def prepare(self, payees: tuple[Payee, ...]) -> str:
        """Announce an order that pays nothing yet, and return the platform's reference to it."""

    def pay(self, reference: str, payees: tuple[Payee, ...]) -> None:
        """Carry it out; :class:`RefusedPaymentError` if nothing was paid."""

    def paid_cents(self, payees: tuple[Payee, ...]) -> dict[str, int]:
        """Return what each rater (platform id) has been paid in bonuses so far, for these sessions."""


def send_payments(
    database: Database, platform: PaymentPlatform, study: str, *, now: float
) -> list[tuple[str, BatchStatus]]:
    """Finish batches without an answer, then send what is approved.

    Args:
        database: Of the panel.
        platform: Whose raters are paid.
        study: Whose payments.
        now: The time.

    Returns:
        Each batch that was touched, and how it stands.
    """
    with database.reading() as connection:
        open_batches = connection.execute(
            select(batches.c.batch).where(
                batches.c.platform == platform.name, batches.c.status.in_(("prepared", "paying", "sent"))
            )
        ).all()
    outcomes = [(row.batch, _advance(database, platform, row.batch, now=now)) for row in open_batches]
    with database.writing() as connection:
        batch = start_batch(connection, platform.name, study, now=now)
    if batch is not None:
        outcomes.append((batch, _advance(database, platform, batch, now=now)))
    return outcomes


def _advance(database: Database, platform: PaymentPlatform, batch: str, *, now: float) -> BatchStatus:
    """Take a batch as far as it goes."""
    with database.reading() as connection:
        row = connection.execute(select(batches).where(batches.c.batch == batch)).one()
        payees = payees_of(connection, batch)
    if row.status == "prepared":
        return _pay_first_time(database, platform, batch, payees, now=now)
    if row.status == "paying" and platform.is_repeatable:
        return _pay(database, platform, batch, str(row.reference), payees, now=now)
    return _reconcile(database, platform, batch, payees, dict(row.before or {}), str(row.status), now=now)


def _pay_first_time(
    database: Database, platform: PaymentPlatform, batch: str, payees: tuple[Payee, ...], *, now: float
) -> BatchStatus:
    """Prepare and pay. Until the status is *paying*, nothing was paid, and all of this may be done again."""
    try:
        before = platform.paid_cents(payees)
        reference = platform.prepare(payees)
    except RefusedPaymentError:
        with database.writing() as connection:
            settle_batch(connection, batch, "refused", now=now)
        raise
    with database.writing() as connection:
        connection.execute(
            update(batches)
            .where(batches.c.batch == batch)
            .values(status="paying", reference=reference, before=before)
        )
    return _pay(database, platform, batch, reference, payees, now=now)


def _pay(
    database: Database,
    platform: PaymentPlatform,
    batch: str,
    reference: str,
    payees: tuple[Payee, ...],
    *,
    now: float,
) -> BatchStatus:
    outcome: BatchStatus = "sent"
    try:
        platform.pay(reference, payees)
    except RefusedPaymentError:
        with database.writing() as connection:
            settle_batch(connection, batch, "refused", now=now)
        raise
    except UNANSWERED:
        return "uncertain"
    with database.writing() as connection:
        settle_batch(connection, batch, outcome, now=now)
    return outcome


def _reconcile(
    database: Database,
    platform: PaymentPlatform,
    batch: str,
    payees: tuple[Payee, ...],
    before: dict[str, int],
    status: str,
    *,
    now: float,
) -> BatchStatus:
    """Compare what the platform has paid with what it had paid before the order."""
    expected: dict[str, int] = {}
    for payee in payees:
        expected[payee.identity] = expected.get(payee.identity, int(before.get(payee.identity, 0))) + payee.cents
    try:
        paid = platform.paid_cents(payees)
    except UNANSWERED:
        return "sent" if status == "sent" else "uncertain"
    if all(paid.get(identity, 0) >= cents for identity, cents in expected.items()):
        with database.writing() as connection:
            settle_batch(connection, batch, "confirmed", now=now)
        return "confirmed"
    return "sent" if status == "sent" else "uncertain"
