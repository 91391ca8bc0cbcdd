"""Planning: how many people it takes to tell two generators apart, by simulating people × images.

A simulated study has two generators that differ by a given amount. People differ from each other, and images from
each other; the answers of a person are alike by the share ``people_share`` of their variance, those to an image by
``image_share``. The differences between images are fixed for a study, so what is to be found is the difference on
these very images. The test is the one that the ratings rest on: t over people, each person one number.
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
from beholder.study.kinds.duration import session_seconds

RATING_SD = 0.9


@dataclass(frozen=True, slots=True)
class Plan:
    """What is planned. ``difference`` is in the unit of the answers: a share, or points of the rating scale."""

    question: AnyQuestion
    difference: float
    generators: int = 2
    images: int = 100
    """images a generator"""
    people_share: float = 0.05
    image_share: float = 0.05
    baseline: float = 0.5
    """error rate of the better of two generators; of no account for pairs and ratings"""
    alpha: float = 0.05
    power: float = 0.8
    hourly_wage: float = 12.0

    @property
    def pairs(self) -> int:
        """Pairs of generators, over which the error rate is shared (Bonferroni)."""
        return self.generators * (self.generators - 1) // 2

    @property
    def model(self) -> "PowerModel | None":
        """How a study of the kind is simulated; nothing where it cannot be."""
        name = kind_of(self.question).traits.power_model
        return None if name is None else POWER_MODELS[name]

    @property
    def answers_each(self) -> int:
        """Answers that a person gives to the comparison of two generators (for ratings: about each of them)."""
        return max(_model(self).answers_each(self), 1)

    @property
    def hours_each(self) -> float:
        """Hours that a person spends."""
        return session_seconds(self.question) / 3600


@dataclass(frozen=True, slots=True)
class PowerModel:
    """What is particular to a kind of answers: proportions, preferences or means."""

    difference: float
    """what is to be found where nothing is said"""
    size: Callable[[float], str]
    """a difference in words"""
    answers_each: Callable[[Plan], int]
    independent: Callable[[Plan, float], int]
    """the textbook sample size at an α, if all answers were independent"""
    simulated: Callable[[Plan, int, np.random.Generator], float]
    """the p-value of one simulated study of so many people in a group"""
    fault: Callable[[Plan], str | None]
    """why the plan cannot be simulated"""
    between: bool = False
    """whether each person may judge a single generator"""


@dataclass(frozen=True, slots=True)
class PowerAt:
    """The power of so many people, and what they cost."""

    people: int
    answers: int
    power: Estimate
    hours: float
    cost: float


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """The textbook sample size: answers if all were independent, and what the people's likeness makes of it."""

    independent_answers: int
    design_effect: float
    answers: int
    people: int


def power_curve(plan: Plan, people: Sequence[int], *, studies: int, rng: np.random.Generator) -> list[PowerAt]:
    """Power at each number of people: the share of simulated studies that tell the two generators apart."""
    require_plannable(plan)
    return [_power_at(plan, number, studies, rng) for number in people]


def closed_form(plan: Plan) -> ClosedForm:
    """Sample size by formula, all generators together; the design effect is 1 + (m − 1)·people_share."""
    require_plannable(plan)
    each, groups = plan.answers_each, 1 if _paired(plan) else plan.generators
    alone = _model(plan).independent(plan, plan.alpha / plan.pairs)
    effect = design_effect(each, plan.people_share)
    needed = math.ceil(alone * effect)
    return ClosedForm(alone, effect, needed, math.ceil(needed / each) * groups)


def require_plannable(plan: Plan) -> None:
    """Refuse a plan that cannot be simulated, with all reasons."""
    faults = []
    model = plan.model
    if model is None:
        plannable = ", ".join(kind.name for kind in KINDS.values() if kind.traits.power_model is not None)
        faults.append(f"questions of kind {plan.question.kind} cannot be planned; these can: {plannable}")
    if plan.generators < 2:
        faults.append(f"{plan.generators} generators; at least 2 are needed to be told apart")
    if plan.difference <= 0:
        faults.append(f"a difference of {plan.difference:g}; it must be above 0")
    for name, share in (("people share", plan.people_share), ("image share", plan.image_share)):
        if not 0 <= share < 1:
            faults.append(f"{name} {share:g}; it must lie from 0 to below 1")
    fault = None if model is None else model.fault(plan)
    if fault is not None:
        faults.append(fault)
    if faults:
        raise StudyError("plan", faults)


