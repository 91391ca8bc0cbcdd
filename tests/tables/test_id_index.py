import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.tables.id_index import NOWHERE, Enumerated, IdIndex
from beholder.tables.keys import Keys

TEXTS = st.text("abé", max_size=3)


@given(st.lists(TEXTS, unique=True, max_size=60), st.lists(TEXTS | st.none(), max_size=60))
def test_places_are_those_of_a_dictionary(ids: list[str], texts: list[str | None]) -> None:
    index = IdIndex.of(pl.Series(ids, dtype=pl.String))
    expected = {text: place for place, text in enumerate(ids)}
    places = index.places(pl.Series(texts, dtype=pl.String))
    assert places.tolist() == [expected.get(text, NOWHERE) if text is not None else NOWHERE for text in texts]


def test_a_text_with_the_hash_of_an_id_is_none_of_the_ids() -> None:
    # the ids' own hashes under other names: what is found by its hash is compared as a text as well
    index = IdIndex.of(pl.Series(["a", "b"]))
    renamed = IdIndex(pl.Series(["c", "d"]), index.seed, index.slots, index.hashes)
    assert renamed.places(pl.Series(["a", "b"])).tolist() == [NOWHERE, NOWHERE]


def test_ids_that_crowd_one_slot_lie_in_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def crowded(texts: pl.Series, seed: int) -> np.ndarray:
        if seed == 0:
            return np.zeros(len(texts), np.uint64)  # equal hashes: the next seed is tried
        return np.array([ord(text) * 2**40 + 7 for text in texts], np.uint64)  # of one slot, the last

    monkeypatch.setattr("beholder.tables.id_index._hashes", crowded)
    index = IdIndex.of(pl.Series(["x", "y", "z"]))
    assert index.seed == 1
    assert sorted(index.slots[[7, 0, 1]].tolist()) == [0, 1, 2]
    assert index.places(pl.Series(["z", "w", "x", "y"])).tolist() == [2, NOWHERE, 0, 1]


class TestEnumerated:
    def test_is_as_a_cast_to_the_enumerated_type(self) -> None:
        texts = pl.Series("image", ["b", None, "a", "b"])
        coded = Enumerated.of(pl.Series(["c", "b", "a", "b"])).coded(texts)
        assert coded.to_list() == texts.to_list()
        assert coded.name == "image"
        assert coded.dtype == pl.Enum(["a", "b", "c"])
        assert coded.to_physical().to_list() == [1, None, 0, 1]

    def test_a_column_without_values(self) -> None:
        nobody = Enumerated.of(pl.Series(["a"])).coded(pl.Series("other", [None, None], dtype=pl.String))
        assert nobody.to_list() == [None, None]
        assert nobody.dtype == pl.Enum(["a"])

    def test_an_unknown_id_is_refused(self) -> None:
        with pytest.raises(pl.exceptions.InvalidOperationError, match="nobody"):
            Enumerated.of(pl.Series(["a"])).coded(pl.Series(["a", None, "nobody"]))


def test_keys_hold_what_is_in_their_column() -> None:
    keys = Keys(pl.DataFrame({"image": ["a", "b", "b"], "slot": [0, 1, 2]}))
    assert keys.hold("image", pl.Series(["b", "a"]))
    assert not keys.hold("image", pl.Series(["b", "c"]))
    assert not keys.hold("slot", pl.Series([0]))  # numbers: looked up by a join
