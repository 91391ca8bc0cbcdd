from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder import __version__
from beholder.tables.provenance import Plain, Provenance, file_hash

RECORD = Provenance("rank", {"draws": 2000, "level": 0.95, "slices": ["a", "b"]}, 3, {"labels": "aa"}, "1.0")

PLAIN: st.SearchStrategy[Plain] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def test_as_json_by_hand() -> None:
    assert RECORD.to_json() == (
        '{"inputs":{"labels":"aa"},"seed":3,"settings":{"draws":2000,"level":0.95,"slices":["a","b"]},'
        '"stage":"rank","version":"1.0"}'
    )


def test_the_version_is_the_packages() -> None:
    assert Provenance("rank", {}, 0, {}).version == __version__


@settings(max_examples=40, deadline=None)
@given(st.text(), st.dictionaries(st.text(), PLAIN), st.integers(0), st.dictionaries(st.text(), st.text()))
def test_is_read_back(stage: str, settings: dict[str, Plain], seed: int, inputs: dict[str, str]) -> None:
    record = Provenance(stage, settings, seed, inputs)
    assert Provenance.from_json(record.to_json()) == record


def test_the_order_of_settings_does_not_matter() -> None:
    first = Provenance("rank", {"a": 1, "b": 2}, 0, {"x": "1", "y": "2"})
    other = Provenance("rank", {"b": 2, "a": 1}, 0, {"y": "2", "x": "1"})
    assert first.to_json() == other.to_json()
    assert first.same_work(other, heed_version=True)


@pytest.mark.parametrize(
    "other",
    [
        replace(RECORD, stage="report"),
        replace(RECORD, settings={**RECORD.settings, "draws": 2001}),
        replace(RECORD, settings={**RECORD.settings, "new": None}),
        replace(RECORD, seed=4),
        replace(RECORD, inputs={"labels": "bb"}),
        replace(RECORD, inputs={}),
    ],
)
def test_other_work_is_not_the_same(other: Provenance) -> None:
    assert not RECORD.same_work(other, heed_version=False)
    assert not RECORD.same_work(other, heed_version=True)


def test_an_upgrade_matters_only_where_heeded() -> None:
    upgraded = replace(RECORD, version="2.0")
    assert RECORD.same_work(upgraded, heed_version=False)
    assert not RECORD.same_work(upgraded, heed_version=True)


def test_hash_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    # SHA-256 of nothing, a well-known value
    assert file_hash(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
