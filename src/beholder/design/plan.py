"""Power analysis: how many raters a study needs to separate two generators, by simulating raters × images.

A simulated study has two generators that differ by a given amount. Raters differ from each other, and so do
images: ``rater_share`` is the proportion of the variance of answers that lies between raters (their intraclass
correlation), ``image_share`` the one that lies between images. The images of a study are fixed, so the difference
to be detected is the one on these images. The test is the one of the ratings: t over raters, one number per rater.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats as distributions

from beholder.errors import StudyError
from beholder.stats.estimate import Estimate
from beholder.stats.intervals.proportions import wilson
from beholder.stats.significance.power import design_effect, means_group, preference_votes, proportions_group
from beholder.study.kinds.catalogue import KINDS, AnyQuestion, kind_of
from beholder.study.kinds.duration import session_seconds, session_trials

RATING_SD = 0.9


@dataclass(frozen=True, slots=True)
class Plan:
    """What is planned. ``difference`` is in the unit of the answers: a proportion, or points of the scale."""

    question: AnyQuestion
    difference: float
    generators: int = 2
    images: int = 100
    """images per generator"""
    rater_share: float = 0.05
    image_share: float = 0.05
    baseline: float = 0.5
    """error rate of the better of two generators; not used for pairs and ratings"""
    alpha: float = 0.05
    power: float = 0.8
    hourly_wage: float = 12.0
    trial_seconds: float | None = None
    """time that a trial needs, as measured by an error–time curve; by default the usual time of the kind"""

    @property
    def pairs(self) -> int:
        """Pairs of generators, for which α is corrected (Bonferroni)."""
        return self.generators * (self.generators - 1) // 2

    @property
    def model(self) -> "PowerModel | None":
        """How a study of the kind is simulated; ``None`` where it cannot be."""
        name = kind_of(self.question).traits.power_model
        return None if name is None else POWER_MODELS[name]

    @property
    def answers_each(self) -> int:
        """Answers that a rater gives to the comparison of two generators (for ratings: about each of them)."""
        return max(_model(self).answers_each(self), 1)

    @property
    def hours_each(self) -> float:
        """Hours that a rater spends."""
        if self.trial_seconds is not None:
            return session_trials(self.question) * self.trial_seconds / 3600
        return session_seconds(self.question) / 3600

    @property
    def session_pay(self) -> float:
        """What a rater is paid for a session."""
        return self.hours_each * self.hourly_wage


@dataclass(frozen=True, slots=True)
class PowerModel:
    """What is particular to a kind of answers: proportions, preferences or means."""

    difference: float
    """the difference to be detected by default"""
    size: Callable[[float], str]
    """a difference in words"""
    answers_each: Callable[[Plan], int]
    independent: Callable[[Plan, float], int]
    """the textbook sample size at an α, if all answers were independent"""
    simulated: Callable[[Plan, int, np.random.Generator], float]
    """the p-value of one simulated study with so many raters per group"""
    fault: Callable[[Plan], str | None]
    """why the plan cannot be simulated"""
    between: bool = False
    """whether each rater may judge a single generator"""


@dataclass(frozen=True, slots=True)
class PowerAt:
    """The power of a number of raters, and what they cost."""

    raters: int
    answers: int
    power: Estimate
    hours: float
    cost: float


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The textbook sample size: answers if all were independent, times the design effect of correlated answers."""

    independent_answers: int
    design_effect: float
    answers: int
    raters: int


def power_curve(plan: Plan, raters: Sequence[int], *, studies: int, rng: np.random.Generator) -> list[PowerAt]:
    """Return the power at each number of raters: the proportion of simulated studies with significance."""
    require_plannable(plan)
    return [_power_at(plan, number, studies, rng) for number in raters]


def closed_form(plan: Plan) -> ClosedForm:
    """Return the sample size by formula, all generators together; the design effect is 1 + (m − 1)·rater_share."""
    require_plannable(plan)
    each, groups = plan.answers_each, 1 if _paired(plan) else plan.generators
    independent = _model(plan).independent(plan, plan.alpha / plan.pairs)
    effect = design_effect(each, plan.rater_share)
    needed = math.ceil(independent * effect)
    return ClosedForm(independent, effect, needed, math.ceil(needed / each) * groups)


def require_plannable(plan: Plan) -> None:
    """Refuse a plan that cannot be simulated, with all reasons."""
    faults = []
    model = plan.model
    if model is None:
        plannable = ", ".join(kind.name for kind in KINDS.values() if kind.traits.power_model is not None)
        faults.append(f"questions of kind {plan.question.kind} cannot be planned; these can: {plannable}")
    if plan.generators < 2:
        faults.append(f"{plan.generators} generators; at least 2 are needed for a comparison")
    if plan.difference <= 0:
        faults.append(f"a difference of {plan.difference:g}; it must be above 0")
    for name, share in (("rater share", plan.rater_share), ("image share", plan.image_share)):
        if not 0 <= share < 1:
            faults.append(f"{name} {share:g}; it must lie from 0 to below 1")
    fault = None if model is None else model.fault(plan)
    if fault is not None:
        faults.append(fault)
    if faults:
        raise StudyError("plan", faults)


