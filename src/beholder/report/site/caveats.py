"""What a reader of any page of the report has to know before its numbers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caveats:
    """Why the answers may be no finding; ``caveats.html.j2`` puts it into words, the same on every page."""

    simulated: bool
    """Whether all raters are simulated."""
    invented: bool
    """Whether the image qualities that the simulated raters saw were drawn at random too."""
    includes_excluded: bool
    """Whether the answers of raters whom screening excludes count, because ``--include-excluded`` asked for it."""
