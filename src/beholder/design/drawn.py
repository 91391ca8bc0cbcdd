"""An item in the hands of a slot."""

from dataclasses import dataclass

from beholder.design.items import Item


@dataclass(frozen=True, slots=True)
class Drawn:
    """An item given to a slot, in a role."""

    item: Item
    role: str
    propensity: float
    repeats: int | None = None
    """position, among the test trials of the slot, of the trial that this one repeats"""
    block: int = 0
