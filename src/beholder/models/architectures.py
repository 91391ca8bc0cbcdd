"""All models that can be trained, by name. A new one is a file beside this and a line below.

A module named here has two functions:

- ``configure(settings, prompts, aspects) -> Config`` checks the ``[model]`` table of a recipe (all faults at once,
  as a :class:`~beholder.errors.FaultsError`) and completes it to all that is needed to build the model: sizes, the
  vocabulary drawn from the training prompts, the aspects of the labels.
- ``build(config, *, fresh) -> Trainable[Batch]`` builds it. ``fresh`` starts from the pretrained weights that the
  config names, where it names any, or from random ones (torch's seed is set by the caller); without it, weights
  are about to be loaded from a checkpoint, and nothing is fetched.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from beholder.errors import UserError
from beholder.tables.provenance import Plain

if TYPE_CHECKING:  # names are known where torch is not installed
    from beholder.models.trainable import Batch, Config, Trainable

ARCHITECTURES: dict[str, str] = {
    "two-tower": "two_tower",
    "image-reward": "image_reward",
    "metric-transformer": "metric_transformer",
}
"""Name in a recipe -> module of this package."""


class Architecture(Protocol):
    """What a module of a model offers."""

    def configure(self, settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> "Config":
        """The whole configuration."""
        ...

    def build(self, config: "Config", *, fresh: bool) -> "Trainable[Batch]":
        """The model."""
        ...


def architecture(name: str) -> Architecture:
    """The architecture of that name."""
    if name not in ARCHITECTURES:
        raise UserError(f"architecture '{name}' is not known; known: {', '.join(ARCHITECTURES)}")
    return cast(Architecture, import_module(f"beholder.models.{ARCHITECTURES[name]}"))
