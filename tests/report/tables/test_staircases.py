from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from beholder.report.charts.staircases import exposures_chart, traces_chart
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.staircases import ALL, MOST_TRACES, build_staircases
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


def test_raters_count_alike_however_many_blocks_they_did() -> None:
    # p: (100 + 300)/2 = 200; r: 300. Mean 250, s = 70.71, s/√2 = 50, t(.975, 1) = 12.7062: 250 ± 635.31
    rows = [block("p", 0, 100), block("p", 1, 300, converged=False), block("r", 0, 300)]
    staircases = build_staircases(
        "q", TABLES["thresholds"].frame(rows), trials(("p", 0, [500.0])), ["p", "r"], (), 0.95
    )
    assert staircases is not None
    (row,) = staircases.generators
    assert (row.raters, row.blocks, row.converged) == (2, 3, 2)
    assert row.at_shortest == pytest.approx(0.1)
    assert row.modal.value == 250
    assert row.modal.low == pytest.approx(250 - 635.31, abs=0.01)
    assert row.threshold.value is None


def test_what_is_rated_has_the_interval_of_its_board(make_board: MakeBoard) -> None:
    board = make_board({"a": 412.0}, method="modal-exposure")
    frame = TABLES["thresholds"].frame([block("p", 0, 400), block("r", 0, 424)])
    staircases = build_staircases("q", frame, trials(("p", 0, [500.0])), ["p", "r"], [board], 0.95)
    assert staircases is not None
    modal = staircases.generators[0].modal
    assert (modal.value, modal.low, modal.high) == (412.0, 411.95, 412.05)


def test_excluded_raters_are_shown_and_do_not_count() -> None:
    frame = TABLES["thresholds"].frame([block("p", 0, 100), block("bad", 0, 900)])
    staircases = build_staircases("q", frame, trials(("p", 0, [500.0])), ["p"], (), 0.95)
    assert staircases is not None
    assert [(rater.rater, rater.modal, rater.used) for rater in staircases.raters] == [
        ("bad", 900, False),
        ("p", 100, True),
    ]
    assert (staircases.generators[0].modal.value, staircases.generators[0].modal.low) == (100, None)
    chart = exposures_chart(staircases, ["a"], {}, "exposures")
    assert chart.alt == "Modal exposure of each rater, and means: a 100 ms over 1 rater."


def test_traces_run_from_the_shortest_to_the_longest_block_with_the_median_of_all() -> None:
    raters = [f"p{n:02d}" for n in range(20)]
    frame = TABLES["thresholds"].frame([block(name, 0, 100 + n) for n, name in enumerate(raters)])
    paths = [(name, 0, [500.0, 490.0 + n]) for n, name in enumerate(raters)]
    staircases = build_staircases("q", frame, trials(*paths, ("p00", 1, [1.0])), raters, (), 0.95)
    assert staircases is not None
    (traces,) = staircases.traces
    assert len(traces.paths) == MOST_TRACES
    assert (traces.paths[0], traces.paths[-1]) == ((500.0, 490.0), (500.0, 509.0))
    assert traces.median == (500.0, float(np.median([490.0 + n for n in range(20)])))
    chart = traces_chart(traces, "#123456", (100, 1000), "traces")
    assert chart.alt == "Staircases of a: the median exposure of 20 blocks goes from 500 to 500 ms in 2 trials."


def test_blocks_of_several_generators_stand_together() -> None:
    frame = TABLES["thresholds"].frame([block("p", 0, 100, generator=None), block("r", 0, 100, generator=None)])
    staircases = build_staircases("q", frame, trials(("p", 0, [500.0])), ["p", "r"], (), 0.95)
    assert staircases is not None
    assert [row.generator for row in staircases.generators] == [ALL]
    assert build_staircases("other", frame, trials(("p", 0, [500.0])), ["p"], (), 0.95) is None