def _power_at(plan: Plan, people: int, studies: int, rng: np.random.Generator) -> PowerAt:
    """Simulate studies of so many people (over all generators)."""
    group = people if _paired(plan) else people // plan.generators
    if group < 2:
        raise StudyError(
            "plan", [f"{people} people for {plan.generators} generators; at least 2 a generator are needed"]
        )
    found = sum(_model(plan).simulated(plan, group, rng) < plan.alpha / plan.pairs for _ in range(studies))
    low, high = wilson(found, studies)
    power = Estimate(found / studies, float(low), float(high), 0.95, "Wilson over simulated studies", people)
    hours = people * plan.hours_each
    answers = people * plan.question.design.trials
    return PowerAt(people, answers, power, hours, hours * plan.hourly_wage)


def _paired(plan: Plan) -> bool:
    """Whether the same people judge both generators."""
    return not (_model(plan).between and plan.question.design.between)


def _model(plan: Plan) -> PowerModel:
    """The model of a plan that can be simulated."""
    if plan.model is None:
        require_plannable(plan)
        raise LookupError(f"no power model of {plan.question.kind}")
    return plan.model


def _realism_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    worse = plan.baseline - plan.difference
    one, other = (_shares(plan, rate, group, rng) for rate in (plan.baseline, worse))
    if _paired(plan):
        return _p_of(distributions.ttest_rel(one, other).pvalue, one, other)
    return _p_of(distributions.ttest_ind(one, other).pvalue, one, other)


def _pair_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    votes = _shares(plan, 0.5 + plan.difference, group, rng)
    return _p_of(distributions.ttest_1samp(votes, 0.5).pvalue, votes, np.full(group, 0.5))


def _rating_p(plan: Plan, group: int, rng: np.random.Generator) -> float:
    """Ratings of both generators by the same people, who differ in how they take to each of the two."""
    own, picture = RATING_SD * math.sqrt(plan.people_share), RATING_SD * math.sqrt(plan.image_share)
    rest = RATING_SD * math.sqrt(max(1 - plan.people_share - plan.image_share, 0.0))
    means = []
    for level in (plan.difference, 0.0):
        images = _centred(rng.normal(0, picture, plan.images))
        seen = _subsets(plan, group, rng)  # (people, answers)
        noise = rng.normal(0, rest, seen.shape)
        means.append(level + rng.normal(0, own, group) + (images[seen] + noise).mean(axis=1))
    return _p_of(distributions.ttest_rel(*means).pvalue, *means)


def _shares(plan: Plan, rate: float, group: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Each person's share of answers: rates by person and by image, then coins; (people,)."""
    people = _beta(rate, plan.people_share, group, rng)[:, None]
    images = _centred(_beta(rate, plan.image_share, plan.images, rng))
    chance = np.clip(people + images[_subsets(plan, group, rng)], 0, 1)  # (people, answers)
    return np.asarray((rng.random(chance.shape) < chance).mean(axis=1), dtype=np.float64)


def _beta(mean: float, share: float, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rates about a mean whose variance is ``share`` of that of a coin with this mean."""
    if share == 0:
        return np.full(size, mean)
    strength = 1 / share - 1
    return rng.beta(mean * strength, (1 - mean) * strength, size)


def _subsets(plan: Plan, group: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which images each person sees: (people, answers), a run of a shuffled circle of all images."""
    order = rng.permutation(plan.images)
    start = rng.integers(0, plan.images, group)
    runs = (start[:, None] + np.arange(plan.answers_each)) % plan.images
    return np.asarray(order[runs], dtype=np.int64)


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(values - values.mean(), dtype=np.float64)


def _p_of(p: float | NDArray[np.float64], one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The p-value; where all people answered alike, 0 if the two differ and 1 if not."""
    known = float(p)
    if not math.isnan(known):
        return known
    return 0.0 if float(np.mean(one)) != float(np.mean(other)) else 1.0


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
