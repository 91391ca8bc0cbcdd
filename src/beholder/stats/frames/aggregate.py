"""One label per item from the labels of many raters: majority vote, Dawid–Skene, one-coin, MACE."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from beholder.errors import StatisticsError, unknown_name
from beholder.stats.frames.answers import read_answers
from beholder.stats.frames.columns import Frame, Label, code_labels
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.truth.dawid_skene import dawid_skene
from beholder.stats.truth.mace import mace
from beholder.stats.truth.one_coin import one_coin
from beholder.stats.truth.rater_labels import rater_labels, vote_proportions

Method = Literal["majority", "dawid-skene", "one-coin", "mace"]
"""How labels are taken together: see :func:`aggregate`."""

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Consensus(ResultTable):
    """One label per item with its probability; :meth:`of_raters` and :meth:`probabilities` have the rest."""

    posterior: NDArray[np.float64]  # (items, labels)
    classes: tuple[Label, ...]
    rater_names: tuple[Label, ...]
    rater_accuracy: NDArray[np.float64]  # (raters,)
    rater_answers: NDArray[np.int64]  # (raters,)
    accuracy_name: str

    def of_raters(self) -> ResultTable:
        """Return how reliable each rater is, the most reliable first.

        Returns:
            One row per rater: ``accuracy`` (for MACE ``competence``: how often the rater does not guess), and
            ``answers``.
        """
        order = np.argsort(-self.rater_accuracy, kind="stable")
        rows = {
            "rater": [self.rater_names[number] for number in order],
            self.accuracy_name: self.rater_accuracy[order],
            "answers": self.rater_answers[order],
        }
        return ResultTable(
            title=f"raters by {self.accuracy_name.replace('_', ' ')}",
            rows=frame_of(rows),
            method=self.method,
            raters=self.raters,
            items=self.items,
            answers=self.answers,
            backend=self.backend,
        )

    def probabilities(self) -> ResultTable:
        """Return the probability of every label for every item.

        Returns:
            One row per item, one column per label.
        """
        rows: dict[str, object] = {self.rows.columns[0]: self.rows.to_series(0)}
        rows |= {str(name): self.posterior[:, number] for number, name in enumerate(self.classes)}
        return ResultTable(
            title="probability of each label",
            rows=frame_of(rows),
            method=self.method,
            raters=self.raters,
            items=self.items,
            answers=self.answers,
            backend=self.backend,
        )


class _Fit(NamedTuple):
    """Probabilities (items, labels), a number for each rater (raters,), what it is, and whether it converged."""

    posterior: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    accuracy_name: str
    converged: bool


def aggregate(
    answers: Frame,
    *,
    rater: str = "rater",
    item: str = "item",
    label: str = "label",
    method: Method = "dawid-skene",
) -> Consensus:
    """Take the labels of many raters together to one label per item.

    - ``"majority"``: the most frequent label; an item whose vote is tied has none.
    - ``"dawid-skene"``: every rater has a confusion matrix of their own, found with the labels by the EM
      algorithm (Dawid and Skene 1979).
    - ``"one-coin"``: every rater has one accuracy, with errors spread evenly: for raters with few answers.
    - ``"mace"``: every rater either knows or guesses by a habit of their own (Hovy et al. 2013).

    Opinions on a scale are not labels: for those, see
    :func:`~beholder.stats.frames.mean_opinion_scores.mean_opinion_scores`.

    Args:
        answers: A data frame with one row per rater and item.
        rater: The column of raters.
        item: The column of items, such as images.
        label: The column of labels.
        method: How they are taken together.

    Returns:
        One row per item: ``label``, its ``probability`` (for the majority the proportion of votes), ``answers``.
        ``.of_raters()`` has each rater's accuracy, ``.probabilities()`` those of all labels.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> consensus = aggregate(example_ratings(), item="image", label="flawed")
        >>> consensus.to_frame().row(0)
        ('aurora-00', 'yes', 0.9999998658401681, 12)
        >>> consensus.of_raters().to_frame().row(0)
        ('r07', 0.924093989098184, 40)
    """
    if method not in METHODS:
        raise StatisticsError(unknown_name("method", method, METHODS))
    read = read_answers(answers, rater=rater, item=item, answer=label, numeric=False)
    classes, (codes,) = code_labels(read.labels)
    if len(classes) < 2:
        raise StatisticsError(f"labels are taken together where they differ; found only {classes[0]!r}")
    fit = METHODS[method](read.who, read.what, codes)
    best = fit.posterior.max(axis=1)
    choice = np.argmax(fit.posterior, axis=1)
    tied = (fit.posterior >= best[:, None] - 1e-12).sum(axis=1) > 1
    labels = [None if tie else classes[number] for number, tie in zip(choice, tied, strict=True)]
    notes = [f"{int(tied.sum()):,} items are tied and have no label."] if tied.any() else []
    notes += [] if fit.converged else ["The EM algorithm did not converge."]
    return Consensus(
        title=f"labels by {method}",
        rows=frame_of(
            {
                item: read.items,
                "label": pl.Series(labels, strict=False),
                "probability": best,
                "answers": np.bincount(read.what, minlength=len(read.items)),
            }
        ),
        method=method,
        estimate="probability",
        raters=len(read.raters),
        items=len(read.items),
        answers=len(read.who),
        ties="no label" if method == "majority" else None,
        notes=tuple(notes),
        backend=read.backend,
        posterior=fit.posterior,
        classes=tuple(classes),
        rater_names=tuple(read.raters),
        rater_accuracy=fit.accuracy,
        rater_answers=np.bincount(read.who, minlength=len(read.raters)),
        accuracy_name=fit.accuracy_name,
    )


def _majority(who: Codes, what: Codes, codes: Codes) -> _Fit:
    votes = vote_proportions(rater_labels(who, what, codes))
    best = votes.max(axis=1, keepdims=True)
    credit = np.where(votes >= best - 1e-12, 1.0, 0.0)
    credit /= credit.sum(axis=1, keepdims=True)  # a tie is half right
    right = np.bincount(who, credit[what, codes]) / np.maximum(np.bincount(who), 1)
    return _Fit(votes, right, "agreement_with_majority", True)


def _dawid_skene(who: Codes, what: Codes, codes: Codes) -> _Fit:
    fit = dawid_skene(who, what, codes)
    return _Fit(fit.posterior, fit.accuracy, "accuracy", fit.converged)


def _one_coin(who: Codes, what: Codes, codes: Codes) -> _Fit:
    fit = one_coin(who, what, codes)
    return _Fit(fit.posterior, fit.accuracy, "accuracy", fit.converged)


def _mace(who: Codes, what: Codes, codes: Codes) -> _Fit:
    fit = mace(who, what, codes)
    return _Fit(fit.posterior, fit.competence, "competence", fit.converged)


METHODS: dict[str, Callable[[Codes, Codes, Codes], _Fit]] = {
    "majority": _majority,
    "dawid-skene": _dawid_skene,
    "one-coin": _one_coin,
    "mace": _mace,
}
