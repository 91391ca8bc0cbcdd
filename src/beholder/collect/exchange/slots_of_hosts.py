"""Slots that another host of the study added: the database has them, and this host's table gets them, too.

python -m beholder.collect.exchange.slots_of_hosts FOLDER

Hosts have disks of their own and share the database. Its log says by which seed slots were drawn; drawn again
here, they are the same trials, which is checked.
"""

import os
import sys
from pathlib import Path

import polars as pl
from sqlalchemy import and_, inspect, select

from beholder.collect.database.address import DATABASE
from beholder.collect.database.schema import LOADED, Database, control, events, slots, trials
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.added_slots import Extension, append_slots, draw_slots
from beholder.collect.exchange.trial_rows import COLUMNS, trial_rows
from beholder.collect.researcher.actions import EXTEND, KIND
from beholder.errors import StageError, UserError
from beholder.study.study import Study, load_study
from beholder.tables.room import room_on_disk
from beholder.tables.store import Store


def take_over_slots(study: Study, store: Store, database: Database) -> tuple[Extension, ...]:
    """Append slots to the table of trials that the database has and the table lacks.

    Args:
        study: The settings of the study.
        store: Its tables on this host.
        database: That all hosts share.

    Returns:
        What was appended, in the order in which it was added.

    Raises:
        StageError: Where other trials are drawn here than the database has; the table is as before then.
    """
    appended: list[Extension] = []
    while missing := _missing(store, database):
        before, extension = store.hash("trials"), missing[0]
        drawn = draw_slots(store, study, extension.question, extension.first_slot, extension.slots, extension.seed)
        with database.writing() as connection:
            connection.execute(select(control.c.value).where(control.c.name == LOADED).with_for_update())
            if store.hash("trials") != before:  # another process of this host was faster
                continue
            own = and_(
                trials.c.question == extension.question,
                trials.c.slot >= extension.first_slot,
                trials.c.slot < extension.first_slot + extension.slots,
            )
            columns = [trials.c[name] for name in COLUMNS]
            served = {row.trial: dict(row._mapping) for row in connection.execute(select(*columns).where(own))}
            if {row["trial"]: row for row in trial_rows(drawn, store.read("prompts"))} != served:
                raise StageError(
                    f"{store.folder}: another host added {extension.slots} slots to '{extension.question}', and "
                    "other trials are drawn for them here. Let all hosts run the same version of beholder on the "
                    "same study file"
                )
            append_slots(store, drawn, extension)
        appended.append(extension)
    return tuple(appended)


def take_over_into(folder: Path, url: str) -> tuple[Extension, ...]:
    """Do the same for the study in a folder and the database at an address; nothing where that is empty still."""
    database = Database(url)
    try:
        with usable_database():
            if not inspect(database.engine).has_table(events.name):
                return ()
            return take_over_slots(load_study(folder), Store(folder), database)
    finally:
        database.engine.dispose()


def _missing(store: Store, database: Database) -> list[Extension]:
    """Return what was added, is in the database still, and is not in the table."""
    with database.reading() as connection:
        query = select(events.c.detail).where(events.c.kind == f"{KIND}{EXTEND}").order_by(events.c.id)
        logged = [
            Extension(**{name: detail[name] for name in Extension.__dataclass_fields__})
            for detail in connection.scalars(query)
        ]
        if not logged or not store.has("trials"):
            return []
        served = {tuple(row) for row in connection.execute(select(slots.c.question, slots.c.slot))}
    here = set(pl.read_parquet(store.path("trials"), columns=["question", "slot"]).unique().iter_rows())
    lacking = served - here
    return [extension for extension in logged if (extension.question, extension.first_slot) in lacking]


def main() -> int:
    """Run the command of this module."""
    folder, url = Path(sys.argv[1]), os.environ[DATABASE]
    try:
        with room_on_disk(folder):
            appended = take_over_into(folder, url)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write("".join(f"{extension.slots} slots of {extension.question}\n" for extension in appended))
    return 0


if __name__ == "__main__":
    sys.exit(main())
