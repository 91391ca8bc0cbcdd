from collections.abc import Callable, Sequence
from dataclasses import replace

from beholder.report.sections.summary import write_findings
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.raters import RaterPool, RaterSummary

MakeBoard = Callable[..., Board]

THREE = {"a": 0.5, "b": 0.4, "c": 0.3}


def findings(*boards: Board, every: Sequence[Board] = ()) -> tuple[str, ...]:
    return write_findings(boards, (*boards, *every))


def test_nothing_rated() -> None:
    assert findings() == ("No generator has been rated yet.",)


def test_one_generator_has_no_rival(make_board: MakeBoard) -> None:
    assert findings(make_board({"a": 0.5})) == ("Only a was judged, so there is nothing to compare it with.",)


def test_one_generator_per_question(make_board: MakeBoard) -> None:
    assert findings(make_board({"a": 0.5}), make_board({"b": 3.0}, aspect="quality")) == (
        "Each question judged one generator only, so there is nothing to compare.",
    )


def test_all_separated_by_one_measure(make_board: MakeBoard) -> None:
    assert findings(make_board(THREE)) == (
        "a ranks first.",
        "All 3 pairs of generators differ significantly.",
    )


def test_the_same_first_by_all_measures(make_board: MakeBoard) -> None:
    boards = [make_board(THREE, aspect=aspect) for aspect in ("realism", "quality", "alignment")]
    assert findings(*boards) == (
        "a ranks first by all three measures.",
        "All 3 pairs of generators differ significantly by all three measures.",
    )


def test_measures_that_differ_and_a_pair_left_open(make_board: MakeBoard) -> None:
    realism = make_board(THREE, ranks={"b": (2, 3), "c": (2, 3)}, undecided={("b", "c"): 36})
    quality = make_board({"a": 3.0, "b": 4.0, "c": 2.0}, aspect="quality", question="opinion")
    assert findings(realism, quality) == (
        "a ranks first by realism; b ranks first by quality.",
        "All 3 pairs of generators differ significantly by quality, and 2 of 3 by realism.",
        "By realism, b and c: not enough evidence to separate them yet; about 36 more raters.",
    )


def test_one_more_rater_is_singular(make_board: MakeBoard) -> None:
    board = make_board(THREE, ranks={"b": (2, 3), "c": (2, 3)}, undecided={("b", "c"): 1})
    assert findings(board)[-1] == "b and c: not enough evidence to separate them yet; about 1 more rater."


def test_an_undecided_first_place_and_raters_beyond_number(make_board: MakeBoard) -> None:
    undecided = {("a", "b"): 2500, ("b", "c"): None}
    board = make_board(THREE, ranks={"a": (1, 2), "b": (1, 3), "c": (2, 3)}, undecided=undecided)
    assert findings(board) == (
        "First place is undecided between a and b.",
        "1 of 3 pairs of generators differs significantly.",
        "a and b: not enough evidence to separate them yet; more than 1,000 more raters. "
        "b and c: not enough evidence to separate them yet; the observed difference is zero.",
    )


def test_many_open_pairs_are_counted(make_board: MakeBoard) -> None:
    rated = dict.fromkeys("abcd", 0.5)
    names = sorted(rated)
    undecided = {(x, y): 10 + place for place, x in enumerate(names) for y in names if x < y}
    board = make_board(rated, ranks=dict.fromkeys(names, (1, 4)), undecided=undecided)
    assert findings(board) == (
        "First place is undecided between four generators.",
        "None of the 6 pairs of generators differ significantly.",
        "There is not enough evidence to separate 6 pairs yet; the closest to it are a and b: "
        "about 10 more raters.",
    )


