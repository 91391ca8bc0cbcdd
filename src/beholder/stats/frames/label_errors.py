"""Likely label errors of a data frame of labels and predicted probabilities (confident learning)."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from beholder.errors import StatisticsError
from beholder.stats.frames.columns import Frame, read_columns
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.truth.label_errors import confident_errors, likely_label_errors

Method = Literal["confident-learning", "most-probable"]
"""When a label counts as an error: see :func:`label_errors`."""


def label_errors(
    labels: Frame,
    *,
    item: str = "item",
    label: str = "label",
    probabilities: Sequence[str] | Mapping[Any, str],
    method: Method = "confident-learning",
) -> ResultTable:
    """List the items whose label is probably wrong, the least certain first.

    - ``"confident-learning"`` (Northcutt, Jiang and Chuang 2021) is for predictions of a scorer on items it was
      not trained on. Each class has a threshold, the mean probability of its own items; an item that reaches that
      of another class, and not its own label, is listed.
    - ``"most-probable"`` lists items for which another class is more probable. It is for probabilities that can
      be taken as they are, such as those of :func:`~beholder.stats.frames.aggregate.aggregate`.

    Args:
        labels: A data frame with one row per item.
        item: The column of items.
        label: The column of labels.
        probabilities: The columns of probabilities, named as the labels; or a mapping from label to column. Each
            row sums to 1.
        method: When a label counts as an error.

    Returns:
        One row per likely error: ``label``, ``suggested``, ``self_confidence`` (probability of the label) and
        ``margin`` (0 surely wrong, 1 surely right).

    Example:
        >>> labels = {"item": ["a", "b", "c", "d"], "label": ["cat", "cat", "dog", "dog"],
        ...           "cat": [0.9, 0.2, 0.1, 0.3], "dog": [0.1, 0.8, 0.9, 0.7]}
        >>> label_errors(labels, probabilities=["cat", "dog"]).to_frame().row(0)
        ('b', 'cat', 'dog', 0.2, 0.19999999999999996)
    """
    by_class = (
        dict(probabilities) if isinstance(probabilities, Mapping) else {name: name for name in probabilities}
    )
    columns = read_columns(
        labels,
        labels={"item": item, "label": label},
        numbers={f"probabilities[{name!r}]": column for name, column in by_class.items()},
    )
    classes = list(by_class)
    number = {name: place for place, name in enumerate(classes)}
    unknown = sorted({str(name) for name in columns.labels["label"] if name not in number})
    if unknown:
        raise StatisticsError(
            f"every label needs a column of probabilities; found none for {', '.join(unknown[:5])}"
        )
    codes = np.array([number[name] for name in columns.labels["label"]], np.int64)
    chances = np.stack(list(columns.numbers.values()), axis=1)  # (items, classes)
    find = {"confident-learning": confident_errors, "most-probable": likely_label_errors}.get(method)
    if find is None:
        raise StatisticsError(f"a method is confident-learning or most-probable; found {method!r}")
    errors = find(codes, chances)
    names = columns.labels["item"]
    return ResultTable(
        title="likely label errors",
        rows=frame_of(
            {
                item: [names[row] for row in errors.items],
                "label": [classes[code] for code in errors.labels],
                "suggested": [classes[code] for code in errors.suggested],
                "self_confidence": errors.self_confidence,
                "margin": errors.margin,
            }
        ),
        method=method,
        estimate="margin",
        items=columns.rows,
        backend=columns.backend,
    )
