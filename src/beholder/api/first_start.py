"""Draw the trials of a study and fill its database, in one process, before its server starts.

python -m beholder.api.first_start FOLDER

The process imports what it needs, which takes longer than the work, and then waits for a line on its standard
input; where there is none, it ends with nothing done. So it can be started before the command line knows whether
the study may be served.
"""

import os
import sys
from pathlib import Path

from beholder.collect.database.address import DATABASE
from beholder.collect.database.unavailable import usable_database
from beholder.collect.exchange.load import load
from beholder.design.stage import run as design
from beholder.errors import UserError


def main() -> int:
    """Run the command of this module."""
    if not sys.stdin.readline():
        return 0
    folder, url = Path(sys.argv[1]), os.environ[DATABASE]
    try:
        outcome = design(folder)
        with usable_database():
            migrated = load(folder, url)
    except UserError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write("\n".join(filter(None, (str(outcome), migrated))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
