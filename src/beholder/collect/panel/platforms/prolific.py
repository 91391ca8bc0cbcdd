"""Bonus payments at Prolific: a bulk payment is set up, and then paid.

To pay is not idempotent there: told twice, Prolific pays twice (its reference says so). So it is told once, and
an order without an answer is looked up among the bonuses of the study's submissions.
"""

from typing import Any

import httpx

from beholder.collect.panel.payments import Payee
from beholder.collect.panel.platforms.payment_list import prolific_lines
from beholder.collect.panel.sending import RefusedPaymentError

ADDRESS = "https://api.prolific.com"
SECONDS = 30.0


class Prolific:
    """Prolific's interface, for one study there.

    Args:
        token: Of the researcher's account.
        study: The study's id at Prolific.
        address: Of the interface.
        seconds: To wait for an answer.
    """

    name = "prolific"
    is_repeatable = False

    def __init__(self, token: str, study: str, *, address: str = ADDRESS, seconds: float = SECONDS) -> None:
        self._study = study
        self._client = httpx.Client(
            base_url=address, headers={"Authorization": f"Token {token}"}, timeout=httpx.Timeout(seconds)
        )

    def prepare(self, payees: tuple[Payee, ...]) -> str:
        """Set up a bulk payment, which pays nothing yet; return its id."""
        content = {"study_id": self._study, "csv_bonuses": prolific_lines(payees)}
        return str(_answer(self._client.post("/api/v1/submissions/bonus-payments/", json=content))["id"])

    def pay(self, reference: str, payees: tuple[Payee, ...]) -> None:  # noqa: ARG002 - they are in the bulk payment
        """Pay the bulk payment."""
        _answer(self._client.post(f"/api/v1/bulk-bonus-payments/{reference}/pay/"))

    def paid_cents(self, payees: tuple[Payee, ...]) -> dict[str, int]:
        """Sum the bonuses of each participant over the study's submissions, page by page."""
        identities = {payee.identity for payee in payees}
        cents = dict.fromkeys(identities, 0)
        page: str | None = f"/api/v1/studies/{self._study}/submissions/"
        while page:
            content = _answer(self._client.get(page))
            for submission in content["results"]:
                participant = str(submission["participant_id"])
                if participant in identities:
                    cents[participant] += sum(int(amount) for amount in submission.get("bonus_payments") or ())
            page = (content.get("_links") or {}).get("next", {}).get("href")
        return cents


def _answer(response: httpx.Response) -> dict[str, Any]:
    """Return the answer; a refusal is a :class:`RefusedPaymentError`, a server fault counts as no answer."""
    if response.status_code >= 500:
        raise httpx.ReadError(f"Prolific answered {response.status_code}")
    if response.status_code >= 400:
        raise RefusedPaymentError(
            f"Prolific refused ({response.status_code}): {response.text[:300]}. Nothing was paid."
        )
    content: dict[str, Any] = response.json() if response.content else {}
    return content
