"""What the entry of a rater costs the server, without HTTP: processor time of this process, on both databases.

python benchmarks/entry_cost.py [--entries 100]

Raters open the link of a question one after the other, each in a session and a slot of their own.
"""

import argparse
import tempfile
import time
from pathlib import Path

from load import reset
from served import fill, make_folder, postgres

from beholder.collect.database.address import default_url
from beholder.collect.routes.rater import enter
from beholder.collect.server.service import Service
from beholder.collect.session.messages import Enter
from beholder.study.kinds.pair import PairQuestion
from beholder.study.question import Design

TRIALS, WARM = 120, 20


def entry_ms(folder: Path, url: str, entries: int) -> float:
    """Return the milliseconds of processor time per entry, after some that are not counted."""
    fill(folder, url)
    service, message = Service(folder, url), Enter(path="/q/pair")
    for _ in range(WARM):
        enter(service, message, None, None)
    began = time.process_time()
    for _ in range(entries):
        enter(service, message, None, None)
    spent = time.process_time() - began
    service.database.engine.dispose()
    return 1e3 * spent / entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--entries", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="beholder-entry-cost-") as temporary:
        Path(temporary).chmod(0o755)
        question = PairQuestion(name="pair", design=Design(raters=options.entries + WARM, trials=TRIALS))
        folder = make_folder(Path(temporary) / "study", question)
        print(f"SQLite: {entry_ms(folder, default_url(folder), options.entries):.2f} ms per entry", flush=True)
        with postgres(Path(temporary) / "pg") as (url, _):
            reset(url)
            print(f"PostgreSQL: {entry_ms(folder, url, options.entries):.2f} ms per entry")


if __name__ == "__main__":
    main()
