"""Print the table of all comparisons: ``python benchmarks/run.py [NAME …]``."""

import argparse
import os
import platform
import sys
from collections.abc import Callable, Iterator

import agreement
import commands
import distances
import folder
import ratings
import rich_inference
import scoring
import truth
import waiting
from harness import Comparison, measure, table

SUITES: dict[str, Callable[[], Iterator[Comparison]]] = {
    "ratings": ratings.comparisons,
    "agreement": agreement.comparisons,
    "distances": distances.comparisons,
    "folder": folder.comparisons,
    "truth": truth.comparisons,
    "scoring": scoring.comparisons,
    "rich": rich_inference.comparisons,
    "waiting": waiting.comparisons,
}
"""A file of comparisons is a line here."""

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
        for comparison in SUITES[name]():
            if arguments.task not in comparison.task:
                continue
            print(f"measuring: {comparison.task}", file=sys.stderr)
            measured.append(measure(comparison))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    if measured:
        print(table(measured))
    if COMMANDS in names:
        print(f"\n{commands.table(arguments.task)}")


if __name__ == "__main__":
    main()
