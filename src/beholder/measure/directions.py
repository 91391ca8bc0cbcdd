"""Which values of a metric are better, by the metric's name."""

from beholder.distances.catalogue import DISTANCES
from beholder.scorers.catalogue import SCORERS


def direction(metric: str) -> str | None:
    """``lower``, ``higher`` or ``zero`` for a distance or scorer of ours; ``None`` where it is not known."""
    if metric in DISTANCES:
        return DISTANCES[metric].better
    return SCORERS[metric].better if metric in SCORERS else None
