"""Whose votes look like a habit, and which pairs they are probed with, from the votes so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.arena.suspicion import Suspicion, averaged, probe_pairs, suspect_voters
from beholder.arena.voter_flags import estimate_taste
from beholder.collect.arena.board import VoteTable, flag_single_voters
from beholder.collect.arena.catalogue import ArenaImages
from beholder.stats.comparisons.active_pairs import Posterior, laplace_posterior

LEAST_VOTERS = 40
"""Voters below which habits are not looked for."""

MOST_IMAGES = 1200
"""Images up to which each has a rating of its own; beyond, habits are not looked for."""

SPREAD = 1.2
"""Standard deviation of the ratings of images before any vote, in natural-log odds."""

COIN = "at random"

PairOfPrompt = tuple[str, str, str]
"""Two entries and a prompt."""


@dataclass(frozen=True, eq=False)
class Suspects:
    """What is thought of the voters so far."""

    voters: tuple[str, ...]
    entries: tuple[str, ...]
    suspicion: Suspicion
    probes: Mapping[str, Sequence[PairOfPrompt]]
    """Voter who is suspect -> pairs that would tell."""

    def reasons(self) -> dict[str, str]:
        """Why each voter is flagged who is: the likeliest habit."""
        share = np.log(np.maximum(self.suspicion.shares, 1e-6))
        logs = share + np.column_stack([self.suspicion.ring, self.suspicion.coin])
        names = (*(f"favours {entry}" for entry in self.entries), COIN)
        return {
            self.voters[int(number)]: names[int(logs[number].argmax())]
            for number in np.flatnonzero(self.suspicion.flagged)
        }


def flagged_voters(table: VoteTable) -> dict[str, list[str]]:
    """Return the reasons of every voter who stands out: by themselves, or by a habit."""
    reasons = flag_single_voters(table)
    suspects = find_suspects(table, None)
    for voter, habit in ({} if suspects is None else suspects.reasons()).items():
        reasons.setdefault(voter, []).append(habit)
    return reasons


def find_suspects(table: VoteTable, images: ArenaImages | None) -> Suspects | None:
    """Weigh all votes; none where there are too few voters or too many images. Without images nobody is probed."""
    if len(table.voters) < LEAST_VOTERS or len(table.images) > MOST_IMAGES:
        return None
    identical = table.is_check & (table.first == table.second)
    on_pairs = ~identical
    posterior = laplace_posterior(
        table.first_image[on_pairs], table.second_image[on_pairs], table.wins[on_pairs], len(table.images), SPREAD
    )
    gap, variance = _gaps(posterior, table.first_image[on_pairs], table.second_image[on_pairs])
    who, first, second, wins = (c[on_pairs] for c in (table.voter, table.first, table.second, table.wins))
    decided = wins != 0.5
    taste = estimate_taste(
        who[decided],
        first[decided],
        second[decided],
        averaged(gap[decided], variance[decided]),
        wins[decided],
        len(table.entries),
    )
    suspicion = suspect_voters(
        who, first, second, wins, gap, variance, voters=len(table.voters), entries=len(table.entries), taste=taste,
        identical=(table.voter[identical], table.wins[identical] != 0.5),
    )  # fmt: skip
    probes = {} if images is None else _probes(table, images, suspicion, posterior, taste)
    return Suspects(table.voters, table.entries, suspicion, probes)


def _probes(
    table: VoteTable, images: ArenaImages, suspicion: Suspicion, posterior: Posterior, taste: float
) -> dict[str, Sequence[PairOfPrompt]]:
    """The pairs of every suspect; those of one habit are the same for all."""
    candidates, first, second, left, right = _candidates(table, images)
    if not candidates:
        return {}
    gap, variance = _gaps(posterior, left, right)
    by_habit: dict[int, list[PairOfPrompt]] = {}
    chosen: dict[str, Sequence[PairOfPrompt]] = {}
    for voter, habit in zip(table.voters, suspicion.habits().tolist(), strict=True):
        if habit < -1:
            continue
        if habit not in by_habit:
            places = probe_pairs(habit, first, second, gap, variance + 2 * taste**2)
            by_habit[habit] = [candidates[int(place)] for place in places]
        if by_habit[habit]:
            chosen[voter] = by_habit[habit]
    return chosen


def _candidates(
    table: VoteTable, images: ArenaImages
) -> tuple[list[PairOfPrompt], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of one prompt whose images were voted on, with the numbers of their entries and images."""
    entry = {name: number for number, name in enumerate(table.entries)}
    image = {name: number for number, name in enumerate(table.images)}
    names, rows = list[PairOfPrompt](), list[tuple[int, int, int, int]]()
    for prompt, by_entry in images.by_prompt.items():
        voted = [(name, image[file]) for name, file in by_entry.items() if file in image and name in entry]
        for place, (first, left) in enumerate(voted):
            for second, right in voted[place + 1 :]:
                names.append((first, second, prompt))
                rows.append((entry[first], entry[second], left, right))
    columns = np.array(rows, np.int64).reshape(-1, 4).T
    return names, columns[0], columns[1], columns[2], columns[3]


def _gaps(
    posterior: Posterior, left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log odds for the left image, and their variance."""
    cover = posterior.covariance
    return posterior.mean[left] - posterior.mean[right], (
        cover[left, left] + cover[right, right] - 2 * cover[left, right]
    )
