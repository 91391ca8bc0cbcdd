"""Weights given on the command line as ``NAME=PLACE``."""

from collections.abc import Sequence

import click


def named_weights(given: Sequence[str]) -> dict[str, str]:
    """Name of a network -> its folder, file or hub name."""
    wrong = [one for one in given if "=" not in one or one.startswith("=") or one.endswith("=")]
    if wrong:
        raise click.UsageError(f"weights are given as NAME=PLACE, such as clip=folder; found: {', '.join(wrong)}")
    return {name: place for name, _, place in (one.partition("=") for one in given)}
