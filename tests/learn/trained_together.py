"""Train small models in 1, 2 and 4 processes that are forked from this one, and write their curves and weights.

Run as ``python trained_together.py FOLDER``; ``test_processes.py`` compares what it writes.
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import torch
import torch._dynamo  # what every process would import late
from torch import nn
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # torch re-exports it

from beholder.learn.processes.devices import is_main_process, process_count
from beholder.learn.train import parts_per_process, train

if TYPE_CHECKING:
    from tests.learn.small_model import FEATURES, Numbers, SmallModel, numbers, settings
else:
    from small_model import FEATURES, Numbers, SmallModel, numbers, settings

BATCH = 16
STEPS = 6


class ClippedModel(SmallModel):
    """Blocks of which FSDP makes units, a parameter without dimensions, and no dropout."""

    def __init__(self) -> None:
        super().__init__()
        blocks = nn.ModuleList(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(2))
        self.module = _Blocks(blocks)  # type: ignore[assignment]

    def after_step(self) -> None:
        with torch.no_grad():
            self.module.get_parameter("scale").clamp_(0.5, 2.0)


class _Blocks(nn.Module):
    def __init__(self, blocks: nn.ModuleList) -> None:
        super().__init__()
        self.first, self.blocks, self.last = nn.Linear(FEATURES, 8), blocks, nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        hidden = self.first(values)
        for block in self.blocks:
            hidden = block(hidden)
        predicted: torch.Tensor = self.last(hidden) * self.scale
        return predicted


class NormalisedModel(SmallModel):
    """Batch normalisation of what comes in, as features are standardised, instead of dropout."""

    def __init__(self) -> None:
        super().__init__()
        layers = nn.Linear(FEATURES, 8), nn.Tanh(), nn.Linear(8, 1)
        self.module = nn.Sequential(nn.BatchNorm1d(FEATURES, affine=False), *layers)


@dataclass(frozen=True)
class DealtLoader:
    """One batch per step, dealt to the parts; interrupted before step ``dies_at``."""

    parts: int
    dies_at: int = STEPS
    steps_per_epoch: int = 10

    def __call__(self, step: int, part: int) -> Numbers:
        if step >= self.dies_at:
            raise KeyboardInterrupt
        batch = numbers([7, step], BATCH)
        return Numbers(batch.x[part :: self.parts], batch.y[part :: self.parts])


def run(model: SmallModel, folder: Path, dies_at: int, changes: Mapping[str, object]) -> None:
    """Train in as many processes as there are, and write the curve and the weights."""
    training = settings(**{"steps": STEPS, "validate_every": 3, "save_every": 2, "log_every": 1, **changes})
    loader = DealtLoader(process_count() * parts_per_process(training), dies_at)

    def validate() -> Mapping[str, float]:
        with torch.no_grad():
            return {"minus-error": -float(model.loss(numbers([8], 64)))}

    summary = train(model, loader, validate, training, folder, fingerprint="f", resume=True)
    if is_main_process():
        curve = [(point.step, point.measure, point.value) for point in summary.curve]
        torch.save({"curve": curve, "weights": model.module.state_dict()}, folder / "outcome.pt")


def together(processes: int, work: Callable[[], None], *, interrupted: bool = False) -> None:
    """Do the work in forked processes that find each other; it ends well, or is interrupted, in all of them."""
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(minutes=2))
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "TORCHELASTIC_RESTART_COUNT": "0"}
    os.environ |= {**place, "TORCHELASTIC_USE_AGENT_STORE": "True", "WORLD_SIZE": str(processes)}
    children = []
    for rank in range(processes):
        child = os.fork()
        if child == 0:
            if processes == 1:
                del os.environ["WORLD_SIZE"]
            else:
                os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(processes)}
            code = 1
            try:
                work()
                code = 0
            except KeyboardInterrupt:
                code = 3
            finally:
                if code == 1:
                    traceback.print_exc()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [3 if interrupted else 0] * processes, codes


@dataclass(frozen=True)
class Case:
    """A model and how it is trained."""

    model: type[SmallModel]
    changes: Mapping[str, object]
    processes: int
    dies_at: int = STEPS

    def __call__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        together(
            self.processes,
            lambda: run(self.model(), folder, self.dies_at, self.changes),
            interrupted=self.dies_at < STEPS,
        )


PLAIN = Case(ClippedModel, {"clip": 0.5}, 1)
SHARDED = Case(ClippedModel, {"clip": 0.5, "sharded": True}, 2)
CASES: dict[str, list[Case]] = {
    **{f"plain-{count}": [replace(PLAIN, processes=count)] for count in (1, 2, 4)},
    "resumed": [replace(PLAIN, dies_at=2), replace(PLAIN, processes=2, dies_at=4), replace(PLAIN, processes=4)],
    "checkpointed": [replace(PLAIN, changes={"clip": 0.5, "gradient_checkpointing": True})],
    "bf16-1": [replace(PLAIN, changes={"precision": "bf16"})],
    "bf16-2": [replace(PLAIN, changes={"precision": "bf16"}, processes=2)],
    "sharded": [SHARDED],
    "sharded-then-not": [replace(SHARDED, dies_at=2), replace(PLAIN, dies_at=4), SHARDED],
    **{f"dropout-{count}": [Case(SmallModel, {"parts": 4}, count)] for count in (1, 2, 4)},
    **{f"normalised-{count}": [Case(NormalisedModel, {}, count)] for count in (1, 2)},
}
"""Name -> what is done one after the other in the folder of that name."""


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, cases in CASES.items():
        for case in cases:
            case(Path(sys.argv[1]) / name)
