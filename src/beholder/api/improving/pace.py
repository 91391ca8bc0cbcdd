"""How far a walk of several steps is: one count from beginning to end, from the parts that its steps report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Progress = Callable[[str, int, int], None]
"""Called with the part of the work, how much of it is done, and all."""

WHOLE = 1_000
"""Into how many units a walk is divided."""

PARTS: dict[str, tuple[tuple[str, float], ...]] = {
    "filter": (("candidates", 6), ("scores", 8), ("held-out scores", 8), ("labelled images", 12)),
    "repair": (("settings", 20), ("repair", 6), ("control", 6)),
    "tune": (("watches", 6), ("tune", 45)),
    "proof": (("plan", 8), ("simulated raters", 3)),
}
"""Step -> its parts as they are reported, with how long each takes beside the others."""


@dataclass(eq=False)
class Pace:
    """Turns reports of parts into one count that never goes back."""

    progress: Progress | None
    steps: Sequence[str]
    """Those that have something to do."""
    _furthest: int = field(default=0, init=False)

    def __call__(self, part: str, done: int, total: int) -> None:
        """Report that so much of a part is done."""
        if self.progress is None:
            return
        parts = [each for step in self.steps for each in PARTS[step]]
        names = [name for name, _ in parts]
        if part in names:
            place = names.index(part)
            passed = sum(weight for _, weight in parts[:place]) + parts[place][1] * done / max(total, 1)
            share = passed / sum(weight for _, weight in parts)
            self._furthest = max(self._furthest, round(WHOLE * share))
        self.progress(part, self._furthest, WHOLE)
