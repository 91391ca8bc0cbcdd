"""Bonuses at Amazon Mechanical Turk, by plain signed requests: no SDK is needed for three operations.

``SendBonus`` takes a ``UniqueRequestToken``: the same token, sent twice, pays once, and the second answer is an
error that says so. The token is the payment's own key.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from beholder.collect.panel.payments import Payee
from beholder.collect.panel.platforms.signature import AwsKeys, sign_request
from beholder.collect.panel.sending import RefusedPaymentError

ADDRESS = "https://mturk-requester.us-east-1.amazonaws.com"
SANDBOX = "https://mturk-requester-sandbox.us-east-1.amazonaws.com"
REGION, SERVICE = "us-east-1", "mturk-requester"
TARGET = "MTurkRequesterServiceV20170117"
SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Failure:
    status: int
    message: str


class MTurk:
    """MTurk's interface.

    Args:
        keys: Of the requester's account.
        address: Of the interface, or of the sandbox.
        seconds: To wait for an answer.
    """

    name = "mturk"
    is_repeatable = True

    def __init__(self, keys: AwsKeys, *, address: str = ADDRESS, seconds: float = SECONDS) -> None:
        self._keys = keys
        self._client = httpx.Client(base_url=address, timeout=httpx.Timeout(seconds))

    def prepare(self, payees: tuple[Payee, ...]) -> str:
        """Check that every payment has an assignment; nothing is announced to MTurk."""
        without = [payee.session for payee in payees if not payee.submission]
        if without:
            raise RefusedPaymentError(
                f"MTurk pays bonuses for assignments; {len(without)} sessions have none: {', '.join(without[:5])}"
            )
        other = sorted({payee.currency for payee in payees} - {"USD"})
        if other:
            raise RefusedPaymentError(f"MTurk pays in USD; found {', '.join(other)}")
        return "tokens"

    def pay(self, reference: str, payees: tuple[Payee, ...]) -> None:  # noqa: ARG002 - a token for each payment
        """Send each bonus; one that was sent before counts as sent."""
        for payee in payees:
            failure = self._call(
                "SendBonus",
                {
                    "WorkerId": payee.identity,
                    "AssignmentId": payee.submission,
                    "BonusAmount": f"{payee.cents // 100}.{payee.cents % 100:02d}",
                    "Reason": payee.reason,
                    "UniqueRequestToken": payee.payment,
                },
            )[1]
            if failure is not None and not _was_sent_before(failure):
                raise httpx.ReadError(f"MTurk refused one of {len(payees)} bonuses: {failure.message}")

    def paid_cents(self, payees: tuple[Payee, ...]) -> dict[str, int]:
        """Sum the bonuses of the assignments, by worker."""
        cents = {payee.identity: 0 for payee in payees}
        for payee in {payee.submission: payee for payee in payees}.values():
            content, failure = self._call(
                "ListBonusPayments", {"AssignmentId": payee.submission, "MaxResults": 100}
            )
            if failure is not None:
                raise RefusedPaymentError(f"MTurk refused to list bonuses: {failure.message}. Nothing was paid.")
            for bonus in content.get("BonusPayments", ()):
                whole, _, part = str(bonus["BonusAmount"]).partition(".")
                cents[payee.identity] += int(whole) * 100 + int((part + "00")[:2])
        return cents

    def _call(self, operation: str, content: dict[str, Any]) -> tuple[dict[str, Any], _Failure | None]:
        body = json.dumps(content).encode()
        headers = {
            "content-type": "application/x-amz-json-1.1",
            "host": self._client.base_url.netloc.decode(),
            "x-amz-target": f"{TARGET}.{operation}",
        }
        signed = sign_request(
            self._keys, "POST", "/", headers, body, region=REGION, service=SERVICE, moment=datetime.now(UTC)
        )
        response = self._client.post("/", content=body, headers=signed)
        if response.status_code >= 500:
            raise httpx.ReadError(f"MTurk answered {response.status_code}")
        answer: dict[str, Any] = response.json() if response.content else {}
        if response.status_code >= 400:
            return {}, _Failure(response.status_code, str(answer.get("Message", response.text))[:300])
        return answer, None


def _was_sent_before(failure: _Failure) -> bool:
    """Whether the error says that a bonus with this token exists."""
    return "already" in failure.message.lower() or "idempot" in failure.message.lower()
