"""Slots that one host added, on the disk of another: the same trials, drawn again from the logged seed."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest
from tests.collect.conftest import Serve
from tests.collect.researcher.test_actions import PAIR

from beholder.collect.exchange.added_slots import EXTENSIONS_KEY
from beholder.collect.exchange.export import export
from beholder.collect.exchange.load import load
from beholder.collect.exchange.slots_of_hosts import take_over_into
from beholder.collect.researcher.exports import write_export
from beholder.collect.researcher.extend import extend
from beholder.errors import StageError
from beholder.study.study import FILE_NAME
from beholder.tables.store import Store


def table(folder: Path) -> Path:
    return folder / "tables" / "trials.parquet"


def test_the_table_of_another_host_follows_before_it_adds_writes_or_starts(serve: Serve, tmp_path: Path) -> None:
    served = serve(PAIR)
    second, third = (shutil.copytree(served.folder, tmp_path / name) for name in ("second", "third"))
    for _ in range(2):
        served.visitor().begin().walk()
    added = extend(served.folder, served.url, "q", 1, reason="", who="link")
    served.visitor().begin().walk()  # answers of a slot that the other hosts have not drawn

    export(second, served.url)  # it refused the answers, which refer to trials
    assert table(second).read_bytes() == table(served.folder).read_bytes()
    assert Store(second).read("answers").height == 3 * 8

    more = extend(second, served.url, "q", 2, reason="", who="link")
    assert more.first_slot == added.first_slot + 1
    write_export(served.folder, served.url, "jspsych", tmp_path / "exported")
    assert table(served.folder).read_bytes() == table(second).read_bytes()
    recorded = json.loads(pl.read_parquet_metadata(table(second))[EXTENSIONS_KEY])
    assert recorded == [asdict(added), asdict(more)]

    load(third, served.url)  # it refused the start
    assert table(third).read_bytes() == table(second).read_bytes()
    assert take_over_into(third, served.url) == ()


def test_other_trials_than_those_of_the_database_are_refused(serve: Serve, tmp_path: Path) -> None:
    served = serve(PAIR)
    other = shutil.copytree(served.folder, tmp_path / "other")
    served.visitor().begin().walk()
    extend(served.folder, served.url, "q", 1, reason="", who="link")
    text = (other / FILE_NAME).read_text()
    (other / FILE_NAME).write_text(text.replace("trials = 6", "trials = 4"))
    assert (other / FILE_NAME).read_text() != text
    before = table(other).read_bytes()
    with pytest.raises(StageError, match="another host added 1 slots to 'q', and other trials are drawn"):
        take_over_into(other, served.url)
    assert table(other).read_bytes() == before


def test_before_the_first_answer_a_start_keeps_added_slots_unless_the_trials_were_drawn_again(
    serve: Serve, tmp_path: Path
) -> None:
    served = serve(PAIR)
    second, drawn_again = (shutil.copytree(served.folder, tmp_path / name) for name in ("second", "drawn again"))
    extend(served.folder, served.url, "q", 1, reason="", who="link")
    load(second, served.url)
    assert table(second).read_bytes() == table(served.folder).read_bytes()
    assert served.count("slots") == 3
    frame = pl.read_parquet(table(drawn_again))
    frame.with_columns(block=pl.col("block") + 1).write_parquet(table(drawn_again))
    before = table(drawn_again).read_bytes()
    load(drawn_again, served.url)
    assert served.count("slots") == 2
    assert take_over_into(drawn_again, served.url) == ()
    assert table(drawn_again).read_bytes() == before
