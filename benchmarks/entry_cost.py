"""What the entry of a rater costs the server, without HTTP: processor time of this process, on both databases.

In SQLite one session writes at a time: how much of the processor time an entry has that turn is measured, too.

python benchmarks/entry_cost.py [--entries 100]

Raters open the link of a question one after the other, each in a session and a slot of their own.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from load import reset
from served import fill, make_folder, postgres
from sqlalchemy import Connection, event

from beholder.collect.database.address import default_url
from beholder.collect.database.schema import Database
from beholder.collect.routes.rater import enter
from beholder.collect.server.service import Service
from beholder.collect.session.messages import Enter
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

TRIALS, WARM = 120, 20


class Turns:
    """The processor time that is spent inside write transactions of a database, and their statements."""

    def __init__(self, database: Database) -> None:
        self.seconds, self.statements, self._within = 0.0, 0, False
        self._writing = database.writing
        database.writing = self.writing  # type: ignore[method-assign]
        for engine in (database.engine, database._inner):
            event.listen(engine, "before_cursor_execute", self._count)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """As the database's own."""
        with self._writing() as connection:
            began, self._within = time.process_time(), True
            try:
                yield connection
            finally:
                self.seconds, self._within = self.seconds + time.process_time() - began, False

    def _count(self, *_: object) -> None:
        self.statements += self._within


def entry_cost(folder: Path, url: str, entries: int) -> str:
    """Return what an entry costs, after some that are not counted."""
    fill(folder, url)
    service, message = Service(folder, url), Enter(path="/q/pair")
    for _ in range(WARM):
        enter(service, message, None, None)
    turns = Turns(service.database)
    began = time.process_time()
    for _ in range(entries):
        enter(service, message, None, None)
    spent = time.process_time() - began
    service.database.engine.dispose()
    return (
        f"{1e3 * spent / entries:.2f} ms per entry, of them {1e3 * turns.seconds / entries:.2f} ms and "
        f"{turns.statements / entries:.1f} statements in its turn to write"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entries", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-entry-cost-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=options.entries + WARM, trials=TRIALS))
        folder = make_folder(Path(temporary) / "study", question)
        print(f"SQLite: {entry_cost(folder, default_url(folder), options.entries)}", flush=True)
        with postgres(Path(temporary) / "pg") as (url, _):
            reset(url)
            print(f"PostgreSQL: {entry_cost(folder, url, options.entries)}")


if __name__ == "__main__":
    main()
