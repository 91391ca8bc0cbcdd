import torch
from torch import nn

from beholder.models.trainable import decayed_groups


class _Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(3, 2)
        self.norm = nn.LayerNorm(2)
        self.frozen = nn.Linear(2, 2).requires_grad_(requires_grad=False)
        self.temperature = nn.Parameter(torch.tensor(1.0))


def test_matrices_decay_and_norms_biases_and_numbers_do_not() -> None:
    small = _Small()
    matrices, others = decayed_groups(small, 1e-3, 0.3)
    assert matrices["params"] == [small.dense.weight]
    assert matrices["weight_decay"] == 0.3
    parameters = others["params"]
    assert isinstance(parameters, list)
    assert {id(parameter) for parameter in parameters} == {
        id(parameter) for parameter in (small.dense.bias, small.norm.weight, small.norm.bias, small.temperature)
    }
    assert others["weight_decay"] == 0.0


def test_a_group_without_parameters_is_left_out() -> None:
    assert len(decayed_groups(nn.LayerNorm(4), 1e-3, 0.1)) == 1
