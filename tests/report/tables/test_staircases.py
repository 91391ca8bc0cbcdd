from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from beholder.report.charts.staircases import places_chart, traces_chart
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.staircases import ALL, MOST_TRACES, staircases
from beholder.tables.catalogue import TABLES

MakeBoard = Callable[..., Board]
Row = dict[str, object]


def block(rater: str, number: int, modal: float, generator: str | None = "a", **more: object) -> Row:
    return {
        "question": "q",
        "rater": rater,
        "session": f"s-{rater}",
        "block": number,
        "generator": generator,
        "answers": 10,
        "right_share": 0.75,
        "modal_ms": modal,
        "reversals": 5,
        "floor_share": 0.1,
        "ceiling_share": 0.0,
        "converged": True,
        **more,
    }


def trials(*paths: tuple[str, int, list[float]]) -> pl.DataFrame:
    rows = [
        {"question": "q", "rater": rater, "session": f"s-{rater}", "block": number, "position": place, "ms": ms}
        | {"right": True}
        for rater, number, path in paths
        for place, ms in enumerate(path)
    ]
    return pl.DataFrame(rows)


def test_people_count_alike_however_many_blocks_they_did() -> None:
    # p: (100 + 300)/2 = 200; r: 300. Mean 250, s = 70.71, s/√2 = 50, t(.975, 1) = 12.7062: 250 ± 635.31
    rows = [block("p", 0, 100), block("p", 1, 300, converged=False), block("r", 0, 300)]
    found = staircases("q", TABLES["thresholds"].frame(rows), trials(("p", 0, [500.0])), ["p", "r"], (), 0.95)
    assert found is not None
    (settled,) = found.settled
    assert (settled.people, settled.blocks, settled.settled) == (2, 3, 2)
    assert settled.floor == pytest.approx(0.1)
    assert settled.modal.value == 250
    assert settled.modal.low == pytest.approx(250 - 635.31, abs=0.01)
    assert settled.threshold.value is None


def test_what_is_rated_has_the_interval_of_its_board(make_board: MakeBoard) -> None:
    board = make_board({"a": 412.0}, method="modal-exposure")
    frame = TABLES["thresholds"].frame([block("p", 0, 400), block("r", 0, 424)])
    found = staircases("q", frame, trials(("p", 0, [500.0])), ["p", "r"], [board], 0.95)
    assert found is not None
    modal = found.settled[0].modal
    assert (modal.value, modal.low, modal.high) == (412.0, 411.95, 412.05)


def test_people_set_aside_have_a_place_and_no_say() -> None:
    frame = TABLES["thresholds"].frame([block("p", 0, 100), block("bad", 0, 900)])
    found = staircases("q", frame, trials(("p", 0, [500.0])), ["p"], (), 0.95)
    assert found is not None
    assert [(one.rater, one.modal, one.used) for one in found.people] == [("bad", 900, False), ("p", 100, True)]
    assert (found.settled[0].modal.value, found.settled[0].modal.low) == (100, None)
    chart = places_chart(found, ["a"], {}, "places")
    assert chart.alt == "Modal exposure of each person, and means: a 100 ms over 1 people."


def test_traces_run_from_the_shortest_to_the_longest_block_with_the_median_of_all() -> None:
    raters = [f"p{n:02d}" for n in range(20)]
    frame = TABLES["thresholds"].frame([block(name, 0, 100 + n) for n, name in enumerate(raters)])
    paths = [(name, 0, [500.0, 490.0 + n]) for n, name in enumerate(raters)]
    found = staircases("q", frame, trials(*paths, ("p00", 1, [1.0])), raters, (), 0.95)
    assert found is not None
    (traces,) = found.traces
    assert len(traces.shown) == MOST_TRACES
    assert (traces.shown[0], traces.shown[-1]) == ((500.0, 490.0), (500.0, 509.0))
    assert traces.middle == (500.0, float(np.median([490.0 + n for n in range(20)])))
    chart = traces_chart(traces, "#123456", (100, 1000), "traces")
    assert chart.alt == "Staircases of a: the median exposure of 20 blocks goes from 500 to 500 ms in 2 trials."


def test_blocks_of_several_generators_stand_together() -> None:
    frame = TABLES["thresholds"].frame([block("p", 0, 100, generator=None), block("r", 0, 100, generator=None)])
    found = staircases("q", frame, trials(("p", 0, [500.0])), ["p", "r"], (), 0.95)
    assert found is not None
    assert [one.generator for one in found.settled] == [ALL]
    assert staircases("other", frame, trials(("p", 0, [500.0])), ["p"], (), 0.95) is None
