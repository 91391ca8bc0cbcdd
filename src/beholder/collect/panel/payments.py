"""Payments: proposed by the program, approved by a researcher, sent to a platform, confirmed by it.

    proposed ─► approved ─► sending ─► sent ─► confirmed
        └─► declined  ▲          │
                      └──────────┘  the platform refused: nothing was paid

Nothing is sent that nobody approved. A payment is known by a hash of study, session and kind: to propose it
again changes nothing. Money moves in the ledger when a payment is approved (it is owed), sent (the platform is
to pay it) and confirmed.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from beholder.collect.panel.ledger import post
from beholder.collect.panel.open_log import write_entry
from beholder.collect.panel.schema import batches, identities, payments, raters, work
from beholder.errors import StageError

STATUSES = ("proposed", "approved", "sending", "sent", "confirmed", "declined")
KINDS = ("base", "top-up", "bonus")

GRACE_SECONDS = 12 * 3600.0
"""After a proposal, in which reports can be frozen and raters can object (Fair Work)."""


@dataclass(frozen=True, slots=True)
class NewPayment:
    """A payment that is proposed."""

    study: str
    session: str
    rater: str
    kind: str
    cents: int
    currency: str
    reason: str

    @property
    def key(self) -> str:
        """The idempotency key: the same for the same study, session and kind."""
        return hashlib.sha256("\n".join((self.study, self.session, self.kind)).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Payee:
    """A payment on its way, with the platform's id of the rater."""

    payment: str
    identity: str
    session: str
    study: str
    cents: int
    currency: str
    reason: str
    submission: str = ""
    """the platform's id of the session, where it has one"""


def propose(connection: Connection, payment: NewPayment, *, now: float) -> bool:
    """Propose a payment; one that was proposed before is corrected while nobody has approved it.

    Args:
        connection: In a write transaction.
        payment: What is to be paid, and why.
        now: The time.

    Returns:
        Whether anything was written: not if it is already on its way, was declined, or is the same.
    """
    if payment.cents <= 0 or payment.kind not in KINDS:
        raise StageError(
            f"a payment is of {', '.join(KINDS)} and above 0 cents; found {payment.kind}, {payment.cents}"
        )
    earlier = connection.execute(select(payments).where(payments.c.payment == payment.key)).first()
    if earlier is None:
        connection.execute(
            insert(payments).values(
                payment=payment.key,
                study=payment.study,
                session=payment.session,
                rater=payment.rater,
                kind=payment.kind,
                cents=payment.cents,
                currency=payment.currency,
                reason=payment.reason,
                status="proposed",
                proposed=now,
            )
        )
        return True
    if earlier.status != "proposed" or earlier.cents == payment.cents:
        return False
    connection.execute(
        update(payments)
        .where(payments.c.payment == payment.key)
        .values(cents=payment.cents, reason=payment.reason, proposed=now)
    )
    return True


def decide(
    connection: Connection,
    chosen: Collection[str],
    *,
    by: str,
    approve: bool,
    now: float,
    grace_seconds: float = 0.0,
) -> int:
    """Approve or decline proposed payments, by a researcher's word.

    Args:
        connection: In a write transaction.
        chosen: Payments.
        by: The researcher.
        approve: Or decline.
        now: The time.
        grace_seconds: For which a proposal waits before it can be approved, so that raters can object and reports
            can be frozen.

    Returns:
        How many were decided now; those that were decided before do not count.
    """
    rows = [
        row
        for row in connection.execute(select(payments).where(payments.c.status == "proposed"))
        if row.payment in set(chosen)
    ]
    early = [row for row in rows if approve and now - row.proposed < grace_seconds]
    if early:
        hours = max(grace_seconds - (now - row.proposed) for row in early) / 3600
        raise StageError(
            f"{len(early)} payments were proposed less than {grace_seconds / 3600:g} h ago: raters may object. "
            f"Approve them in {hours:.1f} h, or without waiting: --no-grace"
        )
    for row in rows:
        status = "approved" if approve else "declined"
        connection.execute(
            update(payments)
            .where(payments.c.payment == row.payment)
            .values(status=status, approved_by=by, approved=now)
        )
        if approve:
            owed = {f"study:{row.study}": -row.cents, f"rater:{row.rater}": row.cents}
            post(connection, f"{row.payment}:approved", owed, currency=row.currency, memo=row.reason, now=now)
    if rows:
        cents = sum(row.cents for row in rows)
        detail = {"by": by, "payments": len(rows), "cents": cents, "approved": approve}
        write_entry(connection, "payments", detail, now=now)
    return len(rows)


