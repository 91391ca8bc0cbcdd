"""Inter-rater agreement of a data frame of answers: α, κ, AC1, AC2, ICC and W."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError, unknown_name
from beholder.stats.agreement.fleiss import fleiss_kappa
from beholder.stats.agreement.gwet import Credit, gwet_ac
from beholder.stats.agreement.intraclass import intraclass
from beholder.stats.agreement.kendall_w import kendall_w
from beholder.stats.agreement.krippendorff import Scale, krippendorff_alpha
from beholder.stats.estimate import Estimate
from beholder.stats.frames.answers import Answers, read_answers
from beholder.stats.frames.columns import Frame, Label, code_labels
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.stats.intervals.bootstrap import rater_weights

Coefficient = Literal["krippendorff-alpha", "fleiss-kappa", "gwet-ac1", "gwet-ac2", "icc", "kendall-w"]
"""The coefficients: see :func:`agreement`."""

NUMERIC = frozenset({"gwet-ac2", "icc", "kendall-w"})
"""Coefficients of numbers, whatever the scale."""


def agreement(
    answers: Frame,
    *,
    rater: str = "rater",
    item: str = "item",
    answer: str = "answer",
    coefficient: Coefficient | Sequence[Coefficient] = "krippendorff-alpha",
    scale: Scale = "nominal",
    categories: Sequence[Label] | None = None,
    credit: Credit = "quadratic",
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
) -> ResultTable:
    """Return how far raters agree about the same items, with confidence intervals over raters.

    Coefficients; 1 is perfect agreement, and 0 what chance would give:

    - ``"krippendorff-alpha"``: for any number of raters, missing answers, and any ``scale``. The default.
    - ``"fleiss-kappa"``: for categories. Where items have different numbers of raters, Gwet's generalisation.
    - ``"gwet-ac1"``: for categories; stays high where nearly all items are of one kind, where α and κ fall.
    - ``"gwet-ac2"``: the same with partial ``credit`` for answers that are close.
    - ``"icc"``: all six intraclass correlations of Shrout and Fleiss. ICC(1, ·): raters differ from item to item;
      ICC(2, ·): raters are a sample, and their biases count; ICC(3, ·): these raters only; (·, 1): of one rater,
      (·, k): of the mean of all. Needs every rater on every item; the interval is over items.
    - ``"kendall-w"``: concordance of orders, from about 1/raters by chance to 1. Needs every rater on every item.

    Scales of α, which say how far two answers are from each other:

    - ``"nominal"``: names; different or not.
    - ``"ordinal"``: ranks, such as bad, fair, good as 1, 2, 3; distances go by how many answers lie between.
    - ``"interval"``: numbers whose differences mean something; squared differences.
    - ``"ratio"``: numbers with a true zero; differences in proportion to the sum.

    Edge cases: an item with one answer drops out of α, and only counts in the chance agreement of κ and AC. Where
    all raters give one and the same answer to everything, α and κ are not defined, which is an error; AC1 is. A
    rater who answered an item twice is an error. Copies of a rater within a bootstrap replicate are never
    compared with each other, as they would agree with themselves.

    Args:
        answers: A data frame with one row per rater and item.
        rater: The column of raters.
        item: The column of items, such as images.
        answer: The column of answers: labels, or numbers for every scale but the nominal.
        coefficient: One coefficient, or several.
        scale: The scale of α.
        categories: All answers that raters could give, for AC1 and AC2, whose chance agreement depends on their
            number; by default those that occur.
        credit: What two different answers count for AC2: ``"linear"``, ``"quadratic"``, ``"ordinal"``,
            ``"radical"`` or ``"ratio"``.
        level: Nominal coverage of the confidence intervals.
        replicates: Bootstrap replicates over raters, for α, κ and AC.
        seed: With which raters are resampled.

    Returns:
        One row per coefficient: ``coefficient``, ``estimate``, ``low``, ``high``, ``raters``, ``items``,
        ``answers``, and ``interval`` (how it was made) where coefficients have different ones.

    Example:
        >>> from beholder.stats.frames.examples import example_ratings
        >>> agreement(example_ratings(), item="image", answer="score", scale="ordinal", replicates=500)
        inter-rater agreement
        coefficient                estimate         95 % CI  raters  items  answers
        ───────────────────────────────────────────────────────────────────────────
        Krippendorff's α, ordinal     0.393  [0.310, 0.477]      12     40      480
        95 % CI: expanded BCa bootstrap over raters · 12 raters · 40 items · 480 answers · 500 replicates · seed 0
    """
    names = [coefficient] if isinstance(coefficient, str) else list(coefficient)
    faults = [unknown_name("coefficient", name, COEFFICIENTS) for name in names if name not in COEFFICIENTS]
    if faults or not names:
        raise StatisticsError("; ".join(faults) or "agreement needs at least one coefficient; found none")
    numeric = scale != "nominal" or not NUMERIC.isdisjoint(names)
    read = read_answers(answers, rater=rater, item=item, answer=answer, numeric=numeric)
    weights = rater_weights(np.zeros(len(read.raters), np.int64), replicates, np.random.default_rng(seed))
    request = _Request(read, weights, scale, categories, credit, level)
    estimates = [row for name in names for row in COEFFICIENTS[name](request)]
    intervals = [estimate.method for _, estimate in estimates]
    several = len(set(intervals)) > 1
    rows: dict[str, object] = {
        "coefficient": [name for name, _ in estimates],
        "estimate": [estimate.value for _, estimate in estimates],
        "low": [estimate.low for _, estimate in estimates],
        "high": [estimate.high for _, estimate in estimates],
        "raters": [estimate.raters for _, estimate in estimates],
        "items": [estimate.items for _, estimate in estimates],
        "answers": [estimate.answers for _, estimate in estimates],
        "interval": intervals,
    }
    if not several:
        del rows["interval"]
    resampled = not set(names) <= {"icc", "kendall-w"}
    return ResultTable(
        title="inter-rater agreement",
        rows=frame_of(rows),
        method="see the column interval" if several else intervals[0],
        level=level,
        raters=len(read.raters),
        items=len(read.items),
        answers=len(read.who),
        replicates=replicates if resampled else None,
        seed=seed if resampled else None,
        reference=0.0 if resampled else None,
        unit="agreement",
        backend=read.backend,
    )


@dataclass(frozen=True, eq=False)
class _Request:
    """What every coefficient is computed from."""

    answers: Answers
    weights: NDArray[np.int32]
    scale: Scale
    categories: Sequence[Label] | None
    credit: Credit
    level: float

    def coded(self) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the answers as category numbers, and all category numbers where categories were named."""
        labels = self.answers.labels or self.answers.numbers.tolist()
        if self.categories is None:
            return code_labels(labels)[1][0].astype(np.float64), None
        missing = set(labels) - set(self.categories)
        if missing:
            listed = ", ".join(sorted(map(repr, missing))[:5])
            raise StatisticsError(f"answers need to be among the categories; found {listed}")
        names, (_, codes) = code_labels(list(self.categories), labels)
        return codes.astype(np.float64), np.arange(len(names), dtype=np.float64)

    def values(self) -> NDArray[np.float64]:
        """Return the answers as numbers: those of the frame, or of the categories."""
        return self.answers.numbers if self.scale != "nominal" else self.coded()[0]


