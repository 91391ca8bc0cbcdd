"""Which of its tasks a model with augmented prompts trains on for which image of a batch."""

from dataclasses import dataclass

import torch

from beholder.models.rich_feedback.trainable import RichBatch


@dataclass(frozen=True, slots=True, eq=False)
class DrawnTasks:
    """Whether each task is trained on for each image, (images, tasks)."""

    of_part: torch.Tensor
    of_batch: torch.Tensor
    """For all parts of the batch; the same where the batch is complete."""


def draw_tasks(batch: RichBatch, tasks: int, per_image: int | None) -> DrawnTasks:
    """Draw ``per_image`` of the tasks for each image, or take all.

    For a part of a batch they are drawn for the complete batch, so that it does not matter how it is divided.
    """
    division = batch.division
    rows = len(batch if division is None else division.batch_labels)
    if not per_image or per_image >= tasks:
        drawn = torch.ones(rows, tasks, dtype=torch.bool)
    else:
        generator = None if division is None else torch.Generator().manual_seed(division.seed)
        drawn = torch.rand((rows, tasks), generator=generator).argsort(1) < per_image
    return DrawnTasks(drawn if division is None else drawn[division.rows], drawn)
