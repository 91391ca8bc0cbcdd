"""Names of scorers that papers and other tools use."""

from collections.abc import Iterable

SCORER_ALIASES: dict[str, str] = {"clipscore": "clip-score", "hpsv2": "hps-v2", "imagereward": "image-reward"}
"""The scorers that go by other names."""


def resolve_scorers(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scorers that names stand for, and a line for each alias."""
    distinct = list(dict.fromkeys(names))
    scorers = tuple(SCORER_ALIASES.get(name.lower(), name) for name in distinct)
    return scorers, tuple(
        f"{name}: {scorer}" for name, scorer in zip(distinct, scorers, strict=True) if name != scorer
    )
