from collections.abc import Callable

import pytest

from beholder.report.tables.hits import build_hits
from beholder.report.tables.leaderboard import Board
from beholder.tables.catalogue import TABLES

MakeBoard = Callable[..., Board]


def test_hits_turn_the_board_around_and_false_alarms_are_over_real_images(make_board: MakeBoard) -> None:
    # credits .1 and .3: mean .2, s = .1414, s/√2 = .1, t(.975, 1) = 12.7: the interval ends with the scale
    board = make_board({"a": 0.7}, question="sweep", aspect="realism", method="pass-rate")
    images = TABLES["images"].frame(
        [
            {"image": name, "path": name, "generator": "real", "real": True, "gold": False}
            | {"width": 1, "height": 1, "sha256": "x"}
            for name in ("x", "y")
        ]
    )
    labels = TABLES["labels"].frame(
        [
            {"question": "sweep", "aspect": "realism", "method": "credit", "image": name, "value": value}
            | {"answers": 5, "raters": 5}
            for name, value in (("x", 0.1), ("y", 0.3))
        ]
    )
    generated, real = build_hits(board, labels.lazy(), images)
    assert [generated.rate, generated.low, generated.high] == pytest.approx([0.3, 0.25, 0.35])
    assert [real.rate, real.low, real.high] == pytest.approx([0.2, 0.0, 1.0])
    assert (real.real, real.images) == (True, 2)
    assert [rate.generator for rate in build_hits(board, TABLES["labels"].empty().lazy(), images)] == ["a"]
