"""What all metrics have in common: a state of arrays that grows, is merged, emptied, and computed from."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, Self, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from beholder.errors import UserError

Rows: TypeAlias = NDArray[np.float32] | NDArray[np.float64]
"""One row per image."""

State: TypeAlias = Mapping[str, Rows]
"""Arrays by name; their first axis counts images."""

Figure_co = TypeVar("Figure_co", covariant=True)


class Metric(ABC, Generic[Figure_co]):
    """A metric of many images that are seen in batches.

    The methods are called as those of ``torchmetrics.Metric`` are, which is not needed: ``update`` with each
    batch, ``compute`` for the figure so far, ``reset`` to begin again. Batches seen by several processes are
    combined by :meth:`merge_state`, in any order.
    """

    names: tuple[str, ...]
    """Of the arrays of the state."""

    def __init__(self) -> None:
        self._batches: dict[str, list[Rows]] = {name: [] for name in self.names}

    @abstractmethod
    def compute(self) -> Figure_co:
        """Return the figure for all images since the last reset, with its confidence interval."""

    def reset(self) -> None:
        """Forget all images."""
        for batches in self._batches.values():
            batches.clear()

    def merge_state(self, incoming_state: "State | Metric[object]") -> None:
        """Add the images of another metric of the same kind and settings, or of its :attr:`metric_state`.

        Args:
            incoming_state: The other metric, or its state, such as another process sent it.
        """
        if isinstance(incoming_state, Metric):
            if type(incoming_state) is not type(self) or incoming_state.identity != self.identity:
                raise UserError(f"{self!r} cannot take in the images of {incoming_state!r}: settings differ")
            incoming_state = incoming_state.metric_state
        if set(incoming_state) != set(self.names):
            raise UserError(f"a state of {', '.join(self.names)} is expected; found: {', '.join(incoming_state)}")
        for name, rows in incoming_state.items():
            if len(rows):
                self._append(name, rows)

    @property
    def metric_state(self) -> dict[str, Rows]:
        """All that was seen, as arrays, to be sent to another process and merged there."""
        return {name: self._rows(name) for name in self.names}

    @property
    @abstractmethod
    def identity(self) -> str:
        """Settings, encoder and weights: only metrics of one identity can be merged."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{sum(map(len, batches)):,} {name}" for name, batches in self._batches.items())
        return f"{type(self).__name__}({self.identity}): {counts}"

    def __enter__(self) -> Self:
        """Begin with no images."""
        self.reset()
        return self

    def __exit__(self, *_: object) -> None:
        """Forget all images."""
        self.reset()

    def _append(self, name: str, rows: Rows) -> None:
        width = next((batch.shape[1:] for batches in self._batches.values() for batch in batches), rows.shape[1:])
        if rows.shape[1:] != width:
            raise UserError(f"features of {rows.shape[1:]} after features of {width}: use one encoder")
        self._batches[name].append(rows)

    def _rows(self, name: str) -> Rows:
        batches = self._batches[name]
        return cast("Rows", np.concatenate(batches)) if batches else np.empty((0, 0), np.float32)
