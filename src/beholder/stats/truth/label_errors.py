"""Likely label errors: items whose label is probably wrong, the least certain first.

Two ways to find them, from a label and probabilities of all classes for each item:

- :func:`likely_label_errors` lists items for which another class is more probable. It is for the posterior of a
  model of raters, such as :func:`beholder.stats.truth.dawid_skene.dawid_skene`, whose chances can be taken as they
  are.
- :func:`confident_errors` is confident learning, for a scorer's predictions of items it was not trained on. Such
  probabilities are biased, and differently by class, so a class gets a threshold of its own, tⱼ = the mean of pⱼ
  over items labelled j. An item labelled i with pⱼ ≥ tⱼ for a j ≠ i counts as a confident error; of several such
  j the most probable. Northcutt, Jiang and Chuang, "Confident learning: estimating uncertainty in dataset
  labels", JAIR 70 (2021).

Both rank by the normalised margin, (p of the label − largest p of another class + 1)/2: 0 is surely wrong, 1
surely right.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import StatisticsError

_HAIR = 1e-6  # a probability this far below a threshold still reaches it


@dataclass(frozen=True, eq=False)
class LabelErrors:
    """The items found, by ascending margin, each with a better label."""

    items: NDArray[np.int64]  # (errors,) rows of what was given
    labels: NDArray[np.int64]  # (errors,)
    suggested: NDArray[np.int64]  # (errors,)
    self_confidence: NDArray[np.float64]  # (errors,) probability of the given label
    margin: NDArray[np.float64]  # (errors,) normalised, 0 … 1
    joint: NDArray[np.int64]  # (classes, classes) how many items have a given label (row) and a confident class
    thresholds: NDArray[np.float64] | None  # (classes,) of confident learning; nan for a class nobody gave


def likely_label_errors(labels: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Return the items for which another class is more probable than the label.

    ``labels`` (items,) are integers from 0, −1 for none; ``probabilities`` (items, classes) rows sum to 1, or
    are nan for an item nothing is known of. Items without label or probabilities are not listed.
    """
    label, chances, usable = _checked(labels, probabilities)
    best = np.argmax(chances, axis=1)
    better = chances[np.arange(len(label)), best] > chances[np.arange(len(label)), label]
    best = np.where(better, best, label)  # of two equal ones, the label stays
    return _ranked(label, chances, best, usable, usable & better, None)


def confident_errors(labels: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Return the confident errors among ``labels`` (items,), by out-of-fold ``probabilities`` (items, classes).

    Both are as for :func:`likely_label_errors`. An item is listed if its confident class is another than the
    label, and the label is not the most probable class.
    """
    label, chances, usable = _checked(labels, probabilities)
    classes = chances.shape[1]
    own = chances[np.arange(len(label)), label]
    count = np.bincount(label[usable], minlength=classes)
    thresholds = np.bincount(label[usable], own[usable], classes) / np.where(count > 0, count, np.nan)
    reached = chances >= thresholds - _HAIR  # a class that nobody gave is never reached
    sure = reached.sum(axis=1)
    most = np.argmax(chances, axis=1)
    confident = np.where(sure > 1, most, np.argmax(reached, axis=1))
    counted = usable & (sure > 0)
    wrong = counted & (confident != label) & (most != label)
    return _ranked(label, chances, confident, counted, wrong, thresholds)


def _checked(
    labels: ArrayLike, probabilities: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return labels and probabilities with 0 in unknown rows, and which rows are known."""
    label, chances = np.asarray(labels), np.asarray(probabilities, np.float64)
    if label.ndim != 1 or chances.ndim != 2 or len(label) != len(chances) or chances.shape[1] < 2:
        raise StatisticsError(
            "label errors need labels (items,) and probabilities (items, classes) of at least two classes; found "
            f"{label.shape}, {chances.shape}"
        )
    if label.dtype.kind not in "iu" or np.any(label < -1) or np.any(label >= chances.shape[1]):
        raise StatisticsError(f"labels need to be integers from 0 below {chances.shape[1]}, or −1; found others")
    stated = np.asarray(~np.isnan(chances).any(axis=1), np.bool_)
    rows = chances[stated]
    if np.any(rows < 0) or np.any(np.abs(rows.sum(axis=1) - 1) > 1e-6):
        raise StatisticsError("probabilities need to be at least 0 and sum to 1 for each item; found others")
    usable = stated & (label >= 0)
    return np.where(usable, label, 0).astype(np.int64), np.where(stated[:, None], chances, 0.0), usable


def _ranked(
    label: NDArray[np.int64],
    chances: NDArray[np.float64],
    better: NDArray[np.int64],
    counted: NDArray[np.bool_],
    wrong: NDArray[np.bool_],
    thresholds: NDArray[np.float64] | None,
) -> LabelErrors:
    rows, classes = np.arange(len(label)), chances.shape[1]
    own = chances[rows, label]
    others = chances.copy()
    others[rows, label] = -np.inf
    margin = (own - others.max(axis=1) + 1) / 2
    errors = np.flatnonzero(wrong)
    errors = errors[np.argsort(margin[errors], kind="stable")]
    joint = np.bincount(label[counted] * classes + better[counted], minlength=classes**2)
    return LabelErrors(
        items=errors,
        labels=label[errors],
        suggested=better[errors],
        self_confidence=own[errors],
        margin=margin[errors],
        joint=joint.reshape(classes, classes),
        thresholds=thresholds,
    )
