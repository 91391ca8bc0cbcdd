"""Ratings of items from comparisons with their confidence intervals, shared by all models of comparisons."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import StatisticsError
from beholder.stats.estimate import Estimates
from beholder.stats.intervals.bootstrap import effective_raters, method_name
from beholder.stats.intervals.bootstrap_intervals import Rule, bca_interval, percentile_interval
from beholder.stats.intervals.clustered_t import RaterInfluence
from beholder.stats.intervals.likelihood_lines import LikelihoodLines

SANDWICH, MODEL = "sandwich over raters", "model"  # kinds of covariance

MOST_ITEMS = 40
"""With more items, pairs are so many that tests and intervals are the plain ones, estimate ± t standard errors."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemRatings:
    """Fitted ratings around 0; the model says what a difference of 1 means."""

    ratings: NDArray[np.float64]  # (items,) θ, summing to 0
    rating_replicates: NDArray[np.float64]  # (replicates, items)
    covariance: NDArray[np.float64]  # (items, items) of the ratings
    covariance_kind: str  # "sandwich over raters", or "model" where only totals were given
    model_covariance: NDArray[np.float64]  # (items, items) as if all votes were independent
    influence: NDArray[np.float64]  # (raters, items) how far each rater's votes move each rating
    answers_by_rater: NDArray[np.float64]  # (raters, items) votes in which the item took part
    answers: NDArray[np.int64]  # (items,) votes in which the item took part
    log_likelihood: float
    prior_used: bool  # whether the point estimate needed pseudo-votes
    prior_share: float  # proportion of the replicates that needed them; 0 with no replicates
    tie_rule: str
    likelihood: LikelihoodLines | None = None
    """Of all votes, pseudo-votes included; None with more items than :data:`MOST_ITEMS`, and for probit models."""

    @property
    def rater_counts(self) -> NDArray[np.int64]:
        """How many raters judged each item (items,); 0 where only totals were given."""
        return np.asarray(np.count_nonzero(self.answers_by_rater, axis=0), np.int64)

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Standard errors of the ratings (items,) from ``covariance``: a check on the bootstrap."""
        return np.sqrt(np.diag(self.covariance))

    def rater_influence(self) -> RaterInfluence:
        """Return the ratings with each rater's influence on them, for t intervals and tests over raters.

        Where pseudo-votes keep the ratings finite, raters hardly vary (all of them agree), though the ratings are
        uncertain: no variance is then below the one that takes votes, pseudo-votes included, as independent.

        Returns:
            What :func:`beholder.stats.significance.separation.separate` needs.
        """
        if len(self.influence) == 0:
            raise StatisticsError("the influence of raters needs their votes; this fit was made from totals")
        return RaterInfluence(
            self.ratings,
            self.influence,
            self.answers_by_rater,
            floor=self.model_covariance,
            floor_when_still=not self.prior_used,
            likelihood=self.likelihood,
        )

    def estimates(self, *, level: float = 0.95, rule: Rule = "bca", expand: bool = True) -> Estimates:
        """Return the ratings with their bootstrap confidence intervals."""
        if len(self.rating_replicates) == 0:
            raise StatisticsError(
                "intervals of ratings need bootstrap replicates; this fit was made without weights"
            )
        if rule == "bca":
            effective = effective_raters(self.answers_by_rater)
            low, high = bca_interval(
                self.ratings,
                self.rating_replicates,
                self.influence,
                self.rater_counts,
                effective=effective,
                level=level,
                expand=expand,
            )
        else:
            low, high = percentile_interval(self.rating_replicates, self.rater_counts, level=level, expand=expand)
        return Estimates(
            value=self.ratings,
            low=low,
            high=high,
            level=level,
            method=method_name(rule, expand=expand),
            raters=self.rater_counts,
            answers=self.answers,
            replicates=len(self.rating_replicates),
        )


def sandwich(pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return n/(n−1) Σ l lᵀ over the influence l of n raters (raters, params); nan for one rater."""
    rater_counts = len(pull)
    if rater_counts < 2:
        return np.full((pull.shape[1],) * 2, np.nan)
    return np.asarray(rater_counts / (rater_counts - 1) * pull.T @ pull, np.float64)
