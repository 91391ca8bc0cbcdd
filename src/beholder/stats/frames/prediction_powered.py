"""Prediction-powered means of a data frame: few answers of raters, and automatic scores of many more images."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Columns, Frame, Label, code_labels, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.prediction.prediction_powered import (
    Powered,
    PoweredEstimate,
    powered,
    powered_difference,
    powered_mean,
    powered_proportion,
)

EVERYTHING = "all"
"""The name of the only row where nothing is grouped."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PoweredMeans(ResultTable):
    """Prediction-powered means; :meth:`pairs` has their differences."""

    parts: tuple[Powered, ...]
    names: tuple[Label, ...]
    tuning: float | None

    def pairs(self) -> ResultTable:
        """Compare every two groups; raters (or items) that are in both are compared with themselves.

        λ is tuned for each difference, so that a difference of two means may differ a little from it.

        Returns:
            One row per pair: ``difference``, ``low`` and ``high`` of its own interval at the level, ``se``, and
            the same from labels alone (``classical``).
        """
        if len(self.names) < 2:
            raise StatisticsError("a comparison needs two groups; name their column with group=")
        level = 0.95 if self.level is None else self.level
        pairs = list(combinations(range(len(self.names)), 2))
        estimates = [
            powered_difference(self.parts[first], self.parts[second], tuning=self.tuning, level=level)
            for first, second in pairs
        ]
        rows: dict[str, object] = {
            self.rows.columns[0]: [self.names[first] for first, _ in pairs],
            "other": [self.names[second] for _, second in pairs],
        }
        columns = _columns(estimates)
        rows |= {"difference" if name == "estimate" else name: column for name, column in columns.items()}
        return ResultTable(
            title=f"{self.title}: differences",
            rows=frame_of(rows),
            method=self.method,
            keys=2,
            level=level,
            answers=self.answers,
            notes=("Each interval is for its own difference, not for all pairs together.",),
            reference=0.0,
            signed=True,
            backend=self.backend,
        )


