"""Transfers between this machine and storage, side by side, and how much they moved."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

AT_ONCE = 16
"""Transfers at a time: they wait for the network, not for a core."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """How much was fetched or stored."""

    files: int
    bytes: int


def all_at_once(transfer: Callable[[str], None], paths: Iterable[str]) -> None:
    """Run transfers side by side; the first fault ends them."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(transfer, paths):
            pass
