"""Batch normalisation over all processes that train together.

The moments are those of the complete batch, so that a model does not depend on how many processes share it.
Torch's own ``SyncBatchNorm`` does the same on GPUs alone.
"""

import torch
from torch import nn
from torch.distributed.nn.functional import all_reduce
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm


def has_batch_norm(module: nn.Module) -> bool:
    """Return whether a module normalises by the moments of a batch."""
    return any(isinstance(each, _BatchNorm) for each in module.modules())


def synchronise_batch_norm(module: nn.Module) -> None:
    """Let all batch normalisations below a module share their moments between processes, in place."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if isinstance(child, _BatchNorm) and not isinstance(child, SynchronisedBatchNorm):
                setattr(parent, name, SynchronisedBatchNorm(child))


class SynchronisedBatchNorm(_BatchNorm):
    """As the batch normalisation that it replaces, whose parameters and running moments it takes over."""

    def __init__(self, replaced: _BatchNorm) -> None:
        super().__init__(
            replaced.num_features,
            replaced.eps,
            replaced.momentum,
            replaced.affine,
            replaced.track_running_stats,
        )
        self.weight, self.bias = replaced.weight, replaced.bias
        for name, buffer in replaced.named_buffers(recurse=False):
            setattr(self, name, buffer)
        self.train(replaced.training)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Normalise values (n, features, …)."""
        if not self.training:
            return functional.batch_norm(
                values, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps
            )
        axes = [axis for axis in range(values.ndim) if axis != 1]
        shape = [1, -1] + [1] * (values.ndim - 2)
        here = values.new_tensor([values.numel() / values.shape[1]])
        totals: torch.Tensor = all_reduce(torch.cat([values.sum(axes), here]))  # type: ignore[no-untyped-call]
        count = totals[-1].detach()
        mean = totals[:-1] / count
        centred = values - mean.reshape(shape)
        squares: torch.Tensor = all_reduce(centred.square().sum(axes))  # type: ignore[no-untyped-call]
        variance = squares / count
        self._update(mean.detach(), variance.detach() * count / (count - 1))
        normalised = centred * (variance + self.eps).rsqrt().reshape(shape)
        if not self.affine:
            return normalised
        return normalised * self.weight.reshape(shape) + self.bias.reshape(shape)

    def _update(self, mean: torch.Tensor, unbiased_variance: torch.Tensor) -> None:
        if self.running_mean is None or self.running_var is None or self.num_batches_tracked is None:
            return
        self.num_batches_tracked.add_(1)
        factor = self.momentum if self.momentum is not None else 1 / float(self.num_batches_tracked)
        self.running_mean.lerp_(mean, factor)
        self.running_var.lerp_(unbiased_variance, factor)

    def _check_input_dim(self, _: torch.Tensor) -> None:
        """Any number of dimensions."""
