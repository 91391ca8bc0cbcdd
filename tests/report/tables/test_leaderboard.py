from collections.abc import Callable

from beholder.report.tables.leaderboard import Board, build_boards, format_board, select_headlines
from beholder.tables.catalogue import TABLES

MakeBoard = Callable[..., Board]


def test_rows_stand_by_rating_and_ranks_are_ranges(make_board: MakeBoard) -> None:
    board = make_board({"c": 0.2, "a": 0.4, "b": 0.3}, ranks={"a": (1, 1), "b": (2, 3), "c": (2, 3)})
    assert [(row.generator, row.rank) for row in board.rows] == [("a", "1"), ("b", "2–3"), ("c", "2–3")]


def test_equal_ratings_stand_by_name(make_board: MakeBoard) -> None:
    board = make_board({"z": 0.3, "y": 0.3})
    assert [row.generator for row in board.rows] == ["y", "z"]


def test_undecided_pairs_begin_with_the_nearest_to_a_verdict(make_board: MakeBoard) -> None:
    undecided = {("a", "b"): None, ("a", "c"): 90, ("b", "c"): 7}
    board = make_board({"a": 0.4, "b": 0.3, "c": 0.2}, undecided=undecided)
    assert [(p.generator, p.other, p.more_raters) for p in board.undecided] == [
        ("b", "c", 7),
        ("a", "c", 90),
        ("a", "b", None),
    ]


def test_ground_truth_and_whether_confidence_intervals_contain_it(make_board: MakeBoard) -> None:
    # intervals reach .05 to both sides
    board = make_board({"a": 0.4, "b": 0.3, "c": 0.2}, true_ratings={"a": 0.45, "b": 0.36})
    assert [row.true_rating for row in board.rows] == [0.45, 0.36, None]
    assert [row.covered for row in board.rows] == [True, False, None]


def test_headlines_leave_out_slices_and_secondary_measures() -> None:
    common: dict[str, object] = {"question": "q", "aspect": "realism", "generator": "a", "rating": 0.5}
    common |= {"rank_low": 1, "rank_high": 1, "answers": 1, "images": 1, "raters": 1, "level": 0.95}
    methods = [("fake-error-rate", "all"), ("error-rate", "photo"), ("error-rate", "all")]
    rows = [common | {"method": method, "slice": style} for method, style in methods]
    every = build_boards(TABLES["ratings"].frame(rows), TABLES["separations"].empty())
    assert len(every) == 3
    assert [(board.method, board.slice) for board in select_headlines(every)] == [("error-rate", "all")]
    (board,) = select_headlines(every)
    assert (board.rows[0].low, board.pairs, board.has_truth) == (None, (), False)


def test_the_text_is_aligned(make_board: MakeBoard) -> None:
    board = make_board(
        {"a": 0.462, "longer": 0.1}, ranks={"a": (1, 2), "longer": (1, 2)}, true_ratings={"a": 0.46}
    )
    assert format_board(board).splitlines() == [
        "realism — error rate, %",
        "rank  generator  error rate         95 % CI  raters  answers  images  ground truth",
        "──────────────────────────────────────────────────────────────────────────────────",
        "1–2   a              46.2 %  41.2 to 51.2 %      10    1,000       2        46.0 %",
        "1–2   longer         10.0 %   5.0 to 15.0 %      10    1,000       2             –",
    ]
