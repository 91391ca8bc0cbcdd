"""A panel with a study, raters of both platforms, and payments to propose."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert

from beholder.collect.database.schema import Database
from beholder.collect.panel.payments import NewPayment, decide, propose
from beholder.collect.panel.schema import identities, open_panel, raters, studies, work

STUDY = "faces"


def fill(connection: Connection, count: int, platform: str = "prolific", *, seconds: float = 300.0) -> None:
    """Make a study with raters, each with one complete session of ``seconds`` and 68 cents of pay."""
    connection.execute(
        insert(studies).values(
            study=STUDY,
            folder="/nowhere",
            title="Faces",
            researcher="ada",
            currency="USD",
            minimum_hourly_cents=1200,
            added=0.0,
            platform_study="remote",
        )
    )
    for number in range(count):
        rater = f"p-{number:03d}"
        connection.execute(insert(raters).values(rater=rater, joined=0.0, simulated=False))
        connection.execute(insert(identities).values(rater=rater, platform=platform, identity=f"id{number}"))
        connection.execute(
            insert(work).values(
                study=STUDY,
                session=f"s{number}",
                rater=rater,
                question="q",
                kind="pair",
                status="complete",
                started=float(number),
                trials=30,
                active_seconds=seconds,
                pay_cents=68,
                gold=[1, 1, 0, 1],
                submission=f"assignment{number}",
            )
        )


def approve_all(database: Database, count: int, *, cents: int = 125) -> None:
    """Propose and approve a payment for each rater."""
    with database.writing() as connection:
        news = [NewPayment(STUDY, f"s{n}", f"p-{n:03d}", "top-up", cents, "USD", "why") for n in range(count)]
        for new in news:
            propose(connection, new, now=1.0)
        decide(connection, [new.key for new in news], by="ada", approve=True, now=2.0)


@pytest.fixture
def panel(tmp_path: Path) -> Database:
    """An empty panel."""
    return open_panel(tmp_path / "panel", create=True)


@pytest.fixture
def approved(panel: Database) -> Callable[..., Database]:
    """Make a panel in which so many payments are approved."""

    def make(count: int, platform: str = "prolific") -> Database:
        with panel.writing() as connection:
            fill(connection, count, platform)
        approve_all(panel, count)
        return panel

    return make