def test_two_generators(make_board: MakeBoard) -> None:
    two = {"a": 0.5, "b": 0.4}
    separated = make_board(two)
    close = make_board(two, aspect="quality", ranks={"a": (1, 2), "b": (1, 2)}, undecided={("a", "b"): 5})
    assert findings(separated)[1] == "The two generators differ significantly."
    assert findings(close) == (
        "First place is undecided between a and b.",
        "a and b: not enough evidence to separate them yet; about 5 more raters.",
    )
    assert findings(separated, close)[1:] == (
        "The two generators differ significantly by realism.",
        "By quality, a and b: not enough evidence to separate them yet; about 5 more raters.",
    )


def test_an_undecided_first_place_is_listed_by_estimate(make_board: MakeBoard) -> None:
    board = make_board({"a": 0.4, "b": 0.5}, ranks={"a": (1, 2), "b": (1, 2)}, undecided={("b", "a"): 5})
    assert findings(board)[0] == "First place is undecided between b and a."


def with_raters(board: Board, raters: int, **pair: float | None) -> Board:
    rows = tuple(replace(row, raters=raters) for row in board.rows)
    return replace(board, rows=rows, pairs=tuple(replace(each, **pair) for each in board.pairs))  # type: ignore[arg-type]


def test_few_raters_are_too_few_for_a_verdict(make_board: MakeBoard) -> None:
    board = make_board({"a": 0.5, "b": 0.4})
    assert findings(with_raters(board, 7))[0] == (
        "With 7 raters the study is too small for a verdict, which takes 8: what follows may change with the next "
        "rater."
    )
    assert findings(with_raters(board, 8))[0] == "a ranks first."


def test_below_five_raters_there_is_no_verdict_at_all(make_board: MakeBoard) -> None:
    board = make_board({"a": 0.5, "b": 0.4}, ranks={"a": (1, 2), "b": (1, 2)}, undecided={("a", "b"): None})
    assert findings(with_raters(board, 3, low=None, high=None, p_adjusted=None)) == (
        "With 3 raters the study is too small for confidence intervals, which take 5, and for a verdict, "
        "which takes 8: only estimates and counts are given.",
        "First place is undecided between a and b.",
    )


def test_one_aspect_of_two_questions_is_named_with_its_question(make_board: MakeBoard) -> None:
    first = make_board(THREE, aspect="quality", question="before")
    second = make_board({"a": 0.1, "b": 0.5, "c": 0.2}, aspect="quality", question="after")
    assert findings(first, second)[0] == "a ranks first by before: quality; b ranks first by after: quality."


def test_images_that_pass_for_real(make_board: MakeBoard) -> None:
    fakes = make_board({"a": 0.762, "b": 0.14}, method="fake-error-rate")
    assert findings(make_board(THREE), every=[fakes])[-1] == (
        "76 % of the images of a pass for real, and 14 % of those of b."
    )


def make_pool(question: str, used: int, excluded: int) -> RaterPool:
    summaries = [RaterSummary(f"p{n}", n < used, (), 10, 1.0, 0.5, None) for n in range(used + excluded)]
    return RaterPool(question, used + excluded, tuple(summaries), (), (), ())


def test_excluded_raters(make_board: MakeBoard) -> None:
    def last(*pools: RaterPool) -> str:
        board = make_board(THREE)
        return write_findings([board], [board], pools)[-1]

    assert last(make_pool("realism", 49, 11)) == "11 of 60 raters were excluded."
    assert last(make_pool("realism", 2, 1)) == "1 of 3 raters was excluded."
    assert last(make_pool("realism", 3, 0), make_pool("opinion", 0, 0)) == "No rater was excluded."
    assert last(make_pool("realism", 49, 11), make_pool("opinion", 60, 0)) == (
        "Screening excluded 11 of 60 raters for realism and 0 of 60 for opinion."
    )


def test_coverage_of_the_ground_truth_is_counted_and_explained(make_board: MakeBoard) -> None:
    board = make_board(THREE, true_ratings={"a": 0.5, "b": 0.4, "c": 0.9})
    assert findings(board)[-1] == (
        "The ground truth, the rating by infinitely many honest raters, is known here because the raters are "
        "simulated: 2 of 3 confidence intervals contain it, where 95 % should."
    )
