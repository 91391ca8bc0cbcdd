"""The ledger of a panel: double entry, whole cents, each transaction once.

Accounts: ``study:NAME`` is what a study has spent (negative), ``rater:NAME`` what is owed to a rater,
``transit:NAME`` what a platform was told to pay, ``paid:NAME`` what it has confirmed. The postings of a
transaction sum to 0, so the sum over all accounts is 0 at any time; a transaction is written with all its
postings or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from beholder.collect.panel.schema import postings, transactions
from beholder.errors import BeholderError, StorageError


class UnbalancedError(BeholderError):
    """A transaction whose postings do not sum to 0: a fault of the program, never written."""


@dataclass(frozen=True, slots=True)
class Balances:
    """What is on each account, by currency."""

    cents: Mapping[tuple[str, str], int]
    """(currency, account) -> cents"""

    def of(self, kind: str, currency: str) -> int:
        """Return the sum over all accounts of a kind, such as ``rater``."""
        return sum(
            cents
            for (coin, account), cents in self.cents.items()
            if coin == currency and account.startswith(f"{kind}:")
        )


def post(
    connection: Connection, key: str, cents: Mapping[str, int], *, currency: str, memo: str, now: float
) -> bool:
    """Write a transaction, unless its key was used before.

    Args:
        connection: In a write transaction.
        key: The idempotency key.
        cents: By account; they must sum to 0.
        currency: Of all of them.
        memo: What it is for.
        now: The time.

    Returns:
        Whether it was written now; an earlier transaction of the key must have had the same postings.
    """
    if sum(cents.values()) != 0 or not all(isinstance(amount, int) for amount in cents.values()):
        raise UnbalancedError(f"{key}: postings must be whole cents and sum to 0; found {dict(cents)}")
    earlier = {
        row.account: row.cents for row in connection.execute(select(postings).where(postings.c.transaction == key))
    }
    if earlier:
        if earlier != dict(cents):
            raise UnbalancedError(f"{key} was posted as {earlier}, and is now to be {dict(cents)}")
        return False
    connection.execute(insert(transactions).values(transaction=key, at=now, currency=currency, memo=memo))
    connection.execute(
        insert(postings),
        [{"transaction": key, "account": account, "cents": amount} for account, amount in cents.items()],
    )
    return True


def read_balances(connection: Connection) -> Balances:
    """Return the balances; an error if any transaction, or all of them together, do not sum to 0.

    Args:
        connection: In any transaction.

    Returns:
        The balances.
    """
    joined = postings.join(transactions, transactions.c.transaction == postings.c.transaction)
    total = func.sum(postings.c.cents)
    broken = connection.execute(
        select(postings.c.transaction, total).group_by(postings.c.transaction).having(total != 0)
    ).all()
    empty = connection.execute(
        select(transactions.c.transaction).where(
            transactions.c.transaction.not_in(select(postings.c.transaction).distinct())
        )
    ).all()
    if broken or empty:
        raise StorageError(
            f"the ledger does not balance: {len(broken)} transactions do not sum to 0, {len(empty)} lack postings"
        )
    rows = connection.execute(
        select(transactions.c.currency, postings.c.account, total.label("cents"))
        .select_from(joined)
        .group_by(transactions.c.currency, postings.c.account)
    )
    return Balances({(row.currency, row.account): int(row.cents) for row in rows})
