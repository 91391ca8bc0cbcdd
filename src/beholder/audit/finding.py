"""One finding of an audit, as a row of ``audits``."""

import math
from dataclasses import dataclass

from beholder.tables.schemas.audit import ABSENT

Row = dict[str, object]

ALL = "all"


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure with its interval and what it is compared with, how serious it is, and the words for it."""

    words: str
    severity: str
    subject: str = ALL
    measure: str | None = None
    slice: str = ALL
    figure: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    baseline: float | None = None
    shrunk: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    prompts: int | None = None
    raters: int | None = None
    unit: str | None = None

    def row(self, audit: str, number: int) -> Row:
        """Return the row of the table; numbers that are not finite are left empty."""
        return {
            "audit": audit,
            "number": number,
            "subject": self.subject,
            "measure": self.measure,
            "slice": self.slice,
            "figure": _finite(self.figure),
            "low": _finite(self.low),
            "high": _finite(self.high),
            "level": self.level,
            "baseline": _finite(self.baseline),
            "shrunk": _finite(self.shrunk),
            "p": _finite(self.p),
            "p_adjusted": _finite(self.p_adjusted),
            "prompts": self.prompts,
            "raters": self.raters,
            "unit": self.unit,
            "severity": self.severity,
            "finding": self.words,
        }


def nothing(words: str) -> Finding:
    """Return the finding of an audit that has nothing to look at: the words say what it needs."""
    return Finding(words, ABSENT)


def _finite(number: float | None) -> float | None:
    return None if number is None or not math.isfinite(number) else float(number)