def start_batch(connection: Connection, platform: str, study: str, *, now: float) -> str | None:
    """Collect the approved payments of a study to raters of a platform into a batch.

    Args:
        connection: In a write transaction.
        platform: Of the raters.
        study: Of the payments.
        now: The time.

    Returns:
        The batch, or ``None`` where nothing is to be paid.
    """
    rows = connection.execute(
        select(payments.c.payment, raters.c.simulated)
        .select_from(
            payments.join(identities, identities.c.rater == payments.c.rater).join(
                raters, raters.c.rater == payments.c.rater
            )
        )
        .where(payments.c.status == "approved", payments.c.study == study, identities.c.platform == platform)
        .order_by(payments.c.payment)
    ).all()
    chosen = [row.payment for row in rows if not row.simulated]
    if not chosen:
        return None
    batch = hashlib.sha256("\n".join([platform, study, repr(now), *chosen]).encode()).hexdigest()[:32]
    connection.execute(insert(batches).values(batch=batch, platform=platform, status="prepared", at=now))
    connection.execute(
        update(payments).where(payments.c.payment.in_(chosen)).values(status="sending", batch=batch)
    )
    return batch


def payees_of(connection: Connection, batch: str) -> tuple[Payee, ...]:
    """Return the payments of a batch with the ids of their raters.

    Args:
        connection: In any transaction.
        batch: Of which.

    Returns:
        The payments, in a fixed order.
    """
    rows: Sequence[Row[Any]] = connection.execute(
        select(payments, identities.c.identity, work.c.submission)
        .select_from(
            payments.join(identities, identities.c.rater == payments.c.rater).join(
                work, (work.c.study == payments.c.study) & (work.c.session == payments.c.session), isouter=True
            )
        )
        .where(payments.c.batch == batch)
        .order_by(payments.c.payment)
    ).all()
    return tuple(
        Payee(
            row.payment,
            row.identity,
            row.session,
            row.study,
            row.cents,
            row.currency,
            row.reason,
            row.submission or "",
        )
        for row in rows
    )


def settle_batch(connection: Connection, batch: str, outcome: str, *, now: float) -> int:
    """Note that a batch was sent or confirmed, or that the platform refused it, in payments and ledger.

    Args:
        connection: In a write transaction.
        batch: Which.
        outcome: ``sent``, ``confirmed`` or ``refused``; a refused one can be sent again.
        now: The time.

    Returns:
        The number of payments.
    """
    platform = connection.scalar(select(batches.c.platform).where(batches.c.batch == batch))
    if platform is None:
        raise StageError(f"there is no batch {batch}; `beholder panel pay` lists them")
    rows = connection.execute(select(payments).where(payments.c.batch == batch)).all()
    for row in rows:
        if outcome != "refused":
            moved = {f"rater:{row.rater}": -row.cents, f"transit:{platform}": row.cents}
            post(connection, f"{row.payment}:sent", moved, currency=row.currency, memo=row.reason, now=now)
        if outcome == "confirmed":
            moved = {f"transit:{platform}": -row.cents, f"paid:{platform}": row.cents}
            post(connection, f"{row.payment}:confirmed", moved, currency=row.currency, memo=row.reason, now=now)
    status = "approved" if outcome == "refused" else outcome
    linked = None if outcome == "refused" else batch
    connection.execute(update(payments).where(payments.c.batch == batch).values(status=status, batch=linked))
    connection.execute(update(batches).where(batches.c.batch == batch).values(status=outcome))
    return len(rows)
