"""What commands print."""

import weakref

import pytest

from beholder.cli import output
from beholder.cli.output import AT_A_TIME, show_json, show_json_with_rows, show_table
from beholder.images.lazy import Mapped


@pytest.mark.parametrize("number", [0, 1, 3, AT_A_TIME, AT_A_TIME + 1])
def test_rows_one_by_one_are_the_same_document(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"image": f"é\u2028\n {place}", "scores": [place, {"a": None}]} for place in range(number)]
    content: dict[str, object] = {"scorers": ["a"], "rows": [], "skipped": [{"image": "b"}]}
    show_json(content | {"rows": rows})
    expected = capsys.readouterr().out
    show_json_with_rows(content, "rows", iter(rows))
    assert capsys.readouterr().out == expected


class TestLongTables:
    def rows(self, number: int) -> list[list[str]]:
        return [[f"image-{place}.png", "9" * (1 + place % 7)] for place in range(number)]

    def test_parts_are_aligned_as_one_table(self, capsys: pytest.CaptureFixture[str]) -> None:
        rows = self.rows(output.A_PART + 5)
        show_table(["image", "score"], rows)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].split() == ["image", "score"]
        assert [line.split() for line in lines[1:]] == rows
        start = lines[0].index("score")
        assert all(line[start - 1] == " " and line[start] == "9" for line in lines[1:])

    def test_rows_wider_than_the_terminal_are_folded(self, capsys: pytest.CaptureFixture[str]) -> None:
        rows = [*self.rows(output.A_PART), ["wide" * output.WIDE, "1"]]
        show_table(["image", "score"], rows)
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= output.WIDE
        assert "".join(line.split(" ")[0] for line in lines[output.A_PART + 1 :]) == "wide" * output.WIDE

    def test_no_more_rows_than_those_of_a_part_are_built_at_a_time(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        held = weakref.WeakSet[Cells]()
        most = 0

        def build(place: int) -> Cells:
            nonlocal most
            row = Cells([str(place)])
            held.add(row)
            most = max(most, len(held))
            return row

        show_table(["number"], Mapped(build, range(3 * output.A_PART)))
        assert len(capsys.readouterr().out.splitlines()) == 3 * output.A_PART + 1
        assert most <= output.A_PART


class Cells(list[str]):
    """A row that can be watched."""

    __hash__ = object.__hash__  # type: ignore[assignment]