def prediction_powered_mean(
    answers: Frame,
    *,
    label: str = "label",
    prediction: str = "prediction",
    group: str | None = None,
    cluster: str | Sequence[str] | None = "rater",
    proportion: bool = False,
    tuning: float | None = None,
    level: float = 0.95,
) -> PoweredMeans:
    """Estimate a mean from few labels by raters and many predictions, with a valid confidence interval (PPI++).

    The mean of the predictions on all items is corrected by how far predictions are off where raters answered.
    However wrong the predictions, the interval covers the mean of what raters would say; the better they are, the
    narrower it is. Angelopoulos, Duchi and Zrnic, "PPI++" (2023).

    Args:
        answers: A data frame with one row per answer of a rater (label and prediction), and one per item that has
            a prediction only (label null). The latter must be drawn as the former were, such as at random.
        label: The column of answers, as numbers; null where no rater answered.
        prediction: The column of automatic scores, on any scale.
        group: The column that is compared, such as the generator; by default all is one mean.
        cluster: The column of what the labels are a sample of: raters where few raters answered much, items where
            many raters answered about few items, both as a list of two columns, or None where all labels are
            independent. It may be null where the label is.
        proportion: Whether labels are 0 and 1; the interval is then cut at 0 and 1.
        tuning: λ, how much predictions count: 1 is plain PPI, 0 ignores them, None finds the best (PPI++).
        level: Nominal coverage of the confidence intervals.

    Returns:
        One row per group: ``estimate``, ``low``, ``high``, ``se``, then ``classical`` with ``classical_low`` and
        ``classical_high`` (from labels alone), ``tuning`` (λ), ``labels``, ``unlabelled`` and ``clusters``.
        ``.pairs()`` has the differences.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> quality = rng.normal(3, 1, 400)
        >>> rows = {"label": [*(quality[:40] + rng.normal(0, 0.3, 40)), *[None] * 360],
        ...         "prediction": quality + rng.normal(0, 0.3, 400)}
        >>> prediction_powered_mean(rows, cluster=None)
        prediction-powered means
        group  estimate       95 % CI    se  classical  classical 95 % CI  tuning  labels  unlabelled  clusters
        ───────────────────────────────────────────────────────────────────────────────────────────────────────
        all        2.97  [2.80, 3.14]  0.09       2.96       [2.67, 3.25]   0.767      40         360        40
        95 % CI: PPI++, t quantiles · 40 answers
    """
    named = [] if cluster is None else [cluster] if isinstance(cluster, str) else list(cluster)
    if len(named) > 2:
        raise StatisticsError(f"labels are clustered by at most two columns; found {len(named)}")
    keys = [f"cluster[{name}]" for name in named]
    columns = read_columns(
        answers,
        labels={"group": group} | dict(zip(keys, named, strict=True)),
        numbers={"label": label, "prediction": prediction},
        nullable=frozenset({"label", *keys}),
        hints={"cluster[rater]": "or cluster=None, if labels are independent"},
    )
    names, (cell,) = code_labels(columns.labels.get("group", [EVERYTHING] * columns.rows))
    clusters = _clusters(columns, keys, named)
    labels, scores = columns.numbers["label"], columns.numbers["prediction"]
    parts = []
    for number, name in enumerate(names):
        own, has_label = cell == number, ~np.isnan(labels)
        if not (own & has_label).any() or not (own & ~has_label).any():
            lacking = "a label" if not (own & has_label).any() else "only a prediction (label null)"
            raise StatisticsError(f"no row of {name!r} has {lacking}; prediction-powered means need both kinds")
        rows = own & has_label
        parts.append(powered(labels[rows], scores[rows], scores[own & ~has_label], clusters=clusters[rows]))
    mean = powered_proportion if proportion else powered_mean
    estimates = [mean(part, tuning=tuning, level=level) for part in parts]
    return PoweredMeans(
        title="prediction-powered " + ("proportions" if proportion else "means"),
        rows=frame_of({group or "group": names} | _columns(estimates, counts=True)),
        method=estimates[0].method + (f", clustered by {' and '.join(named)}" if named else ""),
        level=level,
        raters=len(np.unique(clusters[~np.isnan(labels), 0])) if named == ["rater"] else None,
        answers=int((~np.isnan(labels)).sum()),
        unit=f"mean {label}",
        backend=columns.backend,
        parts=tuple(parts),
        names=tuple(names),
        tuning=tuning,
    )


def _clusters(columns: Columns, keys: list[str], named: list[str]) -> NDArray[np.int64]:
    """Return the clusters of every row (rows, 1 or 2); rows by themselves where none are named."""
    if not keys:
        return np.arange(columns.rows)[:, None]
    has_label = ~np.isnan(columns.numbers["label"])
    coded = []
    for key, name in zip(keys, named, strict=True):
        labels = columns.labels[key]
        present = [entry for entry, used in zip(labels, has_label, strict=True) if used]
        if any(entry is None for entry in present):
            raise StatisticsError(f"column '{name}' (cluster=) has nulls where there is a label; fill them")
        codes = np.zeros(columns.rows, np.int64)
        codes[has_label] = code_labels(present)[1][0]
        coded.append(codes)
    return np.stack(coded, axis=1)


def _columns(estimates: list[PoweredEstimate], *, counts: bool = False) -> dict[str, object]:
    columns: dict[str, object] = {
        "estimate": [estimate.value for estimate in estimates],
        "low": [estimate.low for estimate in estimates],
        "high": [estimate.high for estimate in estimates],
        "se": [estimate.standard_error for estimate in estimates],
        "classical": [estimate.classical for estimate in estimates],
        "classical_low": [estimate.classical_low for estimate in estimates],
        "classical_high": [estimate.classical_high for estimate in estimates],
        "tuning": [estimate.tuning for estimate in estimates],
    }
    if counts:
        columns |= {
            "labels": [estimate.labels for estimate in estimates],
            "unlabelled": [estimate.unlabelled for estimate in estimates],
            "clusters": [estimate.clusters for estimate in estimates],
        }
    return columns
