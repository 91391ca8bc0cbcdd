from collections.abc import Callable, Sequence

from beholder.report.sections.summary import findings
from beholder.report.tables.leaderboard import Board
from beholder.report.tables.raters import Crowd, Member

MakeBoard = Callable[..., Board]

THREE = {"a": 0.5, "b": 0.4, "c": 0.3}


def told(*boards: Board, every: Sequence[Board] = ()) -> tuple[str, ...]:
    return findings(boards, (*boards, *every))


def test_nothing_rated() -> None:
    assert told() == ("No generator has been rated yet.",)


def test_one_generator_has_no_rival(make_board: MakeBoard) -> None:
    assert told(make_board({"a": 0.5})) == ("Only a was judged, so there is nothing to compare it with.",)


def test_one_generator_a_question(make_board: MakeBoard) -> None:
    assert told(make_board({"a": 0.5}), make_board({"b": 3.0}, aspect="quality")) == (
        "Each question judged one generator only, so there is nothing to compare.",
    )


def test_all_told_apart_by_one_measure(make_board: MakeBoard) -> None:
    assert told(make_board(THREE)) == (
        "a ranks first.",
        "People told all 3 pairs of generators apart.",
    )


def test_the_same_first_by_all_measures(make_board: MakeBoard) -> None:
    boards = [make_board(THREE, aspect=aspect) for aspect in ("realism", "quality", "alignment")]
    assert told(*boards) == (
        "a ranks first by all three measures.",
        "People told all 3 pairs of generators apart by all three measures.",
    )


def test_measures_that_differ_and_a_pair_left_open(make_board: MakeBoard) -> None:
    realism = make_board(THREE, ranks={"b": (2, 3), "c": (2, 3)}, undecided={("b", "c"): 36})
    quality = make_board({"a": 3.0, "b": 4.0, "c": 2.0}, aspect="quality", question="opinion")
    assert told(realism, quality) == (
        "a ranks first by realism; b ranks first by quality.",
        "People told all 3 pairs of generators apart by quality, and 2 of 3 by realism.",
        "By realism, b and c cannot be told apart: about 36 more people would probably do it.",
    )


def test_one_more_person_is_one_person(make_board: MakeBoard) -> None:
    board = make_board(THREE, ranks={"b": (2, 3), "c": (2, 3)}, undecided={("b", "c"): 1})
    assert told(board)[-1] == "b and c cannot be told apart: about 1 more person would probably do it."


def test_a_shared_first_place_and_people_beyond_number(make_board: MakeBoard) -> None:
    undecided = {("a", "b"): 2500, ("b", "c"): None}
    board = make_board(THREE, ranks={"a": (1, 2), "b": (1, 3), "c": (2, 3)}, undecided=undecided)
    assert told(board) == (
        "a and b share the first place.",
        "People told 1 of 3 pairs of generators apart.",
        "a and b cannot be told apart: it would take more than 1,000 more people; "
        "b and c cannot be told apart: no difference was seen between them.",
    )


def test_many_open_pairs_are_counted(make_board: MakeBoard) -> None:
    rated = dict.fromkeys("abcd", 0.5)
    names = sorted(rated)
    undecided = {(x, y): 10 + place for place, x in enumerate(names) for y in names if x < y}
    board = make_board(rated, ranks=dict.fromkeys(names, (1, 4)), undecided=undecided)
    assert told(board) == (
        "four generators share the first place.",
        "People told none of the 6 pairs of generators apart.",
        "6 pairs cannot be told apart; the nearest to it are a and b: about 10 more people would probably do it.",
    )


def test_two_generators(make_board: MakeBoard) -> None:
    two = {"a": 0.5, "b": 0.4}
    apart = make_board(two)
    close = make_board(two, aspect="quality", ranks={"a": (1, 2), "b": (1, 2)}, undecided={("a", "b"): 5})
    assert told(apart)[1] == "People told the two generators apart."
    assert told(close)[1] == "People could not tell the two generators apart."
    assert told(apart, close)[1] == "People told the two generators apart by realism, but not by quality."


def test_one_aspect_of_two_questions_is_named_with_its_question(make_board: MakeBoard) -> None:
    first = make_board(THREE, aspect="quality", question="before")
    second = make_board({"a": 0.1, "b": 0.5, "c": 0.2}, aspect="quality", question="after")
    assert told(first, second)[0] == "a ranks first by before: quality; b ranks first by after: quality."


def test_images_that_pass_for_real(make_board: MakeBoard) -> None:
    fakes = make_board({"a": 0.762, "b": 0.14}, method="fake-error-rate")
    assert told(make_board(THREE), every=[fakes])[-1] == (
        "76 % of the images of a pass for real, and 14 % of those of b."
    )


def crowd(question: str, used: int, set_aside: int) -> Crowd:
    members = [Member(f"p{n}", n < used, (), 10, 1.0, 0.5, None) for n in range(used + set_aside)]
    return Crowd(question, used + set_aside, tuple(members), (), (), ())


def test_people_set_aside(make_board: MakeBoard) -> None:
    def last(*crowds: Crowd) -> str:
        board = make_board(THREE)
        return findings([board], [board], crowds)[-1]

    assert last(crowd("realism", 49, 11)) == "11 of 60 people were set aside."
    assert last(crowd("realism", 2, 1)) == "1 of 3 people was set aside."
    assert last(crowd("realism", 3, 0), crowd("opinion", 0, 0)) == "Nobody was set aside."
    assert last(crowd("realism", 49, 11), crowd("opinion", 60, 0)) == (
        "Screening set aside 11 of 60 people for realism and 0 of 60 for opinion."
    )


def test_planted_values_are_counted_and_explained(make_board: MakeBoard) -> None:
    board = make_board(THREE, planted={"a": 0.5, "b": 0.4, "c": 0.9})
    assert told(board)[-1] == (
        "What endlessly many honest people would say is known here, because the people are simulated: "
        "2 of 3 intervals hold it, where 95 % should."
    )
