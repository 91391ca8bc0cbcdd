"""A held-out part of prompts: by a hash of the text, and related prompts on the same side.

A prompt is held out by the hash of its group's smallest id, never by a random draw: the same prompt is on the same
side in every study with the same proportion and salt, and stays there when others are added to other groups.
"""

import hashlib
from collections.abc import Iterable, Sequence

BITS = 64


def hold_out(
    ids: Sequence[str], pairs: Iterable[tuple[int, int]], proportion: float, salt: str = ""
) -> list[bool]:
    """Say for each prompt whether it is held out.

    Args:
        ids: an id for each prompt that depends on its text alone.
        pairs: positions of prompts that belong on the same side: near-duplicates, minimal pairs, parent and child.
        proportion: the expected proportion that is held out, from 0 to 1.
        salt: another one gives another part.

    Returns:
        One truth value per prompt.
    """
    parent = list(range(len(ids)))

    def root(position: int) -> int:
        while parent[position] != position:
            parent[position] = parent[parent[position]]
            position = parent[position]
        return position

    for first, second in pairs:
        parent[root(first)] = root(second)
    smallest: dict[int, str] = {}
    for position, key in enumerate(ids):
        group = root(position)
        smallest[group] = min(key, smallest.get(group, key))
    return [_fraction(smallest[root(position)], salt) < proportion for position in range(len(ids))]


def _fraction(key: str, salt: str) -> float:
    digest = hashlib.blake2b(f"{salt}/{key}".encode(), digest_size=BITS // 8).digest()
    return float(int.from_bytes(digest) / 2**BITS)
