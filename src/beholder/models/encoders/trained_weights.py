"""Whether encoders have the weights that a model was trained on."""

from collections.abc import Iterable
from typing import Protocol

from beholder.errors import WeightsError
from beholder.tables.provenance import Plain


class Identified(Protocol):
    """An encoder of images or sentences."""

    @property
    def identity(self) -> str:
        """Its name and the hash of its weights."""
        ...


def refuse_other_weights(loaded: Iterable[Identified], trained: Plain) -> None:
    """Refuse encoders whose identity is not among ``trained``, the list that the model's configuration records."""
    identities = trained if isinstance(trained, list) else []
    others = [encoder.identity for encoder in loaded if encoder.identity not in identities]
    if others:
        raise WeightsError(
            f"trained on features of {', '.join(map(str, identities))}; the folders of its settings hold "
            f"{', '.join(others)}: put the same weights there, or train it again"
        )
