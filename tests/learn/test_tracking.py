"""Training that is logged: by TensorBoard itself, and by fake trackers under the names of the others."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from accelerate import tracking as accelerate_tracking
from accelerate.utils import LoggerType
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.learn.conftest import paired_study
from tests.learn.small_model import NumbersLoader, SmallModel, settings, validation_of
from tests.learn.test_stage import recipe

from beholder.cli.main import main
from beholder.errors import UserError
from beholder.learn import trackers
from beholder.learn.recipe import load_recipe
from beholder.learn.stage import run
from beholder.learn.state import Point
from beholder.learn.trackers import installed_trackers
from beholder.learn.tracking import Tracking, logged_settings
from beholder.learn.train import TrainingSummary, train

__all__ = ["paired_study"]


def trained(folder: Path, model: SmallModel, where: Tracking) -> TrainingSummary:
    return train(
        model,
        NumbersLoader(),
        lambda: validation_of(model),
        settings(steps=20),
        folder,
        fingerprint="f",
        resume=False,
        tracking=where,
    )


def test_tensorboard_holds_the_curve(tmp_path: Path) -> None:
    logged, plain = SmallModel(), SmallModel()
    where = Tracking(("tensorboard",), project="cats", settings=logged_settings("small", settings()))
    summary = trained(tmp_path / "logged", logged, where)
    events = EventAccumulator(str(tmp_path / "logged" / "logs" / "cats")).Reload()
    for split, measure in (("train", "loss"), ("train", "learning-rate"), ("validation", "minus-error")):
        expected = [
            (point.step, pytest.approx(point.value, rel=1e-6))
            for point in summary.curve
            if (point.split, point.measure) == (split, measure)
        ]
        assert expected
        assert [(event.step, event.value) for event in events.Scalars(f"{split}/{measure}")] == expected
    assert trained(tmp_path / "plain", plain, Tracking()).curve == summary.curve
    assert not (tmp_path / "plain" / "logs").exists()
    for first, second in zip(logged.module.parameters(), plain.module.parameters(), strict=True):
        assert torch.equal(first, second)


class FakeTracker(accelerate_tracking.GeneralTracker):  # type: ignore[misc]  # accelerate has no types
    """Remembers what it is told."""

    name = "fake"
    requires_logging_directory = False
    calls: ClassVar[list[tuple[str, Any]]] = []

    def __init__(self, project: str, **names: str) -> None:
        super().__init__()
        self.calls.append(("init", (project, names)))

    @property
    def tracker(self) -> None:
        return None

    def start(self) -> None:
        self.calls.append(("start", None))

    def store_init_configuration(self, values: Mapping[str, object]) -> None:
        self.calls.append(("settings", dict(values)))

    def log(self, values: Mapping[str, float], step: int | None = None, **_: object) -> None:
        self.calls.append(("log", (dict(values), step)))

    def finish(self) -> None:
        self.calls.append(("finish", None))


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeTracker]:
    """Stands for Weights & Biases and MLflow, as if both were installed."""
    FakeTracker.calls = []
    for name in ("wandb", "mlflow"):
        monkeypatch.setitem(accelerate_tracking.LOGGER_TYPE_TO_CLASS, name, FakeTracker)
    available = [LoggerType.WANDB, LoggerType.MLFLOW]
    monkeypatch.setattr(accelerate_tracking, "get_available_trackers", lambda: available)
    monkeypatch.setattr(trackers, "find_spec", lambda name: object() if name in ("wandb", "mlflow") else None)
    return FakeTracker


def test_a_study_is_logged_under_its_name_and_the_models(paired_study: Path, fake: type[FakeTracker]) -> None:
    run(paired_study, recipe("training.trackers=['all']"))
    starts = [content for what, content in fake.calls if what == "init"]
    assert starts == [("test", {"name": "tiny-two-tower"}), ("test", {"run_name": "tiny-two-tower"})]
    configured = next(content for what, content in fake.calls if what == "settings")
    assert configured["recipe"] == "tiny-two-tower"
    assert configured["steps"] == 8
    steps = {(next(iter(values)), step) for _, (values, step) in logs(fake)}
    assert {("train/loss", 2), ("train/loss", 8), ("validation/pair-accuracy", 8)} <= steps
    assert [what for what, _ in fake.calls].count("finish") == 2
    assert fake.calls[-1][0] == "finish"
    fake.calls.clear()
    assert run(paired_study, recipe()).skipped
    assert not fake.calls


def logs(fake: type[FakeTracker]) -> list[tuple[str, Any]]:
    return [call for call in fake.calls if call[0] == "log"]


def test_trackers_are_finished_when_training_breaks(tmp_path: Path, fake: type[FakeTracker]) -> None:
    def stop() -> Mapping[str, float]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(
            SmallModel(),
            NumbersLoader(),
            stop,
            settings(steps=20),
            tmp_path,
            fingerprint="f",
            resume=False,
            tracking=Tracking(("wandb",)),
        )
    assert fake.calls[-1] == ("finish", None)


def test_what_is_no_number_is_not_logged(fake: type[FakeTracker]) -> None:
    class Accelerator:
        def log(self, values: Mapping[str, float], step: int) -> None:
            fake.calls.append(("log", (values, step)))

    points = [Point(1, "train", "loss", float("nan")), Point(1, "train", "learning-rate", 0.5)]
    Tracking(("wandb",)).log(Accelerator(), points)
    assert fake.calls == [("log", ({"train/learning-rate": 0.5}, 1))]


def test_missing_packages_are_named_before_any_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: object() if name == "tensorboard" else None)
    options = [
        "--recipe",
        "tiny-two-tower",
        "--tracker",
        "wandb",
        "--tracker",
        "tensorboard",
        "--tracker",
        "mlflow",
    ]
    assert main(["learn", str(tmp_path / "no-study"), *options]) == 2
    assert (
        "logging to wandb and mlflow needs the packages of that name: pip install wandb mlflow"
        in capsys.readouterr().err
    )
    assert installed_trackers(("all",)) == ("tensorboard",)
    monkeypatch.setattr(trackers, "find_spec", lambda _: None)
    with pytest.raises(UserError, match="none of tensorboard, wandb, mlflow is installed"):
        installed_trackers(("all",))


def test_a_tracker_changes_nothing_that_a_model_depends_on() -> None:
    plain, tracked = (load_recipe("tiny-two-tower", changes) for changes in ([], ["training.trackers=['wandb']"]))
    assert tracked.training.trackers == ("wandb",)
    assert tracked.model_dump_json() == plain.model_dump_json()
