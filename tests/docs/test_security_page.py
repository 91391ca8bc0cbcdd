"""The table of attacks names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "security.md"
NAMED = re.compile(r"`((?:[a-z_]+/)*test_\w+\.py)::(\w+)`")


def test_every_attack_has_a_test_that_exists() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("## Every attack and its test")[2]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 40
    for row in rows:
        named = NAMED.findall(row)
        assert named, row
        for file, test in named:
            path = next((ROOT / "tests" / "collect").rglob(file), None)
            assert path is not None, f"{file}: {row}"
            content = path.read_text(encoding="utf-8")
            assert re.search(rf"^ *(async )?def {test}\(", content, re.MULTILINE), row
