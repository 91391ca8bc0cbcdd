"""Which blocks of a network learn: the last so many, or the share that a publication trains."""

from torch import nn


def last_blocks(blocks: nn.ModuleList, chosen: int | None, published: tuple[int, int]) -> list[nn.Module]:
    """The last ``chosen`` blocks; else the share ``published`` (so many of so many), rounded up."""
    part, whole = published
    count = -(-len(blocks) * part // whole) if chosen is None else min(chosen, len(blocks))
    return list(blocks)[len(blocks) - count :]
