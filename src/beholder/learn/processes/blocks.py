"""The repeated blocks of a network: what is computed again in the backward pass, and what is divided by FSDP."""

from functools import partial

from torch import nn
from torch.utils.checkpoint import checkpoint


def repeated_blocks(module: nn.Module) -> list[nn.Module]:
    """Return the outermost blocks that a network repeats: the members of lists of at least two modules."""
    if isinstance(module, nn.ModuleList) and len(module) > 1:
        return list(module)
    return [block for child in module.children() for block in repeated_blocks(child)]


def checkpoint_gradients(module: nn.Module) -> int:
    """Compute the activations of each block again in the backward pass instead of keeping them; return how many.

    The gradients are the same. Dropout is, too: the random state is restored.
    """
    blocks = repeated_blocks(module)
    keep_activations(module)
    for block in blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    return len(blocks)


def keep_activations(module: nn.Module) -> None:
    """Undo :func:`checkpoint_gradients`."""
    for block in repeated_blocks(module):
        vars(block).pop("forward", None)