Rows = Iterator[tuple[str, Estimate]]


def _alpha(request: _Request) -> Rows:
    read = request.answers
    estimate = krippendorff_alpha(
        read.who, read.what, request.values(), request.weights, scale=request.scale, level=request.level
    )
    yield f"Krippendorff's α, {request.scale}", estimate


def _kappa(request: _Request) -> Rows:
    read = request.answers
    yield "Fleiss' κ", fleiss_kappa(read.who, read.what, request.coded()[0], request.weights, level=request.level)


def _ac1(request: _Request) -> Rows:
    read, (values, categories) = request.answers, request.coded()
    estimate = gwet_ac(
        read.who, read.what, values, request.weights, categories=categories, credit="identity", level=request.level
    )
    yield "Gwet's AC1", estimate


def _ac2(request: _Request) -> Rows:
    read = request.answers
    possible = None if request.categories is None else np.array(list(request.categories), np.float64)
    estimate = gwet_ac(
        read.who,
        read.what,
        read.numbers,
        request.weights,
        categories=possible,
        credit=request.credit,
        level=request.level,
    )
    yield f"Gwet's AC2, {request.credit}", estimate


def _icc(request: _Request) -> Rows:
    read = request.answers
    correlations = intraclass(read.who, read.what, read.numbers, level=request.level)
    yield "ICC(1,1)", correlations.one_way
    yield "ICC(2,1)", correlations.random
    yield "ICC(3,1)", correlations.fixed
    yield "ICC(1,k)", correlations.one_way_mean
    yield "ICC(2,k)", correlations.random_mean
    yield "ICC(3,k)", correlations.fixed_mean


def _concordance(request: _Request) -> Rows:
    read = request.answers
    yield "Kendall's W", kendall_w(read.who, read.what, read.numbers, level=request.level).w


COEFFICIENTS: dict[str, Callable[[_Request], Rows]] = {
    "krippendorff-alpha": _alpha,
    "fleiss-kappa": _kappa,
    "gwet-ac1": _ac1,
    "gwet-ac2": _ac2,
    "icc": _icc,
    "kendall-w": _concordance,
}
