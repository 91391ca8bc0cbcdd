"""Distances and scores that grow batch by batch: ``update``, ``compute``, ``reset``, as torchmetrics has them."""

from beholder.metrics.frechet import FrechetDistance
from beholder.metrics.image_score import ImageScore, MeanScore
from beholder.metrics.kernel import KernelDistance
from beholder.metrics.metric import Metric
from beholder.metrics.prdc import PRDC
from beholder.metrics.set_metric import ImageSetMetric

__all__ = [
    "PRDC",
    "FrechetDistance",
    "ImageScore",
    "ImageSetMetric",
    "KernelDistance",
    "MeanScore",
    "Metric",
]
