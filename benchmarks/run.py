"""Print the table of all comparisons: ``python benchmarks/run.py [NAME …]``."""

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import cast

from harness import Comparison, measure, table

SUITES = (
    "ratings",
    "agreement",
    "distances",
    "folder",
    "truth",
    "scoring",
    "rich_inference",
    "waiting",
    "stage_features",
)
"""Files of comparisons. Each is imported when it is run: some need peers that may not be installed."""

COMMANDS = "commands"
"""Whole commands, which have a goal instead of a peer."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}, {COMMANDS}; all where none is named"
    )
    parser.add_argument("--task", default="", help="only rows whose task holds this text")
    arguments = parser.parse_args()
    names = arguments.names or [*SUITES, COMMANDS]
    known = (*SUITES, COMMANDS)
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"not known: {', '.join(unknown)}; known: {', '.join(known)}")
    measured = []
    for name in (name for name in names if name != COMMANDS):
        for comparison in cast("Iterator[Comparison]", import_module(name).comparisons()):
            if arguments.task not in comparison.task:
                continue
            print(f"measuring: {comparison.task}", file=sys.stderr)
            measured.append(measure(comparison))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if measured:
        print(table(measured))
    if COMMANDS in names:
        print(f"\n{import_module(COMMANDS).table(arguments.task)}")


if __name__ == "__main__":
    main()
