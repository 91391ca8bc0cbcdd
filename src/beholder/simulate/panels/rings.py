"""Contributors who give each other points for true contributions, and some who form a ring."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from beholder.care.credit import share_credit

RingKind = Literal["clique", "cycle", "half"]
"""All members give to each other; each gives to the next alone; half as in a clique, half honestly."""


@dataclass(frozen=True, slots=True)
class RingOutcome:
    """Credit of the ring relative to what its members get when they give honestly."""

    plain: float
    protected: float
    correlation: float
    """of the protected credit with the true contributions, where nobody cheats"""
    flagged_honest: float
    """proportion of contributors flagged where nobody cheats"""


def simulate_ring(
    contributors: int,
    ring: int,
    kind: RingKind,
    rng: np.random.Generator,
    *,
    acquainted: float = 1.0,
    noise: float = 0.4,
) -> RingOutcome:
    """Simulate one round of points, honest and with a ring.

    Args:
        contributors: All of them.
        ring: How many form a ring.
        kind: How they exchange points.
        rng: For contributions and noise.
        acquainted: Probability that one contributor can judge another.
        noise: Standard deviation of the log points about the true contribution.

    Returns:
        The credit of the ring by PageRank, without and with protection.

    Example:
        >>> outcome = simulate_ring(20, 4, "clique", np.random.default_rng(0))
        >>> outcome.plain > 2, outcome.protected < 1.15
        (True, True)
    """
    names = [f"contributor-{number}" for number in range(contributors)]
    contribution = np.exp(rng.normal(0, 0.6, contributors))
    honest = contribution * np.exp(rng.normal(0, noise, (contributors, contributors)))
    honest = honest * (rng.random(honest.shape) < acquainted)
    np.fill_diagonal(honest, 0.0)
    honest = 100 * honest / np.maximum(honest.sum(axis=1, keepdims=True), 1e-9)
    inside = np.zeros((ring, contributors))
    for member in range(ring):
        friends = [(member + 1) % ring] if kind == "cycle" else [m for m in range(ring) if m != member]
        inside[member, friends] = 100 / len(friends)
    points = honest.copy()
    points[:ring] = (inside + honest[:ring]) / 2 if kind == "half" else inside
    clean, cheated = share_credit(names, honest), share_credit(names, points)
    fair = float(clean.plain[:ring].sum())
    return RingOutcome(
        plain=float(cheated.plain[:ring].sum()) / fair,
        protected=float(cheated.proportion[:ring].sum()) / fair,
        correlation=float(np.corrcoef(clean.proportion, contribution)[0, 1]),
        flagged_honest=float(clean.flagged.mean()),
    )
