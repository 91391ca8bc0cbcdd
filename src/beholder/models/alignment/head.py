"""Image–text alignment from an ImageNet network and a sentence encoder; neither has seen captioned images.

Twelve features of an image and its prompt, and a linear head on them:

- ``quality`` and ``overall``: the quality of the image, and its alignment as far as the image alone tells;
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
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open

from beholder.errors import WeightsError
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
FEATURES = ("quality", "overall", "classes", "evidence", "mapped", "nearest", "words", "phrases", *REQUESTS)

TENSORS = (
    *("coefficients", "names", "logit_mean", "logit_deviation", "logit_spread"),
    *("classes_mean", "classes_spread", "map_mean", "map_deviation", "map", "mapped_mean", "mapped_spread"),
    *("feature_mean", "feature_deviation", "weights", "scale_from", "scale_to"),
)
NUMBERS = ("intercept", "conformal_width", "unseen_width")
"""What a file of a head holds, as tensors and as numbers in its metadata."""


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
class AlignmentHead:
    """The features, and the linear head on them."""

    coefficients: Floats  # (training images,)
    """Of a kernel regression of alignment on the centres of the head of quality."""
    intercept: float
    """Of the same."""
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
    feature_mean: Floats  # (features,)
    feature_deviation: Floats  # (features,)
    weights: Floats  # (features,)
    scale_from: Floats  # (knots,)
    scale_to: Floats  # (knots,)
    """The weighted sum is turned into raters' scale by interpolation between these."""
    conformal_width: float
    """95 % of held-out images were scored within this of raters' mean."""
    unseen_width: float
    """The same for generators that it was not trained on, by leaving out one generator at a time."""

    def scores(self, features: Floats) -> Floats:
        """Alignment from 0 to 5 by the features (images, 12): (images,)."""
        sums = (features - self.feature_mean) / self.feature_deviation @ self.weights
        return np.asarray(np.interp(sums, self.scale_from, self.scale_to))

    def features(
        self, image_scores: Floats, outputs: "NetworkOutputs", prompts: Sequence[str], vectors: Floats
    ) -> Floats:
        """Return the features of images with their prompts, (images, 12).

        ``image_scores`` are quality and alignment by the image alone, (images, 2); ``vectors`` are the prompts'.
        """
        similarity = vectors @ self.names.T  # (images, classes)
        class_weights = softmax(SHARPNESS * similarity)
        standard = (outputs.logits - self.logit_mean) / self.logit_deviation
        read = [
            self.classes.standardise(rowwise(self.combinations(outputs.logits), vectors), vectors),
            self.logits.standardise(rowwise(standard, class_weights), class_weights),
            self.mapped.standardise(rowwise(self.map_images(outputs.features), vectors), vectors),
            similarity.max(axis=1),
        ]
        return np.column_stack([image_scores, *read, difficulties(prompts)])

    def combinations(self, logits: Floats) -> Floats:
        """Unit vectors of what the network sees, (images, text dims), by the names of the likeliest classes."""
        return convex_combinations(logits, self.names)

    def map_images(self, features: Floats) -> Floats:
        """Images in the space of sentences, as unit vectors (images, text dims)."""
        mapped = (signed_roots(features) - self.map_mean) / self.map_deviation @ self.map
        return as_unit(mapped)


@dataclass(frozen=True, eq=False)
class NetworkOutputs:
    """What the network says of images: its last features, and its logits."""

    features: Floats  # (images, image dims)
    logits: Floats  # (images, classes)


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
    plain = ("coefficients", "names", "logit_mean", "logit_deviation", "map_mean", "map_deviation", "map")
    last = ("feature_mean", "feature_deviation", "weights", "scale_from", "scale_to")
    return AlignmentHead(
        **{name: tensors[name] for name in (*plain, *last)},
        logits=Reference(np.zeros(len(tensors["names"])), tensors["logit_spread"]),
        classes=Reference(tensors["classes_mean"], tensors["classes_spread"]),
        mapped=Reference(tensors["mapped_mean"], tensors["mapped_spread"]),
        intercept=numbers["intercept"],
        conformal_width=numbers["conformal_width"],
        unseen_width=numbers["unseen_width"],
    )
