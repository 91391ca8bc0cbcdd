"""The ledger balances to the cent, whatever happens to the process."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert, select
from tests.collect.panel.conftest import approve_all, fill
from tests.collect.panel.fake_platforms import FakePlatform, running

from beholder.collect.database.schema import Database
from beholder.collect.panel.ledger import UnbalancedError, post, read_balances
from beholder.collect.panel.payments import NewPayment, decide, payees_of, propose, settle_batch
from beholder.collect.panel.platforms.prolific import Prolific
from beholder.collect.panel.schema import open_panel, payments, transactions
from beholder.collect.panel.sending import send_payments
from beholder.errors import StageError, StorageError

KILLS = 20
WORKER = Path(__file__).with_name("killed_worker.py")


def test_by_hand(panel: Database) -> None:
    with panel.writing() as connection:
        assert post(connection, "1", {"study:a": -125, "rater:r": 125}, currency="USD", memo="", now=0.0)
        assert not post(connection, "1", {"study:a": -125, "rater:r": 125}, currency="USD", memo="", now=9.0)
        post(connection, "2", {"rater:r": -100, "transit:p": 100}, currency="USD", memo="", now=0.0)
        balances = read_balances(connection)
    assert balances.cents == {("USD", "study:a"): -125, ("USD", "rater:r"): 25, ("USD", "transit:p"): 100}
    assert (balances.of("rater", "USD"), balances.of("rater", "EUR")) == (25, 0)


def test_what_does_not_balance_is_never_written(panel: Database) -> None:
    for cents in ({"a": 1, "b": -2}, {"a": 0.5, "b": -0.5}):
        with pytest.raises(UnbalancedError), panel.writing() as connection:
            post(connection, "1", cents, currency="USD", memo="", now=0.0)  # type: ignore[arg-type]
    with panel.writing() as connection:
        post(connection, "1", {"a": 1, "b": -1}, currency="USD", memo="", now=0.0)
    with pytest.raises(UnbalancedError, match="was posted as"), panel.writing() as connection:
        post(connection, "1", {"a": 2, "b": -2}, currency="USD", memo="", now=0.0)
    with panel.reading() as connection:
        assert read_balances(connection).cents == {("USD", "a"): 1, ("USD", "b"): -1}


def test_a_broken_ledger_is_noticed(panel: Database) -> None:
    with panel.writing() as connection:
        connection.execute(insert(transactions).values(transaction="1", at=0.0, currency="USD", memo=""))
    with panel.reading() as connection, pytest.raises(StorageError, match="1 lack postings"):
        read_balances(connection)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=5), st.integers(0, 10**9))
def test_any_run_of_payments_balances(panel: Database, amounts: list[int], run: int) -> None:
    with panel.writing() as connection:
        if connection.scalar(select(payments.c.payment).limit(1)) is None:
            fill(connection, 1)
        news = [NewPayment("faces", f"{run}-{n}", "p-000", "bonus", x, "USD", "") for n, x in enumerate(amounts)]
        for new in news:
            propose(connection, new, now=0.0)
        before = read_balances(connection).of("rater", "USD")
        count = decide(connection, [new.key for new in news], by="ada", approve=True, now=0.0)
        balances = read_balances(connection)
    assert sum(balances.cents.values()) == 0
    assert balances.of("rater", "USD") - before == (sum(amounts) if count else 0)


def test_proposals_can_be_corrected_until_they_are_approved(panel: Database) -> None:
    with panel.writing() as connection:
        fill(connection, 1)
        new = NewPayment("faces", "s0", "p-000", "top-up", 10, "USD", "first")
        assert propose(connection, new, now=0.0)
        assert not propose(connection, new, now=1.0)
        better = NewPayment("faces", "s0", "p-000", "top-up", 12, "USD", "second")
        assert propose(connection, better, now=100.0)
        with pytest.raises(StageError, match="raters may object"):
            decide(connection, [new.key], by="ada", approve=True, now=200.0, grace_seconds=3600)
        assert decide(connection, [new.key], by="ada", approve=True, now=4000.0, grace_seconds=3600) == 1
        assert decide(connection, [new.key], by="ada", approve=True, now=4000.0) == 0
        assert not propose(connection, new, now=5000.0)
        row = connection.execute(select(payments)).one()
    assert (row.cents, row.status, row.approved_by) == (12, "approved", "ada")


def wait_for_calls(platform: FakePlatform, more: int) -> None:
    """Wait until a worker has called the platform so many times, at most for three seconds."""
    goal, until = platform.calls.total() + more, time.monotonic() + 3
    while platform.calls.total() < goal and time.monotonic() < until:
        time.sleep(0.001)


@pytest.mark.skipif(os.name == "nt", reason="no fork on Windows")
def test_twenty_kills_leave_a_balanced_ledger_and_no_payment_twice(tmp_path: Path) -> None:
    """A process that has imported everything forks workers; each approves and pays until it is killed."""
    raters = 60
    database = open_panel(tmp_path / "panel", create=True)
    with database.writing() as connection:
        fill(connection, raters)
    database.engine.dispose()
    with running(FakePlatform()) as platform:
        command = [sys.executable, str(WORKER), str(tmp_path / "panel"), platform.address, str(raters)]
        zygote = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert zygote.stdin is not None
        assert zygote.stdout is not None
        dice = random.Random(0)
        for _ in range(KILLS):
            zygote.stdin.write("fork\n")
            zygote.stdin.flush()
            child = int(zygote.stdout.readline())
            wait_for_calls(platform, dice.randint(1, 7))  # on a busy machine, time alone says nothing
            time.sleep(dice.uniform(0, 0.01))
            os.kill(child, signal.SIGKILL)
            assert zygote.stdout.readline().strip() == "dead"
            database = open_panel(tmp_path / "panel")
            with database.reading() as connection:
                balances = read_balances(connection)  # raises if any transaction is torn
            assert sum(balances.cents.values()) == 0
            database.engine.dispose()
        zygote.stdin.close()
        zygote.wait(10)
        zygote.stdout.close()
        database = open_panel(tmp_path / "panel")
        approve_all(database, raters, cents=125)
        payer = Prolific("secret", "remote", address=platform.address)
        outcomes = send_payments(database, payer, "faces", now=9.0)
        # killed after the decision to pay and before the order arrived: nobody but the researcher can say so
        for batch in [batch for batch, outcome in outcomes if outcome == "uncertain"]:
            with database.writing() as connection:
                assert not any(platform.paid[payee.identity] for payee in payees_of(connection, batch))
                settle_batch(connection, batch, "refused", now=10.0)
        for now in (11.0, 12.0):
            send_payments(database, payer, "faces", now=now)
        with database.reading() as connection:
            rows = connection.execute(select(payments)).all()
            balances = read_balances(connection)
        database.engine.dispose()
    assert platform.calls["pay"] > 1  # several workers came as far as paying
    assert set(platform.paid.values()) == {125}  # everybody once, though Prolific pays whenever it is told
    assert len(platform.paid) == len(rows) == raters
    assert {row.status for row in rows} <= {"sent", "confirmed"}
    assert balances.of("rater", "USD") == 0
    assert balances.of("study", "USD") == -125 * raters
