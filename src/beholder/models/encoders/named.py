"""An encoder by its name, which can be sent to other processes: each loads it once."""

from dataclasses import dataclass
from functools import lru_cache

from beholder.images.background import DEFAULT_BACKGROUND
from beholder.models.encoders.catalogue import load_encoder
from beholder.models.encoders.encoder import Encoder


@dataclass(frozen=True, slots=True)
class NamedEncoder:
    """An encoder of the catalogue, its weights, and what transparent images are flattened on."""

    name: str
    weights: str | None = None
    background: str = DEFAULT_BACKGROUND


@lru_cache(maxsize=1)
def load_once(named: NamedEncoder) -> Encoder:
    """Return the encoder; the one that was loaded last stays in memory."""
    return load_encoder(named.name, named.weights)
