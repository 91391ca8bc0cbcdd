"""Forks workers on demand: each approves and pays one rater after another, until somebody kills it.

Run by ``test_ledger.py``: one process imports everything, so that a worker starts at once.
"""

import os
import sys
import time
from pathlib import Path

from sqlalchemy import select

from beholder.collect.panel.payments import NewPayment, decide, propose
from beholder.collect.panel.platforms.prolific import Prolific
from beholder.collect.panel.schema import open_panel, payments
from beholder.collect.panel.sending import send_payments


def work(folder: Path, platform: Prolific, raters: int) -> None:
    database = open_panel(folder)
    while True:
        with database.reading() as connection:
            done = {row.rater for row in connection.execute(select(payments.c.rater))}
        waiting = [number for number in range(raters) if f"p-{number:03d}" not in done]
        if waiting:
            number = waiting[0]
            new = NewPayment("faces", f"s{number}", f"p-{number:03d}", "top-up", 125, "USD", "why")
            with database.writing() as connection:
                propose(connection, new, now=1.0)
                decide(connection, [new.key], by="ada", approve=True, now=2.0)
        send_payments(database, platform, "faces", now=time.time())


def main() -> None:
    folder, address, raters = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    platform = Prolific("secret", "remote", address=address)  # loads certificates, before there are workers
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            work(folder, platform, raters)
        print(child, flush=True)
        os.waitpid(child, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    main()
