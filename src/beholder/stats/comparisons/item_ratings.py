"""Ratings of items from comparisons, with what their intervals need: shared by all models of comparisons."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.bootstrap import effective_people, method_name
from beholder.stats.intervals.bootstrap_intervals import Rule, bca_interval, percentile_interval

SANDWICH, MODEL = "sandwich over people", "model"  # kinds of covariance


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemRatings:
    """Fitted ratings around 0; the model says what a difference of 1 means."""

    ratings: NDArray[np.float64]  # (items,) θ, summing to 0
    rating_draws: NDArray[np.float64]  # (draws, items)
    covariance: NDArray[np.float64]  # (items, items) of the ratings
    covariance_kind: str  # "sandwich over people", or "model" where only totals were given
    influence: NDArray[np.float64]  # (people, items) how far each person's votes move each rating
    answers_by_person: NDArray[np.float64]  # (people, items) votes in which the item took part
    answers: NDArray[np.int64]  # (items,) votes in which the item took part
    log_likelihood: float
    prior_used: bool  # whether the point estimate needed pseudo-votes
    prior_share: float  # share of the draws that needed them; 0 with no draws
    tie_rule: str

    @property
    def people(self) -> NDArray[np.int64]:
        """How many people judged each item (items,); 0 where only totals were given."""
        return np.asarray(np.count_nonzero(self.answers_by_person, axis=0), np.int64)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors of the ratings (items,) from ``covariance``: a check on the bootstrap."""
        return np.sqrt(np.diag(self.covariance))

    def estimates(self, *, level: float = 0.95, rule: Rule = "bca", expand: bool = True) -> Estimates:
        """Return the ratings with their bootstrap intervals."""
        if len(self.rating_draws) == 0:
            raise StatisticsError("intervals of ratings need bootstrap draws; this fit was made without weights")
        if rule == "bca":
            effective = effective_people(self.answers_by_person)
            low, high = bca_interval(
                self.ratings,
                self.rating_draws,
                self.influence,
                self.people,
                effective=effective,
                level=level,
                expand=expand,
            )
        else:
            low, high = percentile_interval(self.rating_draws, self.people, level=level, expand=expand)
        return Estimates(
            value=self.ratings,
            low=low,
            high=high,
            level=level,
            method=method_name(rule, expand=expand),
            raters=self.people,
            answers=self.answers,
            draws=len(self.rating_draws),
        )


def sandwich(pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n/(n−1) Σ l lᵀ over the influence l of n people (people, params); nan for one person."""
    people = len(pull)
    if people < 2:
        return np.full((pull.shape[1],) * 2, np.nan)
    return np.asarray(people / (people - 1) * pull.T @ pull, np.float64)
