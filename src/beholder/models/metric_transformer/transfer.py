"""Transfer of weights from a Metric Transformer for some metrics to one for others.

A network has parameters that all metrics share, and parameters with one slice per metric. A metric that the old
model has keeps its slice; a new one starts from the mean of all slices.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import nn

from beholder.errors import WeightsError
from beholder.models.metric_transformer.attention import PER_METRIC
from beholder.models.weights.checkpoint import WEIGHTS, read_record
from beholder.models.weights.files import fit_state, read_state


def transfer_weights(networks: nn.ModuleList, metrics: Sequence[str], source: Path) -> None:
    """Load the weights of a model for other metrics, from the folder of its checkpoint."""
    record = read_record(source)
    if record.architecture != "metric-transformer":
        raise WeightsError(
            f"{source}: a model to go on from must be a metric-transformer, not {record.architecture}"
        )
    state = convert_state(read_state(source / WEIGHTS), record.aspects, metrics)
    fit_state(networks, state, str(source / WEIGHTS))


def convert_state(
    state: Mapping[str, torch.Tensor], before: Sequence[str], after: Sequence[str]
) -> dict[str, torch.Tensor]:
    """The tensors of a model for the metrics ``before`` as those of one for ``after``."""
    return {
        name: _convert_slices(tensor, before, after) if name.partition(".")[2] in PER_METRIC else tensor
        for name, tensor in state.items()
    }


def _convert_slices(tensor: torch.Tensor, before: Sequence[str], after: Sequence[str]) -> torch.Tensor:
    if len(tensor) != len(before):
        raise WeightsError(f"weights of {len(tensor)} metrics; {len(before)} are named: {', '.join(before)}")
    return torch.stack([tensor[before.index(metric)] if metric in before else tensor.mean(0) for metric in after])
