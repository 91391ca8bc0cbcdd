"""Logging of training to TensorBoard, Weights & Biases or MLflow, through accelerate's trackers.

What is logged is what the table ``training`` holds: the loss, the learning rate and the validation measures, by
step. TensorBoard's files are in ``logs`` next to the checkpoint; the others read their own settings (``WANDB_…``,
``MLFLOW_…``) and the user's login.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration

from beholder.learn.recipe import Training
from beholder.learn.state import Point

LOGS = "logs"


@dataclass(frozen=True, slots=True)
class Tracking:
    """Which trackers a run is logged to, and under which names; none by default."""

    trackers: tuple[str, ...] = ()
    project: str = "beholder"
    run: str = "run"
    settings: Mapping[str, str | int | float] = field(default_factory=dict)

    def accelerator_settings(self, folder: Path) -> dict[str, Any]:
        """What the accelerator is made with; TensorBoard's files go into ``logs`` of the folder."""
        if not self.trackers:
            return {}
        project = ProjectConfiguration(project_dir=str(folder), logging_dir=str(folder / LOGS))
        return {"log_with": list(self.trackers), "project_config": project}

    @contextmanager
    def running(self, accelerator: Accelerator) -> Iterator[None]:
        """Start the trackers, and finish them whatever happens."""
        if not self.trackers:
            yield
            return
        names = {"wandb": {"name": self.run}, "mlflow": {"run_name": self.run}}
        accelerator.init_trackers(self.project, config=dict(self.settings), init_kwargs=names)
        try:
            yield
        finally:
            for tracker in accelerator.trackers:  # its end_training would also end the processes of later folds
                tracker.finish()

    def log(self, accelerator: Accelerator, points: Iterable[Point]) -> None:
        """Log points of the curve; those that are no numbers are left out."""
        if not self.trackers:
            return
        for point in points:
            if math.isfinite(point.value):
                accelerator.log({f"{point.split}/{point.measure}": point.value}, step=point.step)


UNTRACKED = Tracking()


def logged_settings(recipe: str, training: Training) -> dict[str, str | int | float]:
    """The settings of a training run as trackers take them: numbers and texts."""
    settings: dict[str, str | int | float] = {"recipe": recipe}
    for name, setting in training.model_dump().items():
        settings[name] = setting if isinstance(setting, str | int | float) else str(setting)
    return settings
