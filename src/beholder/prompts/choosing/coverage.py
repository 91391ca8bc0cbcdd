"""What a choice of prompts covers: how many of them have each category and tag, of how many there were."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

Label = tuple[str, str]
"""A family (``category``, or a tag such as ``colour``) and a label in it (``red``)."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Prompts with one label: available, chosen, and held out among these."""

    family: str
    label: str
    available: int
    chosen: int
    held_out: int


def coverage(
    labels: Sequence[Iterable[Label]], chosen: Collection[int], held_out: Collection[int] = ()
) -> list[Coverage]:
    """Count the prompts with each label, by family and label.

    Args:
        labels: the labels of each prompt; a label that a prompt has twice counts once.
        chosen: positions of the chosen prompts, those held out included.
        held_out: positions of those held out.
    """
    available: Counter[Label] = Counter()
    used: Counter[Label] = Counter()
    held: Counter[Label] = Counter()
    within, apart = frozenset(chosen), frozenset(held_out)
    for position, of_prompt in enumerate(labels):
        distinct = set(of_prompt)
        available.update(distinct)
        if position in within:
            used.update(distinct)
        if position in apart:
            held.update(distinct)
    return [Coverage(*label, available[label], used[label], held[label]) for label in sorted(available)]
