from pathlib import Path

import pytest
import vl_convert

from beholder.report.site import vega


@pytest.fixture
def bundled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Bundling, counted and done by nobody; the function's own memory is left out."""
    calls: list[str] = []

    def bundle(*, vl_version: str) -> str:
        calls.append(vl_version)
        return "the script"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setattr(vega, "vega_bundle", vega.vega_bundle.__wrapped__)
    return calls


def test_the_script_is_bundled_once(bundled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [vega.vega_bundle(), vega.vega_bundle()] == ["the script"] * 2
    assert len(bundled) == 1
    (cached,) = (tmp_path / "beholder").iterdir()
    assert cached.read_text(encoding="utf-8") == "the script"


def test_a_home_that_cannot_be_written_to_only_costs_time(
    bundled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert [vega.vega_bundle(), vega.vega_bundle()] == ["the script"] * 2
    assert len(bundled) == 2
