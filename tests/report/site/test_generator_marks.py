from itertools import pairwise

from beholder.report.charts.raters import SHAPES as EXCLUDED
from beholder.report.site.generator_marks import SHAPE_PATHS, SHAPES, generator_marks


def test_thirty_generators_have_marks_of_their_own() -> None:
    marks = list(generator_marks([str(n) for n in range(30)]).values())
    assert len(set(marks)) == 30


def test_neighbours_differ_in_colour_and_in_shape() -> None:
    marks = list(generator_marks([str(n) for n in range(40)]).values())
    for mark, following in pairwise(marks):
        assert mark.colour != following.colour
        assert mark.shape != following.shape


def test_every_shape_has_a_path_for_tables_and_keys() -> None:
    assert {*SHAPES, *EXCLUDED} <= set(SHAPE_PATHS)
