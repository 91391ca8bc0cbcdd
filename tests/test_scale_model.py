"""The simulation behind docs/explanation/scale.md: it follows from its unit costs, and the page shows them."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.loose_modules import load_module

pytest.importorskip("simpy")

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "explanation" / "scale.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def model() -> ModuleType:
    return load_module(ROOT / "benchmarks" / "scale_model.py")


@pytest.fixture
def simulate(model: ModuleType) -> Callable[..., Any]:
    """Simulate so many raters at a site of so many hosts, cores and cores of the database."""

    def run(raters: int, *site: int, at_once: bool, seconds: float = 4.0, **more: float) -> Any:  # noqa: ANN401 - of the module
        costs = model.UnitCosts(answer_server=0.002, answer_database=0.0005, **more)
        return model.Simulation(model.Site(*site), costs, 1).run(raters, seconds, at_once=at_once)

    return run


def test_clients_that_never_wait_keep_the_cores_busy(simulate: Callable[..., Any]) -> None:
    # 2 ms of a host's core for each answer, and none of what follows takes as long: 500 answers a second and core
    for hosts, cores in ((1, 1), (1, 2), (2, 2)):
        outcome = simulate(64, hosts, cores, 4, at_once=True)
        assert outcome.rate == pytest.approx(500 * hosts * cores, rel=0.1)
        assert outcome.server_use == pytest.approx(1.0, abs=0.05)


def test_a_flush_is_shared_by_all_who_wait_for_it(simulate: Callable[..., Any]) -> None:
    # 20 ms each: were they taken one by one, 50 answers a second would be all
    outcome = simulate(64, 4, 4, 4, at_once=True, flush=0.02)
    assert outcome.rate > 1000
    assert outcome.p50_ms > 20


def test_raters_at_a_human_pace_leave_room_until_there_are_too_many(simulate: Callable[..., Any]) -> None:
    few, many = (simulate(raters, 1, 1, 2, at_once=False, seconds=20.0) for raters in (400, 8000))
    # 400 raters answer every 4 · e^(.5²/2) = 4.53 s: 88 a second, with 2 + 2 · 1 ms each .35 of a core
    assert few.rate == pytest.approx(400 / 4.53, rel=0.1)
    assert few.p99_ms < 100 < many.p50_ms


def test_a_larger_study_needs_no_smaller_site(model: ModuleType) -> None:
    sites = []
    for raters in (100, 2000, 8000):
        fitting = model.smallest_site(raters, model.UnitCosts(), 2.0, 1)
        assert fitting is not None
        site, outcome = fitting
        assert outcome.p99_ms < model.P99_MS
        sites.append((site.hosts, site.database_cores))
    assert sites == sorted(sites)
    assert sites[-1][0] > sites[0][0]


def test_the_command_prints_three_tables_and_the_page_has_what_does_not_depend_on_chance(
    model: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    model.main(["--seconds", "0.5", "--largest", "3"])
    tables = capsys.readouterr().out.strip().split("\n\n")
    assert [len(table.splitlines()) for table in tables] == [4, 3, 7]
    for row in tables[2].splitlines():
        assert row in PAGE


def test_the_page_states_the_unit_costs_of_the_simulation(model: ModuleType) -> None:
    costs, stated = model.UnitCosts(), dict[str, float]()
    for row in PAGE.splitlines():
        if row.startswith("| `"):
            name, number = row.split("|")[1:3]
            factor = {"ms": 1e-3, "µs": 1e-6}[number.split()[1]]
            stated[name.strip(" `")] = float(number.split()[0]) * factor
    measured = [name for name in vars(costs) if name not in ("served_image", "original", "features", "answer")]
    assert set(stated) == set(measured)
    for name, seconds in stated.items():
        assert getattr(costs, name) == pytest.approx(seconds), name
