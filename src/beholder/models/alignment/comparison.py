"""How an image and its prompt compare, by an ImageNet network and a sentence encoder; neither saw captions.

Features of an image with its prompt:

- scores by the image alone, such as its quality, and its alignment as far as the image alone tells;
- ``classes``: cosine of the prompt with the convex combination of class-name vectors, weighted by the
  probabilities of the ten likeliest classes (ConSE, Norouzi et al. 2014);
- ``evidence``: standardised logits, averaged over the classes whose names are similar to the prompt;
- ``mapped``: cosine of the prompt with a linear map of the image's features into the space of sentences;
- how hard the prompt is: its similarity to the most similar class (``nearest``), its numbers of ``words`` and of
  commas (``phrases``), and whether it asks for a ``view``, a ``distance``, a ``close-up`` or a ``light``.

``classes``, ``evidence`` and ``mapped`` are standardised by the mean and the standard deviation that the same
prompt has over the training images, so that prompts which are similar to everything count no more than others.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.models.components import signed_roots

Floats = NDArray[np.float64]

LIKELIEST = 10
"""Classes that the convex combination is taken over."""
SHARPNESS = 20.0
"""Of the softmax over similarities of a prompt to the classes."""
REQUESTS = {
    "view": r"\b(view|angle|aerial)\b",
    "distance": r"\b(long|wide|full)[- ]shot\b",
    "close-up": r"\b(close[- ]up|macro)\b",
    "light": r"\b(lighting|lit|hdr)\b",
}
"""What prompts ask of the camera, as regular expressions."""
FEATURES = ("classes", "evidence", "mapped", "nearest", "words", "phrases", *REQUESTS)
"""The features that depend on the prompt, after the scores by the image alone."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Mean and covariance of a vector over the training images, the covariance as Σ = R·Rᵀ."""

    mean: Floats  # (dims,)
    spread: Floats  # (dims, components): R

    def standardise(self, products: Floats, directions: Floats) -> Floats:
        """Products x·d of vectors with directions d (images, dims), standardised over the reference images."""
        scales = np.linalg.norm(directions @ self.spread, axis=1)
        return np.asarray((products - directions @ self.mean) / np.maximum(scales, 1e-9))


@dataclass(frozen=True, eq=False)
class NetworkOutputs:
    """What a network says of images: its last features, and its logits."""

    features: Floats  # (images, image dims)
    logits: Floats  # (images, classes)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What the features are computed with."""

    names: Floats  # (classes, text dims)
    """Unit vectors of the class names."""
    logit_mean: Floats  # (classes,)
    logit_deviation: Floats  # (classes,)
    logits: Reference  # of standardised logits
    classes: Reference  # of convex combinations
    map_mean: Floats  # (image dims,)
    map_deviation: Floats  # (image dims,)
    map: Floats  # (image dims, text dims)
    mapped: Reference  # of mapped images

    def features(
        self,
        image_scores: Floats,
        outputs: NetworkOutputs,
        prompts: Sequence[str],
        vectors: Floats,
        mapped: Floats | None = None,
    ) -> Floats:
        """Return the features of images with their prompts, (images, image scores + 10).

        Args:
            image_scores: Scores by the image alone, (images, image scores).
            outputs: What the network says of the images.
            prompts: The prompt of each image.
            vectors: Unit vectors of the prompts, (images, text dims).
            mapped: The images in the space of sentences; by default mapped by ``map``.

        Returns:
            The scores by the image alone, then ``FEATURES``.
        """
        similarity = vectors @ self.names.T  # (images, classes)
        class_weights = softmax(SHARPNESS * similarity)
        standard = (outputs.logits - self.logit_mean) / self.logit_deviation
        images = self.map_images(outputs.features) if mapped is None else mapped
        by_prompt = [
            self.classes.standardise(rowwise(self.combinations(outputs.logits), vectors), vectors),
            self.logits.standardise(rowwise(standard, class_weights), class_weights),
            self.mapped.standardise(rowwise(images, vectors), vectors),
            similarity.max(axis=1),
        ]
        return np.column_stack([image_scores, *by_prompt, difficulties(prompts)])

    def combinations(self, logits: Floats) -> Floats:
        """Unit vectors of what the network sees, (images, text dims), by the names of the likeliest classes."""
        return convex_combinations(logits, self.names)

    def map_images(self, features: Floats) -> Floats:
        """Images in the space of sentences, as unit vectors (images, text dims)."""
        mapped = (signed_roots(features) - self.map_mean) / self.map_deviation @ self.map
        return as_unit(mapped)


TENSORS = (
    *("names", "logit_mean", "logit_deviation", "logit_spread", "classes_mean", "classes_spread"),
    *("map_mean", "map_deviation", "map", "mapped_mean", "mapped_spread"),
)
"""What a comparison is saved as; standardised logits have the mean 0."""


def comparison_of_tensors(tensors: Mapping[str, Floats]) -> Comparison:
    """Return the comparison that these tensors describe; others among them are left out."""
    plain = ("names", "logit_mean", "logit_deviation", "map_mean", "map_deviation", "map")
    return Comparison(
        **{name: tensors[name] for name in plain},
        logits=Reference(np.zeros(len(tensors["names"])), tensors["logit_spread"]),
        classes=Reference(tensors["classes_mean"], tensors["classes_spread"]),
        mapped=Reference(tensors["mapped_mean"], tensors["mapped_spread"]),
    )


def tensors_of_comparison(comparison: Comparison) -> dict[str, Floats]:
    """Return the tensors of a comparison by name, in the order of ``TENSORS``."""
    references = {
        "logit_spread": comparison.logits.spread,
        "classes_mean": comparison.classes.mean,
        "classes_spread": comparison.classes.spread,
        "mapped_mean": comparison.mapped.mean,
        "mapped_spread": comparison.mapped.spread,
    }
    return {name: references[name] if name in references else getattr(comparison, name) for name in TENSORS}


def convex_combinations(logits: Floats, names: Floats) -> Floats:
    """Unit vectors Σ p(c)·name(c) over the likeliest classes of each image.

    Example:
        >>> convex_combinations(np.array([[0.0, np.log(3)]]), np.eye(2)).round(3).tolist()
        [[0.316, 0.949]]
    """
    probabilities = softmax(logits)
    likeliest = min(LIKELIEST, probabilities.shape[1])
    least = np.partition(probabilities, -likeliest, axis=1)[:, -likeliest, None]
    return as_unit(np.where(probabilities >= least, probabilities, 0.0) @ names)


def difficulties(prompts: Sequence[str]) -> Floats:
    """Words, commas, and what is asked of the camera, of each prompt: (prompts, 6).

    Example:
        >>> difficulties(["a cat, top view", "two dogs"]).tolist()
        [[4.0, 1.0, 1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    rows = [
        (
            len(prompt.split()),
            prompt.count(","),
            *(bool(re.search(request, prompt.lower())) for request in REQUESTS.values()),
        )
        for prompt in prompts
    ]
    return np.array(rows, np.float64).reshape(len(prompts), 2 + len(REQUESTS))


def softmax(logits: Floats) -> Floats:
    """Probabilities of each row."""
    exponents = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(exponents / exponents.sum(axis=1, keepdims=True))


def as_unit(vectors: Floats) -> Floats:
    """The rows at length 1."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def rowwise(first: Floats, second: Floats) -> Floats:
    """The inner product of each two rows."""
    return np.asarray(np.einsum("ij,ij->i", first, second))
