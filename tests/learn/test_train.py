"""Training: by hand-worked schedule, by laws of resuming, and by really killing it."""

import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from tests.learn.small_model import Numbers, NumbersLoader, SmallModel, settings, shared, validation_of

from beholder.errors import TrainingError
from beholder.learn.recipe import Training
from beholder.learn.state import FILE_NAME, load_state
from beholder.learn.train import TrainingSummary, learning_rate_factor, train


def trained(
    folder: Path, model: SmallModel, loader: NumbersLoader | None = None, **changes: object
) -> TrainingSummary:
    resume = bool(changes.pop("resume", False))
    return train(
        model,
        loader or NumbersLoader(),
        lambda: validation_of(model),
        settings(**changes),
        folder,
        fingerprint="f",
        resume=resume,
    )


def weights(model: SmallModel) -> Mapping[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.module.state_dict().items()}


def equal(first: Mapping[str, torch.Tensor], second: Mapping[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


class TestSchedule:
    def test_warm_up_then_cosine_by_hand(self) -> None:
        # warm-up over 4 of 12 steps: ¼, ½, ¾, 1; then half a cosine over 8: 1, ½ half way, 0 at the end
        training = settings(steps=12, warmup=4)
        factors = [learning_rate_factor(step, 12, training) for step in (0, 1, 2, 3, 4, 8, 12)]
        assert factors == pytest.approx([0.25, 0.5, 0.75, 1, 1, 0.5, 0])

    def test_constant(self) -> None:
        training = settings(warmup=2, schedule="constant")
        assert [learning_rate_factor(step, 60, training) for step in (0, 1, 2, 59)] == [0.5, 1, 1, 1]

    def test_the_first_step_of_adamw_by_hand(self, tmp_path: Path) -> None:
        # Adam's first step moves each weight by lr · sign(gradient), after decay by 1 − lr · wd (matrices alone)
        model = SmallModel()
        model.module[2] = torch.nn.Identity()
        before = weights(model)
        model.loss(NumbersLoader()(0, 0)).backward()  # type: ignore[no-untyped-call]
        signs = {
            name: value.grad.sign() for name, value in model.module.named_parameters() if value.grad is not None
        }
        model.module.zero_grad()
        trained(tmp_path, model, steps=1, warmup=0, epsilon=1e-30, keep_best=False)
        for name, value in model.module.state_dict().items():
            decay = 0.1 if value.ndim == 2 else 0.0
            assert torch.allclose(value, before[name] * (1 - 0.01 * decay) - 0.01 * signs[name], atol=1e-6)


class ClippedApart(SmallModel):
    """A model whose layers are clipped one by one."""

    @property
    def clipped_apart(self) -> list[list[torch.nn.Parameter]]:
        """The first layer, and the last."""
        return [list(self.module[index].parameters()) for index in (0, -1)]


class TestClipping:
    def test_gradients_are_clipped_together_or_network_by_network(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        norms: list[float] = []

        def note(optimiser: torch.optim.AdamW, closure: object = None) -> None:  # noqa: ARG001 - as torch calls it
            parameters = [each for group in optimiser.param_groups for each in group["params"]]
            norms.append(float(torch.cat([each.grad.flatten() for each in parameters]).norm()))

        monkeypatch.setattr(torch.optim.AdamW, "step", note)
        for model in (SmallModel(), ClippedApart()):
            trained(tmp_path / type(model).__name__, model, steps=1, clip=1e-3)
        assert norms == pytest.approx([1e-3, math.sqrt(2) * 1e-3], rel=1e-3)


class TestLaws:
    def test_it_learns(self, tmp_path: Path) -> None:
        model = SmallModel()
        before = validation_of(model)["minus-error"]
        summary = trained(tmp_path, model, steps=200, keep_best=True)
        assert summary.value > before / 3
        assert summary.value == validation_of(model)["minus-error"]

    def test_the_same_seed_gives_the_same_bits_and_another_does_not(self, tmp_path: Path) -> None:
        models = [SmallModel(), SmallModel(), SmallModel()]
        for number, (model, seed) in enumerate(zip(models, (0, 0, 1), strict=True)):
            trained(tmp_path / str(number), model, seed=seed)  # dropout follows the seed
        assert equal(weights(models[0]), weights(models[1]))
        assert not equal(weights(models[0]), weights(models[2]))

    @pytest.mark.parametrize("dies_after", [1, 7, 10, 23, 58])
    def test_a_run_that_dies_and_resumes_ends_with_the_same_bits(self, tmp_path: Path, dies_after: int) -> None:
        undisturbed, broken, resumed = SmallModel(), SmallModel(), SmallModel()
        first = trained(tmp_path / "whole", undisturbed)
        with pytest.raises(KeyboardInterrupt):
            trained(tmp_path / "broken", broken, _DyingLoader(dies_after=dies_after))
        second = trained(tmp_path / "broken", resumed, resume=True)
        assert equal(weights(undisturbed), weights(resumed))
        assert first.curve == second.curve
        assert (first.step, first.value) == (second.step, second.value)

    def test_parts_of_a_batch_add_up(self, tmp_path: Path) -> None:
        # two equal parts give the mean of both gradients, as one batch that holds both does
        class Doubled(NumbersLoader):
            def __call__(self, step: int, part: int) -> Numbers:  # noqa: ARG002
                halves = [NumbersLoader.__call__(self, step, number) for number in (0, 1)]
                return Numbers(torch.cat([half.x for half in halves]), torch.cat([half.y for half in halves]))

        models = [SmallModel(), SmallModel()]
        for model in models:
            model.module[2] = torch.nn.Identity()
        trained(tmp_path / "parts", models[0], accumulate=2, steps=5)
        trained(tmp_path / "whole", models[1], Doubled(), steps=5)
        for in_parts, at_once in zip(weights(models[0]).values(), weights(models[1]).values(), strict=True):
            assert torch.allclose(in_parts, at_once, atol=1e-5)

    def test_mixed_precision_is_asked_for_and_runs_may_differ(self, tmp_path: Path) -> None:
        models = [SmallModel(), SmallModel(), SmallModel()]
        for number, (model, precision) in enumerate(zip(models, ("fp32", "bf16", "fp32"), strict=True)):
            trained(tmp_path / str(number), model, precision=precision, steps=5)
        assert equal(weights(models[0]), weights(models[2]))
        assert not equal(weights(models[0]), weights(models[1]))
        for full, mixed in zip(weights(models[0]).values(), weights(models[1]).values(), strict=True):
            assert torch.allclose(full, mixed, atol=0.02)
            assert mixed.dtype == torch.float32

    def test_it_stops_early_and_keeps_the_best(self, tmp_path: Path) -> None:
        model = SmallModel()
        summary = trained(tmp_path, model, NumbersLoader(wrong=True), steps=500, patience=2, learning_rate=0.05)
        assert summary.stopped_early
        assert summary.steps == summary.step + 20  # two validations, ten steps each
        measures = [point.value for point in summary.curve if point.measure == "minus-error"]
        assert summary.value == max(measures)
        assert validation_of(model)["minus-error"] == summary.value

    def test_a_run_that_stopped_early_stays_stopped(self, tmp_path: Path) -> None:
        first_model, second_model = SmallModel(), SmallModel()
        changes = {"steps": 500, "patience": 2, "learning_rate": 0.05}
        first = trained(tmp_path, first_model, NumbersLoader(wrong=True), **changes)
        second = trained(tmp_path, second_model, NumbersLoader(wrong=True), resume=True, **changes)
        assert second.steps == first.steps
        assert equal(weights(first_model), weights(second_model))

    def test_the_curve_has_losses_rates_and_validations(self, tmp_path: Path) -> None:
        model = SmallModel()
        summary = trained(tmp_path, model, steps=20)
        assert [p.step for p in summary.curve if p.measure == "loss"] == [5, 10, 15, 20]
        assert [p.step for p in summary.curve if p.split == "validation" and p.measure == "one"] == [10, 20]
        assert model.steps == 20

    def test_epochs_are_steps(self, tmp_path: Path) -> None:
        summary = trained(tmp_path, SmallModel(), steps=None, epochs=1.5)
        assert summary.steps == 15


class TestErrors:
    def test_a_loss_that_is_not_finite(self, tmp_path: Path) -> None:
        class Broken(NumbersLoader):
            def __call__(self, step: int, part: int) -> Numbers:
                batch = super().__call__(step, part)
                return Numbers(batch.x, batch.y * (math.nan if step == 3 else 1))

        with pytest.raises(TrainingError, match="nan at step 3"):
            trained(tmp_path, SmallModel(), Broken())

    def test_a_damaged_state(self, tmp_path: Path) -> None:
        trained(tmp_path, SmallModel(), steps=10)
        state = tmp_path / FILE_NAME
        state.write_bytes(state.read_bytes()[:1000])
        with pytest.raises(TrainingError, match="--force"):
            load_state(tmp_path, "f")

    def test_the_state_of_other_work(self, tmp_path: Path) -> None:
        trained(tmp_path, SmallModel(), steps=10)
        with pytest.raises(TrainingError, match="have changed"):
            load_state(tmp_path, "other")

    def test_steps_and_epochs(self) -> None:
        with pytest.raises(ValueError, match="either steps or epochs"):
            Training(batch=1, learning_rate=1, steps=3, epochs=1)


def test_killed_at_random_moments_it_ends_with_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("small_model.py")), str(tmp_path), "8", "1"]
    done = subprocess.run(command, check=True, timeout=300, capture_output=True, text=True)
    assert len(set(done.stdout.split())) >= 2  # it was killed at several steps
    for name in ("weights", "curve"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()


def test_two_processes_train_as_one(tmp_path: Path) -> None:
    script = str(Path(__file__).with_name("small_model.py"))
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2"]
    command = [sys.executable, *launcher, script, str(tmp_path), "shared"]
    subprocess.run(command, check=True, timeout=300, env=one_thread, capture_output=True)
    shared(tmp_path / "alone")
    together, alone = (torch.load(tmp_path / name) for name in ("weights-of-2.pt", "alone/weights-of-1.pt"))
    for name, value in alone.items():
        assert torch.allclose(value, together[name], atol=1e-6)


class _DyingLoader(NumbersLoader):
    """A data loader that interrupts the run after so many steps."""

    def __init__(self, *, dies_after: int) -> None:
        super().__init__()
        object.__setattr__(self, "dies_after", dies_after)

    def __call__(self, step: int, part: int) -> Numbers:
        if step > self.dies_after:  # type: ignore[attr-defined]
            raise KeyboardInterrupt
        return super().__call__(step, part)
