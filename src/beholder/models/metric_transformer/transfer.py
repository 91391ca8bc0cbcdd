"""From a Metric Transformer for some metrics to one for others: what they share is taken over, and what is known.

A network has parts that all metrics share, and parts with a slice for each metric. A metric that the old model had
keeps its slice; a new one begins as the mean of the slices that there are.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from beholder.errors import WeightsError
from beholder.models.metric_transformer.attention import OWN
from beholder.models.weights.checkpoint import WEIGHTS, read_record
from beholder.models.weights.files import fit_state, read_state


def take_over(networks: nn.ModuleList, metrics: Sequence[str], source: Path) -> None:
    """Load what a model of other metrics has learnt, from the folder of its checkpoint."""
    record = read_record(source)
    if record.architecture != "metric-transformer":
        raise WeightsError(
            f"{source}: a model to go on from must be a metric-transformer, not {record.architecture}"
        )
    state = translated(read_state(source / WEIGHTS), record.aspects, metrics)
    fit_state(networks, state, str(source / WEIGHTS))


def translated(
    state: Mapping[str, torch.Tensor], before: Sequence[str], after: Sequence[str]
) -> dict[str, torch.Tensor]:
    """The tensors of a model for the metrics ``before`` as those of one for ``after``."""
    return {
        name: _slices(value, before, after) if name.partition(".")[2] in OWN else value
        for name, value in state.items()
    }


def _slices(value: torch.Tensor, before: Sequence[str], after: Sequence[str]) -> torch.Tensor:
    if len(value) != len(before):
        raise WeightsError(f"weights of {len(value)} metrics; {len(before)} are named: {', '.join(before)}")
    return torch.stack([value[before.index(one)] if one in before else value.mean(0) for one in after])
