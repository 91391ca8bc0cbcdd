"""The packaged head of alignment: a regression on how an image and its prompt compare, and its file.

Twelve features: ``quality`` and ``overall`` (alignment as far as the image alone tells) by kernel regressions on
the image, then those of :mod:`beholder.models.alignment.comparison`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open

from beholder.errors import WeightsError
from beholder.models.alignment import comparison as compared
from beholder.models.alignment import regression as regressed
from beholder.models.alignment.comparison import Comparison, Floats, NetworkOutputs, comparison_of_tensors
from beholder.models.alignment.regression import RankRegression

FEATURES = ("quality", "overall", *compared.FEATURES)
TENSORS = ("coefficients", *compared.TENSORS, *regressed.TENSORS)
NUMBERS = ("intercept", "conformal_width", "unseen_width")
"""What a file of a head holds, as tensors and as numbers in its metadata."""


@dataclass(frozen=True, eq=False)
class AlignmentHead:
    """The features, and the regression on them."""

    coefficients: Floats  # (training images,)
    """Of a kernel regression of alignment on the centres of the head of quality."""
    intercept: float
    """Of the same."""
    comparison: Comparison
    regression: RankRegression
    conformal_width: float
    """95 % of held-out images were scored within this of raters' mean."""
    unseen_width: float
    """The same for generators that it was not trained on, by leaving out one generator at a time."""

    def scores(self, features: Floats) -> Floats:
        """Alignment from 0 to 5 by the features (images, 12): (images,)."""
        return self.regression.scores(features)

    def features(
        self, image_scores: Floats, outputs: NetworkOutputs, prompts: Sequence[str], vectors: Floats
    ) -> Floats:
        """Return the features of images with their prompts, (images, 12).

        ``image_scores`` are quality and alignment by the image alone, (images, 2); ``vectors`` are the prompts'.
        """
        return self.comparison.features(image_scores, outputs, prompts, vectors)


def read_alignment_head(path: Path) -> tuple[AlignmentHead, Mapping[str, str]]:
    """Return the head of a safetensors file, and the metadata of the file."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            tensors = {name: file.get_tensor(name).astype(np.float64) for name in TENSORS}
        numbers = {name: float(metadata[name]) for name in NUMBERS}
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise WeightsError(f"{path}: not a head of alignment that can be read ({error})") from error
    return head_of_tensors(tensors, numbers), metadata


def head_of_tensors(tensors: Mapping[str, Floats], numbers: Mapping[str, float]) -> AlignmentHead:
    """Return the head that these tensors and numbers describe."""
    return AlignmentHead(
        coefficients=tensors["coefficients"],
        comparison=comparison_of_tensors(tensors),
        regression=RankRegression(**{name: tensors[name] for name in regressed.TENSORS}),
        **{name: numbers[name] for name in NUMBERS},
    )
