"""One finding of a watch, with its interval and the threshold at which it raises an alarm."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from beholder.tables.provenance import Plain

LEVEL = 0.99
"""Of the confidence intervals of alarms: there are several watches and many looks."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a watch found at one look; its fields are columns of the table ``alarms``."""

    watch: str
    value: float
    low: float
    high: float
    threshold: float
    raised: bool
    sentence: str

    def row(self, step: int) -> dict[str, Plain]:
        """The row of the table ``alarms``, without the column ``improvement``."""
        return {"step": step, **asdict(self)}


def raised(alarms: Sequence[Alarm]) -> list[Alarm]:
    """Return those that were raised."""
    return [alarm for alarm in alarms if alarm.raised]
