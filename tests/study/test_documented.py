"""Every protocol and every kind is explained in ``docs/reference/protocols.md``."""

from pathlib import Path

import pytest

from beholder.study.kinds.catalogue import KINDS
from beholder.study.protocols.catalogue import PROTOCOLS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "protocols.md"


@pytest.mark.parametrize("name", [*PROTOCOLS, *KINDS])
def test_is_named_on_the_page(name: str) -> None:
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8"), f"{PAGE.name} does not mention `{name}`"
