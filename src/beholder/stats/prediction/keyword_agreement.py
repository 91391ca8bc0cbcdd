"""How far the words that a model calls misaligned are those that raters do: precision, recall and F1.

*Pooled* counts the words of all images together (as the paper on rich human feedback does); *by image* averages
the figures of the images. The two differ, so the name goes with the number. An image without words marked by
raters or by the model has no figure of its own and is left out of the average; where only one of them marked
words, all three figures are 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.bootstrap import clustered_ratio

MEASURES = ("precision", "recall", "f1")


@dataclass(frozen=True, eq=False)
class KeywordAgreement:
    """Words by image: marked by both, by the model alone, by raters alone."""

    both: NDArray[np.float64]  # (images,)
    model_only: NDArray[np.float64]  # (images,)
    raters_only: NDArray[np.float64]  # (images,)

    def pooled(self) -> dict[str, float]:
        """Each measure over the words of all images; nan where nothing could be right."""
        return {name: _ratio(above.sum(), below.sum()) for name, (above, below) in self.pooled_sums().items()}

    def by_image(self) -> dict[str, float]:
        """Each measure averaged over images; nan where no image has a marked word."""
        return {name: _ratio(above.sum(), below.sum()) for name, (above, below) in self.by_image_sums().items()}

    def pooled_estimates(
        self, weights: NDArray[np.integer], *, clusters: ArrayLike | None = None, level: float = 0.95
    ) -> dict[str, Estimate]:
        """The pooled measures with confidence intervals over images, or over ``clusters`` of them (prompts).

        ``weights`` is (replicates, images) or (replicates, clusters); ``clusters`` the cluster of each image from
        0.
        """
        return {
            name: _estimate(above, below, weights, clusters, level)
            for name, (above, below) in self.pooled_sums().items()
        }

    def by_image_estimates(
        self, weights: NDArray[np.integer], *, clusters: ArrayLike | None = None, level: float = 0.95
    ) -> dict[str, Estimate]:
        """The averages over images likewise."""
        return {
            name: _estimate(above, below, weights, clusters, level)
            for name, (above, below) in self.by_image_sums().items()
        }

    def pooled_sums(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Each measure is a ratio of two sums over images; these are what is summed, (images,) each."""
        return {
            "precision": (self.both, self.both + self.model_only),
            "recall": (self.both, self.both + self.raters_only),
            "f1": (2 * self.both, 2 * self.both + self.model_only + self.raters_only),
        }

    def by_image_sums(self) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """The same of the averages: an image counts where anybody marked a word of it."""
        counted = (self.both + self.model_only + self.raters_only > 0).astype(np.float64)
        return {
            name: (counted * above / np.maximum(below, 1), counted)
            for name, (above, below) in self.pooled_sums().items()
        }


def keyword_agreement(predicted: ArrayLike, marked: ArrayLike, images: ArrayLike) -> KeywordAgreement:
    """Compare the model's flag of each word with raters'; ``images`` is the word's image as an index from 0."""
    model, rater_marks, image = np.asarray(predicted), np.asarray(marked), np.asarray(images)
    if model.ndim != 1 or not model.shape == rater_marks.shape == image.shape or not len(model):
        raise StatisticsError(
            f"keywords need three columns of one length; found shapes {model.shape}, {rater_marks.shape}, "
            f"{image.shape}"
        )
    if model.dtype != np.bool_ or rater_marks.dtype != np.bool_:
        raise StatisticsError(f"keywords are marked true or false; found {model.dtype} and {rater_marks.dtype}")
    if image.dtype.kind not in "iu" or image.min() < 0:
        raise StatisticsError(f"the images of words are indices from 0; found {image.dtype}, least {image.min()}")
    size = int(image.max()) + 1
    both, model_only, raters_only = (
        np.bincount(image, column, size).astype(np.float64)
        for column in (model & rater_marks, model & ~rater_marks, rater_marks & ~model)
    )
    return KeywordAgreement(both, model_only, raters_only)


def _estimate(
    above: NDArray[np.float64],
    below: NDArray[np.float64],
    weights: NDArray[np.integer],
    clusters: ArrayLike | None,
    level: float,
) -> Estimate:
    """A ratio of sums over images, those of one cluster drawn together."""
    if clusters is not None:
        group, size = np.asarray(clusters), weights.shape[1]
        above, below = (np.bincount(group, column, size).astype(np.float64) for column in (above, below))
    return clustered_ratio(above[:, None], below[:, None], weights, level=level)[0]


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below else float(np.nan)
