"""Items whose label is probably wrong, the most doubtful first.

Two ways to find them, from a label and probabilities of all classes for each item:

- :func:`doubtful_labels` lists items for which another class is more probable. It is for the posterior of a model
  of raters, such as :func:`beholder.stats.truth.dawid_skene.dawid_skene`, whose chances can be taken as they are.
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

    items: NDArray[np.int64]  # (found,) rows of what was given
    given: NDArray[np.int64]  # (found,)
    suggested: NDArray[np.int64]  # (found,)
    self_confidence: NDArray[np.float64]  # (found,) probability of the given label
    margin: NDArray[np.float64]  # (found,) normalised, 0 … 1
    joint: NDArray[np.int64]  # (classes, classes) how many items have a given label (row) and a confident class
    thresholds: NDArray[np.float64] | None  # (classes,) of confident learning; nan for a class nobody gave


def doubtful_labels(labels: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Return the items for which another class is more probable than the label.

    ``labels`` (items,) are integers from 0, −1 for none; ``probabilities`` (items, classes) rows sum to 1, or
    are nan for an item nothing is known of. Items without label or probabilities are not listed.
    """
    given, chances, known = _checked(labels, probabilities)
    best = np.argmax(chances, axis=1)
    better = chances[np.arange(len(given)), best] > chances[np.arange(len(given)), given]
    best = np.where(better, best, given)  # of two equal ones, the label stays
    return _ranked(given, chances, best, known, known & better, None)


def confident_errors(labels: ArrayLike, probabilities: ArrayLike) -> LabelErrors:
    """Return the confident errors among ``labels`` (items,), by out-of-fold ``probabilities`` (items, classes).

    Both are as for :func:`doubtful_labels`. An item is listed if its confident class is another than the label,
    and the label is not the most probable class.
    """
    given, chances, known = _checked(labels, probabilities)
    classes = chances.shape[1]
    own = chances[np.arange(len(given)), given]
    count = np.bincount(given[known], minlength=classes)
    thresholds = np.bincount(given[known], own[known], classes) / np.where(count > 0, count, np.nan)
    reached = chances >= thresholds - _HAIR  # a class that nobody gave is never reached
    sure = reached.sum(axis=1)
    most = np.argmax(chances, axis=1)
    confident = np.where(sure > 1, most, np.argmax(reached, axis=1))
    counted = known & (sure > 0)
    wrong = counted & (confident != given) & (most != given)
    return _ranked(given, chances, confident, counted, wrong, thresholds)


def _checked(
    labels: ArrayLike, probabilities: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return labels and probabilities with 0 in unknown rows, and which rows are known."""
    given, chances = np.asarray(labels), np.asarray(probabilities, np.float64)
    if given.ndim != 1 or chances.ndim != 2 or len(given) != len(chances) or chances.shape[1] < 2:
        raise StatisticsError(
            "label errors need labels (items,) and probabilities (items, classes) of at least two classes; found "
            f"{given.shape}, {chances.shape}"
        )
    if given.dtype.kind not in "iu" or np.any(given < -1) or np.any(given >= chances.shape[1]):
        raise StatisticsError(f"labels need to be integers from 0 below {chances.shape[1]}, or −1; found others")
    stated = np.asarray(~np.isnan(chances).any(axis=1), np.bool_)
    rows = chances[stated]
    if np.any(rows < 0) or np.any(np.abs(rows.sum(axis=1) - 1) > 1e-6):
        raise StatisticsError("probabilities need to be at least 0 and sum to 1 for each item; found others")
    known = stated & (given >= 0)
    return np.where(known, given, 0).astype(np.int64), np.where(stated[:, None], chances, 0.0), known


def _ranked(
    given: NDArray[np.int64],
    chances: NDArray[np.float64],
    better: NDArray[np.int64],
    counted: NDArray[np.bool_],
    wrong: NDArray[np.bool_],
    thresholds: NDArray[np.float64] | None,
) -> LabelErrors:
    rows, classes = np.arange(len(given)), chances.shape[1]
    own = chances[rows, given]
    others = chances.copy()
    others[rows, given] = -np.inf
    margin = (own - others.max(axis=1) + 1) / 2
    found = np.flatnonzero(wrong)
    found = found[np.argsort(margin[found], kind="stable")]
    joint = np.bincount(given[counted] * classes + better[counted], minlength=classes**2)
    return LabelErrors(
        items=found,
        given=given[found],
        suggested=better[found],
        self_confidence=own[found],
        margin=margin[found],
        joint=joint.reshape(classes, classes),
        thresholds=thresholds,
    )
