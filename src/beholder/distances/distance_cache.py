"""Distances on disk: computed once for each pair of image sets, so that an added generator costs only its own."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beholder import __version__
from beholder.tables.atomic import write_atomically

Figures = tuple[float, float | None, float | None]
"""A distance and the ends of its confidence interval."""


@dataclass(slots=True)
class DistanceCache:
    """Distances by a key of all that they depend on; written by :meth:`save`."""

    path: Path
    figures: dict[str, Figures] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "DistanceCache":
        """Return what is on the disk; a file that is missing or damaged counts as empty."""
        try:
            content = json.loads(path.read_bytes())
            return cls(path, {key: (value, low, high) for key, (value, low, high) in content.items()})
        except (OSError, ValueError, TypeError, AttributeError):
            return cls(path)

    def save(self) -> None:
        """Write all distances; numbers are written so that they read back to the last bit."""
        with write_atomically(self.path) as file:
            file.write(json.dumps(self.figures, sort_keys=True).encode())


def distance_key(
    distance: str,
    encoder: str,
    settings: Sequence[str | float],
    real: Sequence[str],
    generated: Sequence[str],
) -> str:
    """Return the key of a distance: its name, the encoder, settings, version, and the hashes of all images."""
    content = [distance, encoder, list(settings), __version__, list(real), list(generated)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()
