"""Long answers as a matrix, for statistics that need every rater on every item."""

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.long_answers import LongAnswers


def complete_matrix(answers: LongAnswers, statistic: str) -> NDArray[np.float64]:
    """Return values (raters, items) of those that occur; an answer that is missing is refused."""
    raters, row = np.unique(answers.raters, return_inverse=True)
    items, column = np.unique(answers.items, return_inverse=True)
    matrix = np.full((len(raters), len(items)), np.nan)
    matrix[row, column] = answers.values
    missing = np.isnan(matrix)
    if missing.any():
        at, what = (int(index[0]) for index in np.nonzero(missing))
        raise StatisticsError(
            f"{statistic} needs every rater on every item; found {int(missing.sum())} of {matrix.size} missing, "
            f"the first of rater {raters[at]} on item {items[what]}; leave out items or raters, or use "
            "Krippendorff's α"
        )
    return matrix