def _power_at(plan: Plan, raters: int, studies: int, rng: np.random.Generator) -> PowerAt:
    """Simulate studies of so many raters (over all generators)."""
    group = raters if _paired(plan) else raters // plan.generators
    if group < 2:
        raise StudyError(
            "plan", [f"{raters} raters for {plan.generators} generators; at least 2 per generator are needed"]
        )
    significant = sum(_model(plan).simulated(plan, group, rng) < plan.alpha / plan.pairs for _ in range(studies))
    low, high = wilson(significant, studies)
    power = Estimate(significant / studies, float(low), float(high), 0.95, "Wilson over simulated studies", raters)
    hours = raters * plan.hours_each
    answers = raters * plan.question.design.trials
    return PowerAt(raters, answers, power, hours, hours * plan.hourly_wage)


def _paired(plan: Plan) -> bool:
    """Say whether the same raters judge both generators."""
    return not (_model(plan).between and plan.question.design.between)


def _model(plan: Plan) -> PowerModel:
    """Return the model of a plan that can be simulated."""
    if plan.model is None:
        require_plannable(plan)
        raise LookupError(f"no power model of {plan.question.kind}")
    return plan.model


def _realism_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    better, worse = (
        _proportions(plan, rate, group, rng) for rate in (plan.baseline, plan.baseline - plan.difference)
    )
    if _paired(plan):
        return _p_of(distributions.ttest_rel(better, worse).pvalue, better, worse)
    return _p_of(distributions.ttest_ind(better, worse).pvalue, better, worse)


def _pair_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    votes = _proportions(plan, 0.5 + plan.difference, group, rng)
    return _p_of(distributions.ttest_1samp(votes, 0.5).pvalue, votes, np.full(group, 0.5))


def _rating_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    """Simulate ratings of both generators by the same raters, who differ in how they like each of the two."""
    rater_sd, image_sd = RATING_SD * math.sqrt(plan.rater_share), RATING_SD * math.sqrt(plan.image_share)
    residual_sd = RATING_SD * math.sqrt(max(1 - plan.rater_share - plan.image_share, 0.0))
    means = []
    for level in (plan.difference, 0.0):
        images = _centred(rng.normal(0, image_sd, plan.images))
        judged = _subsets(plan, group, rng)  # (raters, answers)
        noise = rng.normal(0, residual_sd, judged.shape)
        means.append(level + rng.normal(0, rater_sd, group) + (images[judged] + noise).mean(axis=1))
    return _p_of(distributions.ttest_rel(*means).pvalue, *means)


def _proportions(plan: Plan, rate: float, group: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return each rater's proportion of answers: rates by rater and by image, then Bernoulli draws; (raters,)."""
    rater_rates = _beta(rate, plan.rater_share, group, rng)[:, None]
    image_effects = _centred(_beta(rate, plan.image_share, plan.images, rng))
    chance = np.clip(rater_rates + image_effects[_subsets(plan, group, rng)], 0, 1)  # (raters, answers)
    return np.asarray((rng.random(chance.shape) < chance).mean(axis=1), dtype=np.float64)


def _beta(mean: float, share: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw rates about a mean; their variance is the fraction ``share`` of that of a Bernoulli draw."""
    if share == 0:
        return np.full(size, mean)
    strength = 1 / share - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size)


def _subsets(plan: Plan, group: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return which images each rater sees: (raters, answers), a run of a shuffled circle of all images."""
    order = rng.permutation(plan.images)
    start = rng.integers(0, plan.images, group)
    runs = (start[:, None] + np.arange(plan.answers_each)) % plan.images
    return np.asarray(order[runs], dtype=np.int64)


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values - values.mean(), dtype=np.float64)


def _p_of(p: float | NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the p-value; where all raters answered alike, 0 if the two means differ and 1 if not."""
    p_value = float(p)
    if not math.isnan(p_value):
        return p_value
    return 0.0 if float(np.mean(first)) != float(np.mean(second)) else 1.0


def _judged_images(plan: Plan) -> int:
    design = plan.question.design
    judged = design.trials * (1 - design.real_share)
    return round(judged if design.between else judged / plan.generators)


def _fault_of_rates(plan: Plan) -> str | None:
    worse = plan.baseline - plan.difference
    if 0 < worse < plan.baseline < 1:
        return None
    return f"error rates {plan.baseline:g} and {worse:g}; both must lie between 0 and 1"


def _fault_of_preference(plan: Plan) -> str | None:
    if plan.difference < 0.5:
        return None
    return f"a preference of 50 % + {plan.difference:.0%}; it must stay below 100 %"


def _of_all_answers(difference: float) -> str:
    return f"{difference:.1%} of all answers"


POWER_MODELS: dict[str, PowerModel] = {
    "proportions": PowerModel(
        difference=0.05,
        size=_of_all_answers,
        answers_each=_judged_images,
        independent=lambda plan, alpha: proportions_group(
            plan.baseline, plan.baseline - plan.difference, alpha=alpha, power=plan.power
        ),
        simulated=_realism_p,
        fault=_fault_of_rates,
        between=True,
    ),
    "preference": PowerModel(
        difference=0.05,
        size=_of_all_answers,
        answers_each=lambda plan: plan.question.design.trials // plan.pairs,
        independent=lambda plan, alpha: preference_votes(0.5 + plan.difference, alpha=alpha, power=plan.power),
        simulated=_pair_p,
        fault=_fault_of_preference,
    ),
    "means": PowerModel(
        difference=0.2,
        size=lambda difference: f"{difference:g} points",
        answers_each=lambda plan: plan.question.design.trials // plan.generators,
        independent=lambda plan, alpha: means_group(plan.difference, RATING_SD, alpha=alpha, power=plan.power),
        simulated=_rating_p,
        fault=lambda plan: None,  # noqa: ARG005 - any difference can be simulated
    ),
}
"""How power is computed, by the name that a question kind declares."""
