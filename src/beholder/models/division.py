"""Division of a batch into parts, for several processes or gradient accumulation, that leaves its loss as it is.

The loss of a batch is a mean over what is labelled in it. Its parts may hold different numbers of labels, so the
mean of their means would be another number. Every part therefore comes with the labels of the complete batch, and
weights its own mean by its proportion of them: then the mean over the parts is the mean over the batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

LabelsT = TypeVar("LabelsT")
"""A batch, of which only the labels are read."""


@dataclass(frozen=True, slots=True, eq=False)
class Division(Generic[LabelsT]):
    """The place of a part in its batch; the labels stay on the CPU."""

    part_labels: LabelsT
    batch_labels: LabelsT
    """Labels of all parts, without their images; the part has every ``parts``-th row from ``part``."""
    part: int
    parts: int
    seed: int
    """Of what is drawn once for the complete batch."""

    @property
    def rows(self) -> slice:
        """The rows of the batch that the part holds."""
        return slice(self.part, None, self.parts)


class Divided(Protocol[LabelsT]):
    """A batch that may be a part of another."""

    @property
    def division(self) -> Division[LabelsT] | None:
        """Its place in the batch; None if it is complete."""
        ...


def part_weight(batch: Divided[LabelsT], count: Callable[[LabelsT], float]) -> float:
    """Return the weight of a part's mean loss, such that the mean over the parts is the mean over the batch.

    ``count`` returns how much is labelled (pairs, their weights, ratings, words). The weight is that of the part,
    times the number of parts, divided by that of the batch; 1 for a complete batch, 0 where nothing is labelled.
    """
    division = batch.division
    if division is None:
        return 1.0
    labelled = count(division.batch_labels)
    return count(division.part_labels) * division.parts / labelled if labelled else 0.0
