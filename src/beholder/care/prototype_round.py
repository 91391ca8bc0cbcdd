"""Prototype rounds: a few raters try a few items before the study opens, and vote to publish or to revise.

Daemo asks ⌊√raters⌋ raters about ⌊√items⌋ items and stops where fewer than 66 % vote to publish. With few
raters this share is noisy: of four raters of whom each notices a fault with probability .4, a fault gets
through in half of the rounds. Here the votes go on until they decide (Wald's sequential probability ratio test
between a faultless design, where a rater votes *revise* with probability ``false_report``, and a faulty one,
``notice``), with a last vote after which the sign of the evidence decides. The error rates are exact, by
dynamic programming over the votes.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from beholder.errors import StatisticsError

READY = 0.66
"""Proportion of votes to publish below which a design is never published (Daemo)."""

MOST_VOTES = 300
"""Beyond the first raters, after which no rule is looked for."""

Decision = Literal["publish", "revise", "ask more"]


@dataclass(frozen=True, slots=True)
class PrototypeRule:
    """When the votes on a prototype decide."""

    first_raters: int
    """raters who are asked before anything is decided: ⌊√raters⌋"""
    most_raters: int
    """after whose votes the round ends in any case"""
    notice: float = 0.4
    """probability that a rater notices a fault of the design"""
    false_report: float = 0.05
    """probability that a rater votes to revise a design without fault"""
    error_rate: float = 0.05
    """of publishing a faulty design, and of stopping a faultless one"""

    def evidence(self, publish: int, revise: int) -> float:
        """Return the log likelihood ratio of a faulty against a faultless design."""
        return revise * math.log(self.notice / self.false_report) + publish * math.log(
            (1 - self.notice) / (1 - self.false_report)
        )

    def decide(self, publish: int, revise: int) -> Decision:
        """Return what the votes decide so far.

        Example:
            >>> rule = prototype_rule(raters=100)
            >>> [rule.decide(publish, 10 - publish) for publish in (9, 10, 7)]
            ['ask more', 'publish', 'revise']
        """
        votes, bound = publish + revise, math.log((1 - self.error_rate) / self.error_rate)
        if votes < self.first_raters:
            return "ask more"
        evidence = self.evidence(publish, revise)
        last = votes >= self.most_raters
        if evidence >= bound or (last and evidence > 0):
            return "revise"
        if evidence <= -bound or last:
            return "publish" if publish / votes >= READY else "revise"
        return "ask more"


@dataclass(frozen=True, slots=True)
class RuleProperties:
    """How often a rule stops a design, and how many raters it asks; exact."""

    stopped: float
    mean_raters: float


def prototype_size(raters: int, items: int) -> tuple[int, int]:
    """Return how many raters try how many items: ⌊√raters⌋ × ⌊√items⌋, at least one of each.

    Args:
        raters: Of the study.
        items: Trials of a session.

    Returns:
        Raters and items of the prototype round.

    Example:
        >>> prototype_size(100, 30)
        (10, 5)
    """
    if raters < 1 or items < 1:
        raise StatisticsError(f"a prototype round needs raters and items; found {raters} and {items}")
    return math.isqrt(raters), math.isqrt(items)


def prototype_rule(
    raters: int, *, notice: float = 0.4, false_report: float = 0.05, error_rate: float = 0.05
) -> PrototypeRule:
    """Return the rule for a study: the fewest last votes at which both error rates stay below ``error_rate``.

    Beyond 60 votes, numbers of votes are tried in steps of a twentieth.

    Args:
        raters: Of the study; ⌊√raters⌋ of them vote in any case, and others where these do not decide.
        notice: Probability that a rater notices a fault.
        false_report: Probability that a rater reports a fault that is none.
        error_rate: To publish a faulty design at most so often, and to stop a faultless one.

    Returns:
        The rule.

    Example:
        >>> rule = prototype_rule(raters=100)
        >>> rule.first_raters, rule.most_raters
        (10, 14)
    """
    if not 0 < false_report < notice < 1 or not 0 < error_rate < 0.5:
        raise StatisticsError(
            "a prototype rule needs 0 < false_report < notice < 1 and an error rate below .5; found "
            f"{false_report}, {notice} and {error_rate}"
        )
    first = prototype_size(raters, 1)[0]
    for most in _numbers_of_votes(first):
        rule = PrototypeRule(first, most, notice, false_report, error_rate)
        missed = 1 - rule_properties(rule, notice).stopped
        if missed <= error_rate and rule_properties(rule, false_report).stopped <= error_rate:
            return rule
    raise StatisticsError(
        f"no round of up to {first + MOST_VOTES} raters distinguishes {notice} from {false_report}"
    )


@lru_cache(maxsize=4096)
def rule_properties(rule: PrototypeRule, revise_probability: float) -> RuleProperties:
    """Return how often the rule stops a design that a rater votes to revise with this probability.

    Args:
        rule: The rule.
        revise_probability: Of each rater.

    Returns:
        The probability of a stop, and the mean number of raters asked.

    Example:
        >>> rule = prototype_rule(raters=100)
        >>> rule_properties(rule, 0.4).stopped > 0.95, rule_properties(rule, 0.05).stopped < 0.05
        (True, True)
    """
    alive = {0: 1.0}  # number of votes to revise -> probability, while nothing is decided
    stopped = asked = 0.0
    for votes in range(1, rule.most_raters + 1):
        ahead: dict[int, float] = {}
        asked += sum(alive.values())
        for revise, probability in alive.items():
            for more, chance in ((1, revise_probability), (0, 1 - revise_probability)):
                count = revise + more
                decision = rule.decide(votes - count, count)
                if decision == "ask more":
                    ahead[count] = ahead.get(count, 0.0) + probability * chance
                elif decision == "revise":
                    stopped += probability * chance
        alive = ahead
    return RuleProperties(stopped, asked)


def _numbers_of_votes(first: int) -> Iterator[int]:
    most = first
    while most <= first + MOST_VOTES:
        yield most
        most += 1 if most < 60 else max(most // 20, 1)
