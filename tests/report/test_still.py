"""Still drawings, by a process of their own."""

import subprocess
from collections.abc import Iterator

import pytest
from tests.conftest import drawing_process

from beholder.report.charts.still import StillDrawer, draw_still

SPEC = {
    "data": {"values": [{"a": 1}, {"a": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}


@pytest.fixture(autouse=True)
def _by_a_process() -> Iterator[None]:
    with drawing_process():
        yield


def test_the_drawings_are_those_of_this_process_in_order() -> None:
    other = {**SPEC, "mark": "bar"}
    with StillDrawer() as drawer:
        drawer.begin([SPEC, other])
        assert drawer.drawings() == [draw_still(SPEC), draw_still(other)]


def test_a_chart_that_cannot_be_drawn_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with StillDrawer() as drawer:
        drawer.begin([{"mark": {"type": 3}}])
        with pytest.raises(subprocess.CalledProcessError):
            drawer.drawings()
    assert "Error" in capfd.readouterr().err
