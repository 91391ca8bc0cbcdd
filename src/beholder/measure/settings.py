"""What the measure stage is asked to do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from beholder.errors import UserError
from beholder.measure.distances.catalogue import DISTANCES
from beholder.measure.scorers.catalogue import DEFAULT, SCORERS, check_names
from beholder.models.encoders.catalogue import ENCODERS

OFFLINE = "efficientnet-lite0"
"""The encoder that works on any machine. Nothing published was computed with it."""

SIMPLE = tuple(name for name, one in DISTANCES.items() if not {"train", "logits"} & set(one.needs))
"""Distances that need no other images or networks than the study has."""


@dataclass(frozen=True, slots=True)
class Measuring:
    """Which encoder, distances and scorers, with which weights; and a file of figures computed elsewhere."""

    encoder: str = OFFLINE
    encoder_weights: str | None = None
    distances: tuple[str, ...] = SIMPLE
    scorers: tuple[str, ...] = DEFAULT
    weights: Mapping[str, str] = field(default_factory=dict)
    """Of scorers' networks: ``clip``, ``aesthetic``."""
    published: Path | None = None
    skip_broken: bool = False

    def check(self) -> None:
        """Refuse names that are not known, all at once."""
        faults = [] if self.encoder in ENCODERS else [_unknown("encoder", self.encoder, list(ENCODERS))]
        faults += [_unknown("distance", name, list(SIMPLE)) for name in self.distances if name not in SIMPLE]
        try:
            check_names(list(self.scorers), self.weights)
        except UserError as error:
            faults.append(str(error))
        if self.published is not None and not self.published.is_file():
            faults.append(f"{self.published}: no such file")
        if faults:
            raise UserError("\n".join(faults))

    @property
    def prompted(self) -> tuple[str, ...]:
        """The scorers that look at prompts."""
        return tuple(name for name in self.scorers if "prompt" in SCORERS[name].needs)


def _unknown(what: str, name: str, known: list[str]) -> str:
    return f"{what} '{name}' is not known; known: {', '.join(known)}"
