"""A number with its uncertainty: what every statistic of beholder hands back."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError


@dataclass(frozen=True)
class Estimate:
    """A value, its confidence interval, and what they rest on."""

    value: float
    low: float
    high: float
    level: float  # nominal coverage of [low, high], such as 0.95
    method: str  # how the interval was made, such as "expanded percentile bootstrap over raters"
    raters: int
    items: int | None = None
    answers: int | None = None
    replicates: int | None = None  # bootstrap replicates; None where the interval is in closed form

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, eq=False)
class Estimates:
    """The same as :class:`Estimate` for several cells at once; indexing or iterating gives the single ones."""

    value: NDArray[np.float64]  # (cells,)
    low: NDArray[np.float64]  # (cells,)
    high: NDArray[np.float64]  # (cells,)
    level: float
    method: str
    raters: NDArray[np.int64]  # (cells,)
    items: NDArray[np.int64] | None = None  # (cells,)
    answers: NDArray[np.int64] | None = None  # (cells,)
    replicates: int | None = None

    def __post_init__(self) -> None:
        shape = self.value.shape
        columns = {"low": self.low, "high": self.high, "raters": self.raters}
        optional = {"items": self.items, "answers": self.answers}
        columns |= {name: column for name, column in optional.items() if column is not None}
        wrong = [f"{name} {column.shape}" for name, column in columns.items() if column.shape != shape]
        if len(shape) != 1 or wrong:
            raise StatisticsError(
                f"Estimates need one-dimensional columns of one length; found value {shape}, {', '.join(wrong)}"
            )

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, cell: int) -> Estimate:
        return Estimate(
            value=float(self.value[cell]),
            low=float(self.low[cell]),
            high=float(self.high[cell]),
            level=self.level,
            method=self.method,
            raters=int(self.raters[cell]),
            items=None if self.items is None else int(self.items[cell]),
            answers=None if self.answers is None else int(self.answers[cell]),
            replicates=self.replicates,
        )

    def __iter__(self) -> Iterator[Estimate]:
        return (self[cell] for cell in range(len(self)))
