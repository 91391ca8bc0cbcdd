"""Payments as a list: the lines of Prolific's bulk bonus form, and a table for a bank or a colleague."""

import csv
import io
from collections.abc import Sequence

from beholder.collect.panel.payments import Payee

BANK_COLUMNS = ("payment", "recipient", "amount", "currency", "study", "reason")


def prolific_lines(payees: Sequence[Payee]) -> str:
    """Return ``participant,amount`` lines as Prolific's bulk bonus form takes them, one per participant.

    Args:
        payees: The payments; those of one participant are added up, because the form refuses an id twice.

    Returns:
        The text.

    Example:
        >>> payees = [Payee(f"p{cents}", "5f0", "s1", "study", cents, "GBP", "") for cents in (125, 5)]
        >>> prolific_lines(payees)
        '5f0,1.30'
    """
    cents: dict[str, int] = {}
    for payee in payees:
        cents[payee.identity] = cents.get(payee.identity, 0) + payee.cents
    return "\n".join(f"{identity},{_decimal(amount)}" for identity, amount in cents.items())


def bank_table(payees: Sequence[Payee]) -> str:
    """Return a CSV table with one row per payment; the payment's key is what makes a second transfer visible.

    Args:
        payees: The payments.

    Returns:
        The text, with a line of column names.

    Example:
        >>> print(bank_table([Payee("p1", "5f0", "s1", "study", 125, "GBP", "top-up")]), end="")
        payment,recipient,amount,currency,study,reason
        p1,5f0,1.25,GBP,study,top-up
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(BANK_COLUMNS)
    for payee in payees:
        row = (payee.payment, payee.identity, _decimal(payee.cents), payee.currency, payee.study, payee.reason)
        writer.writerow([_harmless(cell) for cell in row])
    return stream.getvalue()


def _decimal(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def _harmless(cell: str) -> str:
    """Keep a spreadsheet from running a cell as a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
