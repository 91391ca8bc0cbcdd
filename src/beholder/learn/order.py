"""Which examples belong to a step: all once an epoch, in an order that follows from the seed alone."""

import numpy as np
from numpy.typing import NDArray


def steps_an_epoch(examples: int, batch: int) -> int:
    """Steps in which all examples are seen once; an incomplete last batch is left out."""
    return max(examples // batch, 1)


def places_at(step: int, part: int, *, examples: int, batch: int, parts: int, seed: int) -> NDArray[np.int64]:
    """The places of the examples in part ``part`` of the batch of step ``step``, both from 0."""
    epoch, place = divmod(step, steps_an_epoch(examples, batch))
    order = np.random.default_rng([seed, 1, epoch]).permutation(examples)
    chosen = order[place * batch : (place + 1) * batch][part::parts]
    if not len(chosen):  # fewer examples than parts: some are seen twice
        chosen = order[part % len(order)][None]
    return np.asarray(chosen, np.int64)


def random_at(step: int, part: int, seed: int) -> np.random.Generator:
    """The random state for augmenting that part."""
    return np.random.default_rng([seed, 2, step, part])
