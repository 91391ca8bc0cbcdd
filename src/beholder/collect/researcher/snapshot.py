"""A temporary copy of the study as it stands now, for results that do not disturb it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from beholder.collect.exchange.export import export
from beholder.collect.exchange.slots_of_hosts import take_over_into
from beholder.collect.exchange.stage_run import write_study
from beholder.study.study import load_study
from beholder.tables.room import room_on_disk
from beholder.tables.store import Store

INPUTS = ("prompts", "images", "trials")


@contextmanager
def snapshot(folder: Path, url: str) -> Iterator[Path]:
    """Create a temporary study folder with the tables of the design and the current content of the database."""
    take_over_into(folder, url)
    with TemporaryDirectory(prefix="beholder-now-") as name:
        copy = Path(name)
        with room_on_disk(copy):
            write_study(copy, load_study(folder))
            for table in INPUTS:
                target = Store(copy).path(table)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(Store(folder).path(table), target)
        export(copy, url)
        yield copy
