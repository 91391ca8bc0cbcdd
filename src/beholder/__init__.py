"""Human-grounded evaluation of generated images.

Everything that is public is listed in :data:`LATE` and imported when it is first asked for: ``import beholder``
loads nothing heavy, and the study server starts without torch. Types are in ``__init__.pyi``.
"""

import sys
from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import cast

__version__ = "0.1.0"

LATE = {
    # studies
    "open_study": "beholder.api.studies",
    "new_study": "beholder.api.studies",
    "import_study": "beholder.api.studies",
    "study_from_votes": "beholder.api.frame_studies",
    "study_from_ratings": "beholder.api.frame_studies",
    "StudyFolder": "beholder.api.study_folder",
    "ResultTable": "beholder.stats.frames.result_table",
    "plan": "beholder.api.planning",
    "plan_board": "beholder.api.benchmark.board_planning",
    "learn": "beholder.api.learning",
    "measure": "beholder.api.measuring",
    "bench": "beholder.api.benchmark.bench",
    "improve": "beholder.api.improving.loop",
    "audit": "beholder.api.auditing",
    "replicate": "beholder.api.replication.replicate",
    # images and models
    "distance": "beholder.api.distances",
    "score": "beholder.api.scoring",
    "load_scorer": "beholder.api.scoring",
    "differentiable_scores": "beholder.api.scoring",
    "explain": "beholder.api.explaining",
    # statistics on data frames
    "active_pairs": "beholder.stats.frames.active_pairs",
    "aggregate": "beholder.stats.frames.aggregate",
    "agreement": "beholder.stats.frames.agreement",
    "bradley_terry": "beholder.stats.frames.bradley_terry",
    "calibration": "beholder.stats.frames.calibration",
    "compare_correlations": "beholder.stats.frames.compare_correlations",
    "confidence_sequence": "beholder.stats.frames.confidence_sequence",
    "conformal_interval": "beholder.stats.frames.calibration",
    "correlate": "beholder.stats.frames.correlate",
    "detection": "beholder.stats.frames.detection",
    "example_ratings": "beholder.stats.frames.examples",
    "example_votes": "beholder.stats.frames.examples",
    "group_tests": "beholder.stats.frames.group_tests",
    "interval_widths": "beholder.stats.frames.sample_size",
    "label_errors": "beholder.stats.frames.label_errors",
    "mean_opinion_scores": "beholder.stats.frames.mean_opinion_scores",
    "mean_scores": "beholder.stats.frames.group_means",
    "plackett_luce": "beholder.stats.frames.plackett_luce",
    "power": "beholder.stats.frames.sample_size",
    "prediction_powered_mean": "beholder.stats.frames.prediction_powered",
    "proportions": "beholder.stats.frames.group_means",
    "psychometric": "beholder.stats.frames.psychometric",
    "raters_needed": "beholder.stats.frames.sample_size",
    "sequential_separation": "beholder.stats.frames.confidence_sequence",
    "t_test": "beholder.stats.frames.group_tests",
    "thurstone": "beholder.stats.frames.thurstone",
}
"""Public name -> the module that has it."""

MODULES = ("errors", "metrics")
"""Public modules of the package."""

__all__ = ["__version__", *MODULES, *LATE]  # noqa: PLE0604 - all of them are text


class CallablePackage(ModuleType):
    """A stage's package that can be called as the public function of its name: ``beholder.learn(study, …)``.

    Python makes a package an attribute of its parent as soon as any of its modules is imported, and would so hide
    the function.
    """

    def __call__(self, *arguments: object, **options: object) -> object:
        """Call the public function."""
        return self.__wrapped__(*arguments, **options)

    @property
    def __wrapped__(self) -> Callable[..., object]:
        """The public function, whose signature ``help`` and notebooks show."""
        return cast("Callable[..., object]", _load(self.__name__.rpartition(".")[2]))


class _Root(ModuleType):
    """This package, which makes packages callable that have the name of a public function."""

    def __setattr__(self, name: str, attribute: object) -> None:
        if name in LATE and isinstance(attribute, ModuleType):
            attribute.__class__ = CallablePackage
        super().__setattr__(name, attribute)


sys.modules[__name__].__class__ = _Root


def __getattr__(name: str) -> object:
    if name in LATE:
        return _load(name)
    if name in MODULES:
        return import_module(f"beholder.{name}")
    close = get_close_matches(name, [*LATE, *MODULES], n=1)
    hint = f". Did you mean '{close[0]}'?" if close and not name.startswith("_") else ""
    raise AttributeError(f"module 'beholder' has no attribute '{name}'{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _load(name: str) -> object:
    return getattr(import_module(LATE[name]), name)
