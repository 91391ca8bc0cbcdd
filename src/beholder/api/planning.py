"""Power analysis in Python: ``beholder.plan(protocol, difference=…)``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from beholder.design.plan import POWER_MODELS, ClosedForm, Plan, PowerAt, closed_form, power_curve
from beholder.errors import StudyError, UserError, unknown_name
from beholder.stats.frames.result_table import ResultTable, frame_of
from beholder.study.kinds.catalogue import AnyQuestion, kind_of
from beholder.study.protocols.catalogue import PROTOCOLS
from beholder.study.study import Pay

RATERS = (10, 20, 30, 60, 100, 200)
"""Numbers of raters that are tried by default."""

DIFFERENCE = 0.05
"""The difference to be detected where neither the caller nor the kind's power model has one."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Power(ResultTable):
    """The power of a study at several numbers of raters, and what they cost: one row per number."""

    plan: Plan
    formula: ClosedForm
    """The textbook sample size, for comparison."""
    points: tuple[PowerAt, ...] = ()


def plan(
    protocol: str,
    *,
    difference: float | None = None,
    generators: int = 2,
    raters: Sequence[int] = RATERS,
    trials: int | None = None,
    images: int = 100,
    rater_share: float = 0.05,
    image_share: float = 0.05,
    baseline: float = 0.5,
    wage: float = 12.0,
    trial_seconds: float | None = None,
    accept_low_pay: bool = False,
    studies: int = 400,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Power:
    """Simulate studies to see how many raters are needed to separate two generators, and at what cost.

    Args:
        protocol: Such as ``hpd-pairs``, ``mos`` or ``hype-infinity``.
        difference: To be detected: a proportion, or points of the scale; .05 or .2 by default.
        generators: All of them are compared.
        raters: Numbers of raters to try.
        trials: Per rater; the protocol's by default.
        images: Of each generator.
        rater_share: Proportion of the variance of answers that lies between raters; 0: answers are independent.
        image_share: Proportion that lies between images.
        baseline: Error rate of the better generator, where answers are right or wrong.
        wage: Pay per hour.
        trial_seconds: Time that a trial needs, such as measured by ``beholder.care.effort``
            from answers under time limits; the usual time of the kind by default.
        accept_low_pay: Plan with less than the least wage of a study all the same.
        studies: To simulate for each number of raters.
        seed: With which the result is reproduced.
        progress: Called with the numbers of raters done, and all of them.

    Returns:
        Power with its confidence interval over simulated studies, hours and cost, for each number of raters.

    Example:
        >>> import beholder as bh
        >>> power = bh.plan("hpd-pairs", generators=3, trials=60, raters=[30, 100], studies=100)
        >>> bool(power["power"][0] < power["power"][1])
        True
        >>> power.formula.raters
        102
    """
    if protocol not in PROTOCOLS:
        raise UserError(unknown_name("protocol", protocol, PROTOCOLS))
    require_wage(wage, accepted=accept_low_pay)
    question = _question(protocol, trials)
    study_plan = Plan(
        question,
        _default_difference(question) if difference is None else difference,
        generators=generators,
        images=images,
        rater_share=rater_share,
        image_share=image_share,
        baseline=baseline,
        hourly_wage=wage,
        trial_seconds=trial_seconds,
    )
    formula = closed_form(study_plan)
    points: list[PowerAt] = []
    for number, size in enumerate(raters):
        rng = np.random.default_rng([seed, size])
        points += power_curve(study_plan, [size], studies=studies, rng=rng)
        if progress:
            progress(number + 1, len(raters))
    columns: dict[str, list[object]] = {
        "raters": [point.raters for point in points],
        "answers": [point.answers for point in points],
        "power": [point.power.value for point in points],
        "low": [point.power.low for point in points],
        "high": [point.power.high for point in points],
        "hours": [point.hours for point in points],
        "cost": [point.cost for point in points],
    }
    return Power(
        title=f"{protocol}: power to separate two of {generators} generators that differ by {_size(study_plan)}",
        rows=frame_of(columns),
        method=f"Wilson, over {studies:,} simulated studies",
        estimate="power",
        level=0.95,
        seed=seed,
        notes=(formula_sentence(study_plan, formula),),
        reference=study_plan.power,
        unit="power",
        plan=study_plan,
        formula=formula,
        points=tuple(points),
    )


def formula_sentence(study_plan: Plan, formula: ClosedForm) -> str:
    """The sample size by formula, in words."""
    return (
        f"By formula, for a power of {study_plan.power:.0%}: {formula.independent_answers:,} answers if all "
        f"were independent; × {formula.design_effect:.2f} because each rater gives several = {formula.answers:,}, "
        f"from {formula.raters:,} raters."
    )


def _size(study_plan: Plan) -> str:
    return "" if study_plan.model is None else study_plan.model.size(study_plan.difference)


def require_wage(wage: float, *, accepted: bool) -> None:
    """Refuse a wage below the least of a study, unless it is accepted."""
    least = Pay().minimum_hourly
    if wage < least and not accepted:
        raise StudyError(
            "plan",
            [f"a wage of {wage:.2f} an hour; a study's minimum_hourly is {least:.2f}"],
            advice="Raise --wage; to plan with less all the same, say so: --accept-low-pay",
        )


def _question(protocol: str, trials: int | None) -> AnyQuestion:
    question = PROTOCOLS[protocol].questions()[0]
    if trials is None:
        return question
    return question.model_copy(update={"design": question.design.model_copy(update={"trials": trials})})


def _default_difference(question: AnyQuestion) -> float:
    model = kind_of(question).traits.power_model
    return DIFFERENCE if model is None else POWER_MODELS[model].difference
