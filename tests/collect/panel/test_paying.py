"""Payments through platforms that answer, refuse, or fall silent after they have paid."""

from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest
from sqlalchemy import select
from tests.collect.panel.fake_platforms import FakePlatform, running

from beholder.collect.database.schema import Database
from beholder.collect.panel.ledger import read_balances
from beholder.collect.panel.payments import Payee, payees_of, settle_batch
from beholder.collect.panel.platforms.mturk import MTurk
from beholder.collect.panel.platforms.payment_list import bank_table, prolific_lines
from beholder.collect.panel.platforms.prolific import Prolific
from beholder.collect.panel.platforms.signature import AwsKeys, sign_request
from beholder.collect.panel.schema import batches, payments
from beholder.collect.panel.sending import RefusedPaymentError, send_payments

Approved = Callable[..., Database]
KEYS = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")


def prolific(platform: FakePlatform) -> Prolific:
    return Prolific("secret", "remote", address=platform.address, seconds=5)


def statuses(database: Database) -> set[str]:
    with database.reading() as connection:
        return set(connection.scalars(select(payments.c.status)))


class TestProlific:
    def test_pays_and_confirms(self, approved: Approved) -> None:
        database = approved(3)
        with running(FakePlatform()) as platform:
            ((batch, first),) = send_payments(database, prolific(platform), "faces", now=3.0)
            assert (first, statuses(database)) == ("sent", {"sent"})
            assert send_payments(database, prolific(platform), "faces", now=4.0) == [(batch, "confirmed")]
            assert send_payments(database, prolific(platform), "faces", now=5.0) == []
        assert platform.paid == {"id0": 125, "id1": 125, "id2": 125}
        assert platform.calls["pay"] == 1
        with database.reading() as connection:
            balances = read_balances(connection)
        assert (balances.of("paid", "USD"), balances.of("transit", "USD"), balances.of("rater", "USD")) == (
            375,
            0,
            0,
        )

    def test_silence_after_paying_never_pays_twice(self, approved: Approved) -> None:
        database = approved(3)
        with running(FakePlatform(silent_after=1)) as platform:
            ((batch, outcome),) = send_payments(database, prolific(platform), "faces", now=3.0)
            assert (outcome, statuses(database)) == ("uncertain", {"sending"})
            assert send_payments(database, prolific(platform), "faces", now=4.0) == [(batch, "confirmed")]
        assert (platform.calls["pay"], set(platform.paid.values())) == (1, {125})

    def test_silence_without_a_trace_waits_for_a_word(self, approved: Approved) -> None:
        database = approved(2)
        with running(FakePlatform(silent_after=1)) as platform:
            ((batch, _),) = send_payments(database, prolific(platform), "faces", now=3.0)
            platform.paid.clear()  # the platform lists nothing: it may still come
            for now in (4.0, 5.0):
                assert send_payments(database, prolific(platform), "faces", now=now) == [(batch, "uncertain")]
            assert platform.calls["pay"] == 1
            with database.writing() as connection:
                settle_batch(connection, batch, "refused", now=6.0)
            ((other, outcome),) = send_payments(database, prolific(platform), "faces", now=7.0)
        assert (other != batch, outcome, platform.calls["pay"]) == (True, "sent", 2)

    def test_a_refusal_can_be_repeated(self, approved: Approved) -> None:
        database = approved(2)
        with running(FakePlatform(refuses=True)) as platform:
            with pytest.raises(RefusedPaymentError, match=r"403.*not enough money.*Nothing was paid"):
                send_payments(database, prolific(platform), "faces", now=3.0)
            assert statuses(database) == {"approved"}
            platform.refuses = False
            assert [outcome for _, outcome in send_payments(database, prolific(platform), "faces", now=4.0)] == [
                "sent"
            ]

    def test_a_server_that_is_not_there_leaves_it_for_later(self, approved: Approved) -> None:
        database = approved(1)
        with pytest.raises(httpx.ConnectError):
            send_payments(database, Prolific("secret", "x", address="http://127.0.0.1:9"), "faces", now=3.0)
        with database.reading() as connection:
            assert connection.scalar(select(batches.c.status)) == "prepared"  # nothing was paid, it starts again
        with running(FakePlatform()) as platform:
            assert [outcome for _, outcome in send_payments(database, prolific(platform), "faces", now=4.0)] == [
                "sent"
            ]
        assert platform.paid == {"id0": 125}


class TestMTurk:
    def test_silence_is_answered_by_the_same_token(self, approved: Approved) -> None:
        database = approved(3, "mturk")
        with running(FakePlatform(silent_after=1)) as platform:
            payer = MTurk(KEYS, address=platform.address, seconds=5)
            ((batch, outcome),) = send_payments(database, payer, "faces", now=3.0)
            assert outcome == "uncertain"
            assert send_payments(database, payer, "faces", now=4.0) == [(batch, "sent")]
            assert send_payments(database, payer, "faces", now=5.0) == [(batch, "confirmed")]
        assert platform.paid == {"id0": 125, "id1": 125, "id2": 125}
        assert platform.calls["SendBonus"] == 4  # the first was told twice, and paid once

    def test_what_mturk_cannot_pay(self) -> None:
        payer = MTurk(KEYS, address="http://127.0.0.1:9")
        with pytest.raises(RefusedPaymentError, match="1 sessions have none"):
            payer.prepare((Payee("p", "id", "s", "faces", 1, "USD", "why"),))
        with pytest.raises(RefusedPaymentError, match="USD; found EUR"):
            payer.prepare((Payee("p", "id", "s", "faces", 1, "EUR", "why", "assignment"),))

    @pytest.mark.parametrize(
        ("method", "signature"),
        [
            ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ],
    )
    def test_signatures_are_those_of_the_published_test_suite(self, method: str, signature: str) -> None:
        """``get-vanilla`` and ``post-vanilla`` of Amazon's test suite for Signature Version 4."""
        moment = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
        host = {"Host": "example.amazonaws.com"}
        signed = sign_request(KEYS, method, "/", host, b"", region="us-east-1", service="service", moment=moment)
        assert signed["authorization"].endswith(f"Signature={signature}")

    def test_the_secret_is_not_printed(self) -> None:
        assert KEYS.secret not in repr(KEYS)


def test_lists(approved: Approved) -> None:
    database = approved(2)
    with running(FakePlatform()) as platform:
        ((batch, _),) = send_payments(database, prolific(platform), "faces", now=3.0)
    with database.reading() as connection:
        payees = payees_of(connection, batch)
    assert sorted(prolific_lines(payees).splitlines()) == ["id0,1.25", "id1,1.25"]
    assert (
        bank_table([Payee("p", "=SUM(A1)", "s", "faces", 5, "USD", "why")]).splitlines()[1].startswith("p,'=SUM")
    )
