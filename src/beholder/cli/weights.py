"""Weights given on the command line as ``NAME=PLACE``."""

from collections.abc import Sequence

import click


def named_weights(pairs: Sequence[str]) -> dict[str, str]:
    """Return name of a network -> its folder, file or hub name."""
    wrong = [pair for pair in pairs if "=" not in pair or pair.startswith("=") or pair.endswith("=")]
    if wrong:
        raise click.UsageError(f"weights are given as NAME=PLACE, such as clip=folder; found: {', '.join(wrong)}")
    return {name: place for name, _, place in (pair.partition("=") for pair in pairs)}
