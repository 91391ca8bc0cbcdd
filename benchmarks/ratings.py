"""Bradley–Terry ratings with bootstrap replicates, compared with evalica."""

from collections.abc import Iterator

import evalica
import numpy as np
from harness import Comparison

from beholder.stats.comparisons.bradley_terry import bradley_terry
from beholder.stats.comparisons.vote_table import tally_votes
from beholder.stats.intervals.bootstrap import rater_weights

VOTES, ITEMS, RATERS, DRAWS = 100_000, 30, 500, 1000


def comparisons() -> Iterator[Comparison]:
    """Return the rows: raters' votes on pairs of items, without ties, so that both fit the same model."""
    rng = np.random.default_rng(1)
    strength = rng.normal(0, 0.5, ITEMS)
    first = rng.integers(0, ITEMS, VOTES)
    second = (first + rng.integers(1, ITEMS, VOTES)) % ITEMS
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    lost = (rng.random(VOTES) > chance).astype(np.int64)  # 0: the first won
    raters = rng.integers(0, RATERS, VOTES)
    winners = [evalica.Winner.Y if loss else evalica.Winner.X for loss in lost]
    named = np.array(winners, dtype=object)
    pairs, counts = tally_votes(raters, first, second, lost)
    weights = rater_weights(np.zeros(RATERS, dtype=np.int64), DRAWS, rng)
    groups = [np.flatnonzero(raters == rater) for rater in range(RATERS)]

    def looped() -> None:
        """Run evalica's point fit on resampled raters, once per replicate."""
        for draw in weights:
            rows = np.concatenate([np.repeat(groups[p], times) for p, times in enumerate(draw) if times])
            evalica.bradley_terry(first[rows], second[rows], named[rows].tolist())

    def ours() -> object:
        return bradley_terry(pairs, counts, items=ITEMS, weights=weights)

    def point() -> object:
        everyone = np.zeros(VOTES, dtype=np.int64)
        order, votes = tally_votes(everyone, first, second, lost)
        return bradley_terry(order, votes, items=ITEMS)

    size = f"{VOTES:,} votes, {ITEMS} items"
    yield Comparison(
        f"Bradley–Terry, point estimate from long votes; {size}",
        point,
        lambda: evalica.bradley_terry(first, second, winners),
        "evalica",
    )
    yield Comparison(
        f"Bradley–Terry, {DRAWS:,} draws over raters against a loop over its point fit; {size}",
        ours,
        looped,
        "evalica",
        turns=1,  # a minute each
    )
    yield Comparison(
        f"Bradley–Terry, {DRAWS:,} draws over raters against its own bootstrap, over votes; {size}",
        ours,
        lambda: evalica.bootstrap(
            evalica.bradley_terry,
            first,
            second,
            winners,
            n_resamples=DRAWS,
            bootstrap_method="percentile",
            random_state=1,
        ),
        "evalica",
        turns=1,
    )
