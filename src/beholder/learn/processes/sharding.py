"""Fully sharded training (FSDP): every process holds a part of each weight, its gradient and its moments.

Blocks are gathered when they are computed. The state on disk has complete tensors, whatever the number of
processes, sharded or not. accelerate shards on GPUs only; torch's ``fully_shard``, which it calls there, works on
CPUs as well and is called here directly. Parameters without dimensions, such as a temperature, stay complete in
every process, and their gradients are averaged.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import distributed, nn
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from beholder.learn.processes.blocks import repeated_blocks

HOOKS = (
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
)
"""Attributes of a module that sharding adds to."""


class Sharding:
    """A module whose parameters are divided between the processes, until :meth:`undo`."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._before = [
            (each, type(each), {name: each.__dict__[name].copy() for name in HOOKS}) for each in module.modules()
        ]
        self._complete = [parameter for parameter in module.parameters() if parameter.ndim == 0]
        for block in repeated_blocks(module):
            fully_shard(block, ignored_params=set(self._complete))
        fully_shard(module, ignored_params=set(self._complete))

    def average_complete_gradients(self) -> None:
        """Average the gradients of the parameters that are not divided."""
        for parameter in self._complete:
            if parameter.requires_grad:
                gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                distributed.all_reduce(gradient)
                parameter.grad = gradient / distributed.get_world_size()

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """Have all parameters complete in every process, for predictions."""
        sharded = [module for module in self._module.modules() if isinstance(module, FSDPModule)]
        for module in sharded:
            module.unshard()
        try:
            yield
        finally:
            for module in sharded:
                module.reshard()

    def undo(self) -> None:
        """Give every process the complete module back."""
        complete = {
            parameter: nn.Parameter(full(parameter), parameter.requires_grad)
            for parameter in self._module.parameters()
        }
        names = list(self._module.named_parameters(remove_duplicate=False))
        for module, kind, hooks in self._before:
            module.__class__ = kind
            module.__dict__.update(hooks)
        for name, parameter in names:
            owner, _, own_name = name.rpartition(".")
            self._module.get_submodule(owner)._parameters[own_name] = complete[parameter]


def full(value: torch.Tensor) -> torch.Tensor:
    """Return the complete tensor; all processes must call this."""
    return value.full_tensor().detach() if isinstance(value, DTensor) else value.detach()


def full_weights(module: nn.Module, *, keep: bool = True) -> dict[str, torch.Tensor]:
    """Return the complete weights of a module; all processes must call this, but need not ``keep`` them."""
    weights = {}
    for name, value in module.state_dict().items():
        complete = full(value)
        if keep:
            weights[name] = complete
    return weights


def load_full_weights(module: nn.Module, weights: Mapping[str, torch.Tensor]) -> None:
    """Load complete weights into a module, sharded or not."""
    current = module.state_dict()
    module.load_state_dict({name: _as(current[name], value) for name, value in weights.items()})


def full_optimiser_state(optimiser: torch.optim.Optimizer, *, keep: bool = True) -> dict[str, Any]:
    """Return the state of an optimiser with complete tensors; all must call this, but need not ``keep`` it."""
    content = optimiser.state_dict()
    state: dict[int, dict[str, Any]] = {}
    for index, entry in content["state"].items():
        for name, value in entry.items():
            complete = full(value) if isinstance(value, torch.Tensor) else value
            if keep:
                state.setdefault(index, {})[name] = complete
    return {**content, "state": state}


def load_full_optimiser_state(optimiser: torch.optim.Optimizer, content: Mapping[str, Any]) -> None:
    """Load a state with complete tensors into an optimiser of a module, sharded or not."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    state = {
        index: {
            name: _as(parameters[index], value) if _has_shape(value, parameters[index]) else value
            for name, value in entry.items()
        }
        for index, entry in content["state"].items()
    }
    optimiser.load_state_dict({**content, "state": state})


def clip_gradients(parameters: Iterable[nn.Parameter], largest: float) -> None:
    """Scale gradients such that their common norm is at most ``largest``, as torch does, sharded or not."""
    learning = [parameter for parameter in parameters if parameter.grad is not None]
    gradients = [parameter.grad for parameter in learning if parameter.grad is not None]
    sharded = [gradient for gradient in gradients if isinstance(gradient, DTensor)]
    complete = [gradient for gradient in gradients if not isinstance(gradient, DTensor)]
    norms = [full(torch.nn.utils.get_total_norm(part)) for part in (sharded, complete) if part]
    if norms:
        factor = (largest / (torch.stack(norms).norm() + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(gradient.device))


def _as(target: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return a complete tensor divided as ``target`` is."""
    if not isinstance(target, DTensor):
        return value
    return distribute_tensor(value.to(target.device, target.dtype), target.device_mesh, target.placements)


def _has_shape(value: object, parameter: torch.Tensor) -> bool:
    return isinstance(value, torch.Tensor) and value.shape == parameter.shape
