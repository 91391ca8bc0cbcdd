"""Settings of the measure stage."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from beholder.distances.catalogue import DISTANCES
from beholder.errors import UserError, unknown_name
from beholder.models.encoders.catalogue import ENCODERS
from beholder.scorers.catalogue import SCORERS, check_names, default_scorers

OFFLINE = "efficientnet-lite0"
"""The encoder that works on any machine. Nothing published was computed with it."""

SIMPLE = tuple(name for name, recipe in DISTANCES.items() if not {"train", "logits"} & set(recipe.needs))
"""Distances that need neither training images nor a classifier."""


@dataclass(frozen=True, slots=True)
class MeasureSettings:
    """Which encoder, distances and scorers, with which weights; and a file of figures computed elsewhere."""

    encoder: str = OFFLINE
    encoder_weights: str | None = None
    distances: tuple[str, ...] = SIMPLE
    scorers: tuple[str, ...] = field(default_factory=default_scorers)
    weights: Mapping[str, str] = field(default_factory=dict)
    """Weights of the scorers' networks (``clip``, ``aesthetic``): a folder, file or hub name."""
    published: Path | None = None
    skip_broken: bool = False

    def check(self) -> None:
        """Raise an error that lists all names that are not known."""
        faults = [] if self.encoder in ENCODERS else [unknown_name("encoder", self.encoder, ENCODERS)]
        faults += [unknown_name("distance", name, SIMPLE) for name in self.distances if name not in SIMPLE]
        try:
            check_names(list(self.scorers), self.weights)
        except UserError as error:
            faults.append(str(error))
        if self.published is not None and not self.published.is_file():
            faults.append(f"{self.published}: no such file")
        if faults:
            raise UserError("\n".join(faults))

    def without_distances(self) -> "MeasureSettings":
        """Return the same settings for scorers alone."""
        return replace(self, distances=())

    @property
    def prompted(self) -> tuple[str, ...]:
        """The scorers that need a prompt."""
        return tuple(name for name in self.scorers if "prompt" in SCORERS[name].needs)
