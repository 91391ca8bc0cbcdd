"""When a generator is given up: after so many failures in a row."""

from beholder.errors import WorkerError
from beholder.generate.journal import Row
from beholder.tables.schemas.generate import FAILED

MISSING = "missing"
"""The fault of a folder without an image of a prompt, which says nothing about the next prompt."""


class Patience:
    """Counts failures in a row; once given up, a success that was under way changes nothing."""

    def __init__(self, give_up: int) -> None:
        """``give_up`` failures in a row are too many."""
        self._give_up = give_up
        self.in_a_row = 0
        self._last_reason = ""

    @property
    def is_over(self) -> bool:
        """Whether no more images are to be asked for."""
        return self.in_a_row >= self._give_up

    def count(self, row: Row) -> None:
        """Count what became of the next image."""
        if self.is_over:
            return
        failed = row["status"] == FAILED and row["fault"] != MISSING
        self.in_a_row = self.in_a_row + 1 if failed else 0
        self._last_reason = str(row["reason"]) if failed else ""

    def not_attempted(self) -> WorkerError:
        """Return why an image is not asked for."""
        reason = f"not attempted: {self._give_up} failures in a row, the last: {self._last_reason}"
        return WorkerError(reason, fault="not-attempted")
