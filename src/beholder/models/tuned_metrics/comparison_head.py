"""The score of a metric that depends on the prompt, by how image and prompt compare.

A regression on the scores of the Gaussian processes, which see how good an image is, and on the features of
:mod:`beholder.models.alignment.comparison`, which see whether it shows what was asked for. It is fitted to scores
and maps that are held out by prompt: of images that they were fitted to, both would say far too much.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from beholder.models.alignment import comparison as compared
from beholder.models.alignment import regression as regressed
from beholder.models.alignment.comparison import (
    Floats,
    NetworkOutputs,
    comparison_of_tensors,
    tensors_of_comparison,
)
from beholder.models.alignment.fit import SPREAD_COMPONENTS, fit_comparison
from beholder.models.alignment.regression import KNOTS, RankRegression, fit_rank_regression
from beholder.models.encoders.efficientnet_lite import CLASSES, FEATURES

LEAST_WEIGHT = 0.05
"""Of an image in the map. Others count by how far their standardised label is above −1."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Images with their prompts."""

    image_scores: Floats
    """By the processes, (images, image scores); in training each by images of other prompts."""
    outputs: NetworkOutputs
    """What a network with named classes says of the images."""
    prompts: Sequence[str]
    sentences: Floats
    """Unit vectors of the prompts, (images, text dims)."""

    def select(self, rows: NDArray[np.int64]) -> "Examples":
        """Some of the images."""
        return Examples(
            self.image_scores[rows],
            NetworkOutputs(self.outputs.features[rows], self.outputs.logits[rows]),
            [self.prompts[int(row)] for row in rows],
            self.sentences[rows],
        )


class ComparisonHead(nn.Module):
    """From the scores of the processes, images and prompts to scores, once it is fitted."""

    is_fitted: torch.Tensor

    def __init__(self, image_scores: int, text_dims: int) -> None:
        """An unfitted head.

        Args:
            image_scores: Number of scores of the processes.
            text_dims: Length of the vectors of sentences.
        """
        super().__init__()
        features = image_scores + len(compared.FEATURES)
        shapes = {
            "names": (CLASSES, text_dims),
            "logit_mean": (CLASSES,),
            "logit_deviation": (CLASSES,),
            "logit_spread": (CLASSES, SPREAD_COMPONENTS),
            "classes_mean": (text_dims,),
            "classes_spread": (text_dims, min(SPREAD_COMPONENTS, text_dims)),
            "map_mean": (FEATURES,),
            "map_deviation": (FEATURES,),
            "map": (FEATURES, text_dims),
            "mapped_mean": (text_dims,),
            "mapped_spread": (text_dims, min(SPREAD_COMPONENTS, text_dims)),
            **dict.fromkeys(("feature_mean", "feature_deviation", "weights"), (features,)),
            **dict.fromkeys(("scale_from", "scale_to"), (KNOTS,)),
        }
        for name, shape in shapes.items():
            self.register_buffer(name, torch.zeros(shape))
        self.register_buffer("is_fitted", torch.tensor(False))

    def fit(self, names: Floats, examples: Examples, labels: Floats, *, map_ridge: float, ridge: float) -> None:
        """Fit it to images with their prompts; those without a label or without a score are left out.

        Args:
            names: Unit vectors of the names of the network's classes, (classes, text dims).
            examples: The images.
            labels: (images,), nan where there is none.
            map_ridge: Ridge of the map from images to sentences, per feature.
            ridge: Ridge of the regression.
        """
        rows = np.flatnonzero(np.isfinite(labels) & np.isfinite(examples.image_scores).all(axis=1))
        if len(rows) < 2:
            return
        some, labels = examples.select(rows), labels[rows]
        standard = (labels - labels.mean()) / max(float(labels.std()), 1e-9)
        comparison, mapped = fit_comparison(
            names,
            some.outputs,
            some.sentences,
            np.maximum(standard + 1, LEAST_WEIGHT),
            np.unique(some.prompts, return_inverse=True)[1].astype(np.int64),
            map_ridge,
        )
        features = comparison.features(some.image_scores, some.outputs, some.prompts, some.sentences, mapped)
        regression = fit_rank_regression(features, labels, ridge)
        fitted = tensors_of_comparison(comparison)
        fitted |= {name: getattr(regression, name) for name in regressed.TENSORS}
        for name, values in fitted.items():
            getattr(self, name).copy_(torch.from_numpy(np.ascontiguousarray(values)))
        self.is_fitted.fill_(value=True)

    def forward(self, examples: Examples) -> torch.Tensor:
        """Scores (images,) on the scale of the labels, in double precision."""
        names = (*compared.TENSORS, *regressed.TENSORS)
        tensors = {name: getattr(self, name).double().cpu().numpy() for name in names}
        regression = RankRegression(**{name: tensors[name] for name in regressed.TENSORS})
        features = comparison_of_tensors(tensors).features(
            examples.image_scores, examples.outputs, examples.prompts, examples.sentences
        )
        return torch.from_numpy(regression.scores(features))
