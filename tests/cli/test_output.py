"""What commands print."""

import pytest

from beholder.cli.output import AT_A_TIME, show_json, show_json_with_rows


@pytest.mark.parametrize("number", [0, 1, 3, AT_A_TIME, AT_A_TIME + 1])
def test_rows_one_by_one_are_the_same_document(number: int, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"image": f"é\u2028\n {place}", "scores": [place, {"a": None}]} for place in range(number)]
    content: dict[str, object] = {"scorers": ["a"], "rows": [], "skipped": [{"image": "b"}]}
    show_json(content | {"rows": rows})
    expected = capsys.readouterr().out
    show_json_with_rows(content, "rows", iter(rows))
    assert capsys.readouterr().out == expected
