"""All models that can be trained, by name. A new one is a module of this package and a line below.

A module named here has two functions:

- ``configure(settings, prompts, aspects) -> Config`` checks the ``[model]`` table of a recipe (all faults at once,
  as a :class:`~beholder.errors.FaultsError`) and completes it with everything needed to build the model: sizes,
  the vocabulary of the training prompts, the aspects of the labels.
- ``build(config, *, fresh)`` builds it: a ``Trainable[Batch]``, or a ``RichTrainable`` for rich feedback.
  ``fresh`` starts from the pretrained weights that the config names, where it names any, or from random ones
  (torch's seed is set by the caller); without it, weights are about to be loaded from a checkpoint, and nothing is
  fetched.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from beholder.errors import UserError
from beholder.tables.provenance import Plain

if TYPE_CHECKING:  # the names must be importable where torch is not installed
    from beholder.models.rich_feedback.trainable import RichTrainable
    from beholder.models.trainable import Batch, Config, Trainable

ARCHITECTURES: dict[str, str] = {
    "two-tower": "preference.two_tower",
    "image-reward": "preference.image_reward",
    "metric-transformer": "metric_transformer.model",
    "tuned-metrics": "tuned_metrics.model",
    "realism": "realism",
}
"""Models of raters' judgements. Name in a recipe -> module of this package."""

IMAGE_ALONE = ("realism",)
"""Architectures that never read the prompt."""

RICH_ARCHITECTURES: dict[str, str] = {
    "rich-feedback": "rich_feedback.architecture",
    "rich-grounded": "rich_feedback.grounded.model",
    "rich-cnn": "rich_feedback.cnn",
    "rich-similarity": "rich_feedback.similarity",
}
"""Models of rich feedback, likewise."""

Model_co = TypeVar("Model_co", covariant=True)


class Architecture(Protocol[Model_co]):
    """The functions that the module of an architecture offers."""

    def configure(self, settings: Mapping[str, Plain], prompts: Sequence[str], aspects: Sequence[str]) -> "Config":
        """The complete configuration of a model."""
        ...

    def build(self, config: "Config", *, fresh: bool) -> Model_co:
        """The model."""
        ...


def architecture(name: str) -> "Architecture[Trainable[Batch]]":
    """The architecture of that name, for a model of judgements."""
    return cast("Architecture[Trainable[Batch]]", _module(name, ARCHITECTURES))


def rich_architecture(name: str) -> "Architecture[RichTrainable]":
    """The architecture of that name, for a model of rich feedback."""
    return cast("Architecture[RichTrainable]", _module(name, RICH_ARCHITECTURES))


def _module(name: str, modules: Mapping[str, str]) -> object:
    if name not in modules:
        raise UserError(f"architecture '{name}' is not known here; known: {', '.join(modules)}")
    return import_module(f"beholder.models.{modules[name]}")
